"""Digests: matches grouped per subscription and schedule, with Spark's own operators.

Each match gets an *effective time*: its event's time, but neither before the batch's moment less
``lateness`` nor after that moment. So a late match is never dropped, it goes into the digest that comes next;
and an event from the future does not hurry time along. A heartbeat of a row a second lets time go on when no
events come. Duplicates are dropped, the rest is counted per subscription and tick, and every tick that is
complete goes to the store, which knows the schedules and makes one row of the outbox of each period that
has ended.

The watermark stays twice ``lateness`` behind, so the machine's clock may step back by ``lateness``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from tamis.contract.schedule import UNITS, Every, parse_schedule
from tamis.errors import InputError, ScheduleError
from tamis.store import Store
from tamis.store.digest_plan import Clock, Part
from tamis.store.digests import DigestBatch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MOST_EVENTS = 10_000
_TYPES = {"event_id": "string", "subscription_id": "string", "version": "long"}
_TYPES |= {"event_time": "timestamp", "payload": "string"}
_KEY = ["event_id", "subscription_id", "version"]
_PAUSE = 10  # seconds between batches, if ticks are not shorter
_MICROS = 1_000_000
_SHUFFLE = "spark.sql.shuffle.partitions"


def digest(
    matches: DataFrame,
    *,
    store: str | Store,
    checkpoint: str,
    name: str,
    tick: str = "1 minute",
    lateness: str = "30 seconds",
    trigger: dict[str, Any] | None = None,
    most_events: int = 100,
    at_once: bool = True,
    partitions: int = 8,
) -> StreamingQuery:
    """Start a query that turns a stream of matches into digests in the store's outbox.

    ``matches`` has event_id, subscription_id, version and, if known, event_time and payload. A digest lists
    its first ``most_events`` events and counts them all. Subscriptions that want to be told at once get a
    digest each tick, or none with ``at_once=False``: for where their matches are in the outbox already.
    ``partitions`` is how many tasks keep the state, from the first start of a checkpoint on.
    """
    seconds, late = _seconds(tick, "tick"), _seconds(lateness, "lateness")
    for option, number, most in (
        ("most_events", most_events, MOST_EVENTS),
        ("partitions", partitions, 10_000),
    ):
        if not 1 <= number <= most:
            raise InputError(f"{option} is a number from 1 to {most:,}, not {number!r}")
    url = (Store.shared(store) if isinstance(store, str) else store).url
    ticks = complete_ticks(_columns(matches), seconds, late, most_events)
    writer = ticks.writeStream.queryName(name).option("checkpointLocation", checkpoint).outputMode("append")
    pause = {"processingTime": f"{min(seconds, _PAUSE)} seconds"}
    into = _into_store(url, name, seconds * _MICROS, most_events, at_once)
    with _shuffled_into(matches.sparkSession, partitions):
        return writer.trigger(**(trigger or pause)).foreachBatch(into).start()


@contextlib.contextmanager
def _shuffled_into(spark: SparkSession, partitions: int) -> Iterator[None]:
    """Each task writes files of state in every batch: Spark's default of 200 tasks takes ten seconds."""
    kept = str(spark.conf.get(_SHUFFLE))
    spark.conf.set(_SHUFFLE, str(partitions))
    try:
        yield  # a query copies the session's settings when it starts
    finally:
        spark.conf.set(_SHUFFLE, kept)


def complete_ticks(matches: DataFrame, tick: int, late: int, most_events: int) -> DataFrame:
    """Count and first events of every subscription in every tick, once the tick is complete.

    Rows without a subscription are the heartbeat's: all ticks up to theirs are complete.
    """
    moment = F.current_timestamp()  # that of the batch, also when it is replayed
    oldest = moment - F.expr(f"INTERVAL {late} SECONDS")
    timed = matches.withColumn("at", F.least(F.greatest(F.coalesce("event_time", moment), oldest), moment))
    alive = timed.unionByName(_heartbeat(matches.sparkSession, tick))
    once = alive.withWatermark("at", f"{2 * late} seconds").dropDuplicatesWithinWatermark(_KEY)
    event = F.struct("event_time", "event_id", "payload")
    first = F.min_by(event, F.struct("event_time", "event_id"), most_events)
    counted = once.groupBy(F.window("at", f"{tick} seconds").alias("tick"), "subscription_id", "version").agg(
        F.count("*").alias("matches"), first.alias("events")
    )
    return counted.select(
        "subscription_id",
        "version",
        F.unix_micros(F.col("tick.start")).alias("start"),
        F.unix_micros(F.col("tick.end")).alias("end"),
        "matches",
        F.to_json("events", {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSX"}).alias("events"),
        F.unix_micros(F.current_timestamp()).alias("batch_time"),
    )


def _heartbeat(spark: SparkSession, tick: int) -> DataFrame:
    """Return a row for each tick, in the columns of a match."""
    source = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1).load()
    beat = F.floor(F.unix_seconds(F.current_timestamp()) / tick).cast("string")
    return source.select(
        beat.alias("event_id"),
        F.lit(None).cast("string").alias("subscription_id"),
        F.lit(0).cast("long").alias("version"),
        F.lit(None).cast("timestamp").alias("event_time"),
        F.lit(None).cast("string").alias("payload"),
        F.current_timestamp().alias("at"),
    )


def _into_store(url: str, name: str, tick: int, most_events: int, at_once: bool) -> Any:
    def take(frame: DataFrame, batch_id: int) -> None:
        rows = frame.toArrow()
        beats = [row["end"] for row in rows.to_pylist() if row["subscription_id"] is None]
        if rows.num_rows:
            clock = Clock(max(beats, default=0), tick)
            run = DigestBatch(
                name, batch_id, rows.column("batch_time")[0].as_py(), clock, most_events, at_once
            )
            Store.shared(url).add_digests(run, _parts(rows))

    return take


def _parts(rows: pa.Table) -> list[Part]:
    return [
        Part(*(row[field] for field in Part._fields[:6]))
        for row in rows.to_pylist()
        if row["subscription_id"] is not None
    ]


def _columns(matches: DataFrame) -> DataFrame:
    """Return the columns of a match, whatever else there is."""
    if not matches.isStreaming:
        raise InputError("digest takes a streaming DataFrame; read the matches with spark.readStream")
    missing = [name for name in _KEY if name not in matches.columns]
    if missing:
        there = ", ".join(matches.columns)
        raise InputError(f"the matches lack {', '.join(missing)}; the columns are {there}")
    chosen = [
        (F.col(name) if name in matches.columns else F.lit(None)).cast(kind).alias(name)
        for name, kind in _TYPES.items()
    ]
    wanted = F.col("subscription_id").isNotNull()
    if "kind" in matches.columns:  # an outbox that is followed has digests in it, too
        wanted &= F.col("kind") == "match"
    return matches.where(wanted).select(*chosen)


def _seconds(text: str, option: str) -> int:
    try:
        every = parse_schedule(f"every {text}")
    except ScheduleError:
        every = None
    if not isinstance(every, Every):
        raise InputError(f"{option} is a time such as '30 seconds' or '1 minute', not {text!r}")
    return every.amount * UNITS[every.unit]
