"""Reads events by name: files, a growing folder, ``kafka:HOST:PORT/TOPIC``, ``socket:HOST:PORT``.

JSON is read as lines, not as columns that Spark would infer: an unreadable event then affects only itself,
and a new attribute needs no new schema. An event without an id gets one that is the same whenever it is read
again: Kafka's offset, the row of a Parquet file, or a hash of file and line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from tamis.cli.spark.frames import format_of
from tamis.cli.spark.support import FORMATS
from tamis.errors import InputError

_LINE = "made_line"  # a name that no table has
ALL = "all"  # the value of --carry for all columns


class Shape(NamedTuple):
    """The names of an event's parts."""

    form: str | None = None
    schema: str | None = None
    event_id: str | None = None
    event_time: str | None = None
    attributes: str | None = None
    payload: str | None = None


def shape_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe events; they become the arguments of :class:`Shape`."""
    for option in (
        click.option("--payload", metavar="NAME", help="The column to copy to the outbox."),
        click.option("--attributes", metavar="NAME", help="The column with all attributes."),
        click.option("--event-time", metavar="NAME", help="The column or JSON field with the event's time."),
        click.option("--event-id", metavar="NAME", help="The column or JSON field with the event's id."),
        click.option(
            "--schema", metavar="DDL", help="The columns of JSON or CSV: 'price DOUBLE, city STRING'."
        ),
        click.option(
            "--events-format",
            "form",
            type=click.Choice(FORMATS),
            help="The format, if the name of EVENTS does not show it.",
        ),
    ):
        command = option(command)
    return command


def batch_events(spark: Any, source: str, shape: Shape, carry: tuple[str, ...] = ()) -> Any:
    """Return the events of files in the canonical form; ``carry`` adds other columns."""
    return _canonical(_read(spark.read, source, format_of(source, shape.form), shape.schema), shape, carry)


def stream_events(spark: Any, source: str, shape: Shape) -> Any:
    """Return the events that arrive from now on, in the canonical form."""
    kind, _, rest = source.partition(":")
    if kind == "kafka":
        return _canonical(_kafka(spark, rest), shape)
    if kind == "socket":
        return _canonical(_socket(spark, rest), shape)
    form = format_of(source, shape.form)
    schema = shape.schema
    if form != "json" and schema is None:  # a stream's columns are fixed when it starts
        schema = _read(spark.read, source, form, None, bare=True).schema
    return _canonical(_read(spark.readStream, source, form, schema), shape)


def stream_matches(spark: Any, source: str, form: str | None) -> Any:
    """Return the matches that arrive from now on, with the columns that digests need."""
    from pyspark.sql import functions as F

    from tamis.spark.schema import TO_DIGEST

    kind, _, rest = source.partition(":")
    if kind == "kafka":
        parsed = F.from_json(_LINE, TO_DIGEST.spark)
        return _kafka(spark, rest).select(parsed.alias("match")).select("match.*")
    reader = spark.readStream.schema(TO_DIGEST.spark).option("header", True)
    return reader.format(format_of(source, form)).load(source)


def _read(reader: Any, source: str, form: str, schema: Any, bare: bool = False) -> Any:
    """Return the columns of files, or lines of JSON; ``made_id`` is an id for events without one."""
    from pyspark.sql import functions as F

    reader = reader if schema is None else reader.schema(schema)
    if form == "parquet":
        frame, own = reader.parquet(source), F.col("_metadata.row_index").cast("string")
    elif form == "json" and schema is None:
        frame, own = reader.text(source).withColumnRenamed("value", _LINE), F.sha2(_LINE, 256)
        frame = frame.where(F.trim(_LINE) != "")  # blank lines are no events
    elif form == "json":
        frame = reader.json(source)
        own = F.sha2(F.to_json(F.struct("*")), 256)
    else:
        frame = reader.option("header", True).option("inferSchema", schema is None).csv(source)
        own = F.sha2(F.to_json(F.struct("*")), 256)
    if bare:
        return frame
    return frame.withColumn("made_id", F.concat_ws(":", F.col("_metadata.file_name"), own))


def _kafka(spark: Any, address: str) -> Any:
    """Return the messages of ``HOST:PORT/TOPIC``; their offset is the id, their time the event's time."""
    from pyspark.sql import functions as F

    servers, slash, topic = address.rpartition("/")
    if not slash or not servers or not topic:
        raise InputError(f"kafka:{address}: a topic is written kafka:HOST:PORT/TOPIC")
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    frame = spark.readStream.format("kafka").options(**options).load()
    return frame.select(
        F.col("value").cast("string").alias(_LINE),
        F.concat_ws(":", "topic", "partition", "offset").alias("made_id"),
        F.col("timestamp").alias("made_time"),
    )


def _socket(spark: Any, address: str) -> Any:
    """Return the lines from a socket; lost lines cannot be read again, so this is only for trials."""
    from pyspark.sql import functions as F

    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdecimal()):
        raise InputError(f"socket:{address}: a socket is written socket:HOST:PORT")
    options = {"host": host, "port": port, "includeTimestamp": "true"}
    frame = spark.readStream.format("socket").options(**options).load()
    made = F.sha2(F.concat_ws(":", F.col("timestamp").cast("string"), "value"), 256)
    return frame.select(
        F.col("value").alias(_LINE), made.alias("made_id"), F.col("timestamp").alias("made_time")
    )


def _canonical(frame: Any, shape: Shape, carry: tuple[str, ...] = ()) -> Any:
    from tamis.spark.schema import CANONICAL

    others = tuple(name for name in carry if name not in CANONICAL)
    return (_lines if _LINE in frame.columns else _columns)(frame, shape, others)


def _lines(frame: Any, shape: Shape, carry: tuple[str, ...]) -> Any:
    """Return events from lines of JSON; id, time, payload and carried columns are fields of the object."""
    from pyspark.sql import functions as F

    from tamis.spark.events import events

    def field(name: str) -> Any:
        return F.get_json_object(_LINE, f"$['{name}']")

    made_time = F.col("made_time") if "made_time" in frame.columns else F.lit(None)
    time, attributes = made_time, F.col(_LINE)
    if shape.event_time:
        written = field(shape.event_time)
        time = F.try_to_timestamp(written)
        # An unreadable time refuses its event: it is put where the reader of events finds it.
        unreadable_time = F.create_map(F.lit("$time"), F.concat(F.lit("not a time: "), written))
        unreadable = F.to_json(F.create_map(F.lit(shape.event_time), unreadable_time))
        attributes = F.when(written.isNotNull() & time.isNull(), unreadable).otherwise(attributes)
    if ALL in carry:
        raise InputError(f"--carry {ALL}: lines of JSON have no columns; name fields, or give --schema")
    return events(
        frame.select(
            (
                F.coalesce(field(shape.event_id), F.col("made_id")) if shape.event_id else F.col("made_id")
            ).alias("event_id"),
            time.cast("timestamp").alias("event_time"),
            attributes.alias("attributes"),
            (field(shape.payload) if shape.payload else F.lit(None).cast("string")).alias("payload"),
            *[field(name).alias(name) for name in carry],
        ),
        carry=carry,
    )


def _columns(frame: Any, shape: Shape, carry: tuple[str, ...]) -> Any:
    """Return events from typed columns; the options name those that are not attributes."""
    from pyspark.sql import functions as F

    from tamis.spark.events import events

    own = shape.event_id or ("event_id" if "event_id" in frame.columns else "made_id")
    if own != "made_id":
        frame = frame.drop("made_id")
    if shape.event_time and dict(frame.dtypes).get(shape.event_time) == "string":
        frame = frame.withColumn(shape.event_time, F.try_to_timestamp(F.col(f"`{shape.event_time}`")))
    taken = {own, shape.event_time or "event_time", shape.payload or "payload", "attributes"}
    kept = [name for name in frame.columns if name not in taken] if ALL in carry else carry
    return events(
        frame,
        event_id=own,
        event_time=shape.event_time,
        attributes=shape.attributes,
        payload=shape.payload,
        carry=kept,
    )
