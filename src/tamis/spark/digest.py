"""Groups matches into digests per subscription and schedule, with Spark's own operators.

Each match gets an *effective time*: its event's time, limited to the interval from the batch's time less
``lateness`` to the batch's time. So a late match is never dropped: it goes into the next digest. An event
from the future does not advance time. A heartbeat of a row per second advances time when no events come.
Duplicates are dropped, the rest is counted per subscription and tick, and every complete tick goes to the
store. The store knows the schedules and writes one outbox row for each period that has ended.

The watermark stays twice ``lateness`` behind, so the machine's clock may step back by ``lateness``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from tamis.contract.schedule import UNITS, Every, parse_schedule
from tamis.errors import InputError, ScheduleError
from tamis.spark.schema import (
    BATCH_TIME,
    END,
    ENVELOPE,
    EVENT_ID,
    EVENT_TIME,
    EVENTS,
    KIND,
    MATCHES,
    PAIRS,
    PAYLOAD,
    START,
    SUBSCRIPTION_ID,
    TO_DIGEST,
    VERSION,
)
from tamis.store import Store
from tamis.store.digest_plan import Clock, Part
from tamis.store.digests import DigestBatch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MOST_EVENTS = 10_000
_PAUSE = 10  # seconds between batches, unless ticks are shorter
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
    its first ``most_events`` events and counts them all. Subscriptions with the schedule "at once" get a
    digest each tick, or none with ``at_once=False``, for matches that are in the outbox already.
    ``partitions`` is the number of tasks that keep the state, fixed at the first start of a checkpoint.
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
    """Limit shuffle partitions: each writes state files in every batch, and 200 of them take ten seconds."""
    kept = str(spark.conf.get(_SHUFFLE))
    spark.conf.set(_SHUFFLE, str(partitions))
    try:
        yield  # a query copies the session's settings when it starts
    finally:
        spark.conf.set(_SHUFFLE, kept)


def complete_ticks(matches: DataFrame, tick: int, late: int, most_events: int) -> DataFrame:
    """Return the count and first events of every subscription in every complete tick.

    Rows without a subscription come from the heartbeat: all ticks up to theirs are complete.
    """
    moment = F.current_timestamp()  # the time of the batch, also in a replay
    oldest = moment - F.expr(f"INTERVAL {late} SECONDS")
    timed = matches.withColumn("at", F.least(F.greatest(F.coalesce(EVENT_TIME, moment), oldest), moment))
    alive = timed.unionByName(_heartbeat(matches.sparkSession, tick))
    once = alive.withWatermark("at", f"{2 * late} seconds").dropDuplicatesWithinWatermark(list(PAIRS))
    event = F.struct(EVENT_TIME, EVENT_ID, PAYLOAD)
    first = F.min_by(event, F.struct(EVENT_TIME, EVENT_ID), most_events)
    by_tick = once.groupBy(F.window("at", f"{tick} seconds").alias("tick"), SUBSCRIPTION_ID, VERSION)
    counted = by_tick.agg(F.count("*").alias(MATCHES), first.alias(EVENTS))
    return counted.select(
        SUBSCRIPTION_ID,
        VERSION,
        F.unix_micros(F.col("tick.start")).alias(START),
        F.unix_micros(F.col("tick.end")).alias(END),
        MATCHES,
        F.to_json(EVENTS, {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSX"}).alias(EVENTS),
        F.unix_micros(F.current_timestamp()).alias(BATCH_TIME),
    )


def _heartbeat(spark: SparkSession, tick: int) -> DataFrame:
    """Return a row for each tick, in the columns of a match."""
    source = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1).load()
    beat = F.floor(F.unix_seconds(F.current_timestamp()) / tick).cast("string")
    return source.select(
        beat.alias(EVENT_ID),
        F.lit(None).cast(SUBSCRIPTION_ID.spark).alias(SUBSCRIPTION_ID),
        F.lit(0).cast(VERSION.spark).alias(VERSION),
        *(F.lit(None).cast(field.spark).alias(field) for field in ENVELOPE),
        F.current_timestamp().alias("at"),
    )


def _into_store(url: str, name: str, tick: int, most_events: int, at_once: bool) -> Any:
    def take(frame: DataFrame, batch_id: int) -> None:
        rows = frame.toArrow()
        beats = [row[END] for row in rows.to_pylist() if row[SUBSCRIPTION_ID] is None]
        if rows.num_rows:
            clock = Clock(max(beats, default=0), tick)
            run = DigestBatch(name, batch_id, rows.column(BATCH_TIME)[0].as_py(), clock, most_events, at_once)
            Store.shared(url).add_digests(run, _parts(rows))

    return take


def _parts(rows: pa.Table) -> list[Part]:
    return [
        Part(*(row[field] for field in Part._fields[:6]))
        for row in rows.to_pylist()
        if row[SUBSCRIPTION_ID] is not None
    ]


def _columns(matches: DataFrame) -> DataFrame:
    """Return the columns of a match; others are ignored."""
    if not matches.isStreaming:
        raise InputError("digest takes a streaming DataFrame; read the matches with spark.readStream")
    missing = [name for name in PAIRS if name not in matches.columns]
    if missing:
        there = ", ".join(matches.columns)
        raise InputError(f"the matches lack {', '.join(missing)}; the columns are {there}")
    chosen = [
        (F.col(field) if field in matches.columns else F.lit(None)).cast(field.spark).alias(field)
        for field in TO_DIGEST
    ]
    wanted = F.col(SUBSCRIPTION_ID).isNotNull()
    if KIND in matches.columns:  # an outbox that is followed also contains digests
        wanted &= F.col(KIND) == "match"
    return matches.where(wanted).select(*chosen)


def _seconds(text: str, option: str) -> int:
    try:
        every = parse_schedule(f"every {text}")
    except ScheduleError:
        every = None
    if not isinstance(every, Every):
        raise InputError(f"{option} is a time such as '30 seconds' or '1 minute', not {text!r}")
    return every.amount * UNITS[every.unit]
