"""Brings any batch or streaming DataFrame of events into the canonical form, and lists refused events.

The canonical columns are ``event_id`` (string), ``event_time`` (timestamp or null), ``attributes`` (a struct,
a map or JSON text) and ``payload`` (string or null). The fields of a struct mean the same as the columns of
an Arrow table in the library: nested structs become dotted names, arrays are multi-valued, a struct of
``lon`` and ``lat`` is a point, a map at the top holds sparse attributes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tamis.errors import EventError, InputError
from tamis.index.batches import nowhere
from tamis.index.match import locate
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.spark.rows import cut_text, readable_events, text_of
from tamis.spark.schema import ATTRIBUTES, CANONICAL, EVENT_ID, EVENT_TIME, PAYLOAD, REFUSED_EVENTS
from tamis.spark.workers import ready
from tamis.values.event import clean_name

_log = logging.getLogger(__name__)


def events(
    frame: DataFrame,
    *,
    event_id: str = EVENT_ID,
    event_time: str | None = None,
    attributes: str | Sequence[str] | None = None,
    payload: str | None = None,
    carry: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> DataFrame:
    """Return ``frame`` in the canonical form; a frame in this form keeps its meaning.

    ``attributes`` names one column (struct, map, JSON as string or binary, VARIANT) or lists typed columns.
    Without it, the column ``attributes`` is used, or else every column without another role. ``event_time``
    and ``payload`` default to the columns of that name, if they exist. ``carry`` keeps other columns, for
    :func:`match` to carry.
    """
    _refuse_repeated(frame.columns)
    _require(frame, event_id, EVENT_ID, _MAKE_AN_ID)
    event_time = _named(frame, event_time, EVENT_TIME)
    payload = _named(frame, payload, PAYLOAD)
    kept = _kept(frame, carry)
    return frame.select(
        _event_id(frame, event_id).alias(EVENT_ID),
        _event_time(frame, event_time).alias(EVENT_TIME),
        _attributes(frame, attributes, {event_id, event_time, payload}, kept, limits).alias(ATTRIBUTES),
        _payload(frame, payload).alias(PAYLOAD),
        *[column(name) for name in kept],
    )


def _kept(frame: DataFrame, carry: Sequence[str]) -> list[str]:
    """Return the columns that stay beside the canonical ones."""
    if isinstance(carry, str):
        raise InputError(f"carry is a list of columns: write carry=[{carry!r}]")
    _refuse_repeated(list(carry))
    for name in carry:
        _require(frame, name, "carry", "name others with carry=[…]")
        if name in CANONICAL:
            raise InputError(
                f"{name!r} is a name of the canonical form; rename the column before it is carried",
                column=name,
            )
    return list(carry)


def refused_events(limits: Limits = DEFAULT_LIMITS) -> Callable[[DataFrame], DataFrame]:
    """Return a transformation of canonical events into the quarantine: a row per refused event.

    No index is needed: whether an event can be read does not depend on the subscriptions.
    """

    def refuse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            good = readable_events(batch, limits)
            _, refused = locate(nowhere(limits), good.events)
            found = good.bad | {int(good.rows[at]): bad for at, bad in refused}
            if found:
                yield quarantine_of(batch, sorted(found.items(), key=lambda item: item[0]))

    def refused(frame: DataFrame) -> DataFrame:
        ready(frame.sparkSession)
        return frame.mapInArrow(refuse, REFUSED_EVENTS.spark)

    return refused


def quarantine_of(batch: pa.RecordBatch, refused: Sequence[tuple[int, EventError]]) -> pa.RecordBatch:
    """Return the quarantine rows for refused rows of a canonical batch."""
    ids = batch.column(batch.schema.get_field_index(EVENT_ID))
    columns = (
        ids.take(pa.array([row for row, _ in refused], pa.int64())).cast(pa.string()),
        [bad.code for _, bad in refused],
        [cut_text(bad.message) for _, bad in refused],
        [text_of(batch, row) for row, _ in refused],
    )
    schema = REFUSED_EVENTS.arrow
    return pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], schema=schema)


_MAKE_AN_ID = (
    "name the column that holds it with event_id=…, or make one that is the same when the job runs again,"
    " such as sha2 of the event, or Kafka's topic, partition and offset joined"
)


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"the column {repeated[0]!r} stands twice; rename one", column=repeated[0])


def _require(frame: DataFrame, name: str, role: str, remedy: str) -> None:
    if name not in frame.columns:
        raise InputError(
            f"events need a column {role!r}, and there is no column {name!r}"
            f" (there are: {', '.join(frame.columns)}); {remedy}",
            column=name,
        )


def _named(frame: DataFrame, name: str | None, role: str) -> str | None:
    """Return the column for an optional role, or ``None``."""
    if name is None:
        return role if role in frame.columns else None
    _require(frame, name, role, f"name another with {role}=…, or leave it out")
    return name


def column(name: str) -> Column:
    """Return the column of exactly this name, including dots and quotes."""
    return F.col("`" + name.replace("`", "``") + "`")


def _event_id(frame: DataFrame, name: str) -> Column:
    kind = frame.schema[name].dataType
    if isinstance(kind, T.StructType | T.ArrayType | T.MapType | T.VariantType):
        raise InputError(
            f"the column {name!r} is {kind.simpleString()}, which is no event_id; {_MAKE_AN_ID}", column=name
        )
    # Repaired bytes would give many events the same id, so invalid bytes become a null id.
    return F.try_validate_utf8(column(name).cast("string"))


def _event_time(frame: DataFrame, name: str | None) -> Column:
    if name is None:
        return F.lit(None).cast(EVENT_TIME.spark)
    kind = frame.schema[name].dataType
    if isinstance(kind, T.StringType | T.NumericType):
        how = f"to_timestamp({name})" if isinstance(kind, T.StringType) else f"timestamp_millis({name})"
        raise InputError(
            f"the column {name!r} is {kind.simpleString()}, and event_time is a timestamp; say how to read"
            f" it, for example frame.withColumn({name!r}, expr({how!r}))",
            column=name,
        )
    if not isinstance(kind, T.TimestampType | T.TimestampNTZType | T.DateType | T.NullType):
        raise InputError(
            f"the column {name!r} is {kind.simpleString()}, and event_time is a timestamp", column=name
        )
    # A cast would remove a watermark, even a cast to the same type.
    return column(name) if isinstance(kind, T.TimestampType) else column(name).cast(EVENT_TIME.spark)


def _payload(frame: DataFrame, name: str | None) -> Column:
    if name is None:
        return F.lit(None).cast(PAYLOAD.spark)
    kind = frame.schema[name].dataType
    if isinstance(kind, T.StructType | T.ArrayType | T.MapType | T.VariantType):
        return F.to_json(column(name))
    return F.make_valid_utf8(column(name).cast("string"))


def _attributes(
    frame: DataFrame,
    wanted: str | Sequence[str] | None,
    taken: set[str | None],
    kept: Sequence[str],
    limits: Limits,
) -> Column:
    if isinstance(wanted, str):
        _require(frame, wanted, ATTRIBUTES, "name one with attributes=…")
        return _whole(frame, wanted, limits)
    if wanted is None and ATTRIBUTES in frame.columns:
        used = {*taken, *kept, ATTRIBUTES}
        unused = [name for name in frame.columns if name not in used]
        if unused:
            _log.warning("the column attributes holds all attributes; not used: %s", ", ".join(unused))
        return _whole(frame, ATTRIBUTES, limits)
    names = [name for name in frame.columns if name not in taken] if wanted is None else list(wanted)
    if not names:
        raise InputError(f"no column is left to be an attribute (there are: {', '.join(frame.columns)})")
    for name in names:
        _require(frame, name, ATTRIBUTES, "name others with attributes=[…]")
    _refuse_repeated(names)
    _check([(name, frame.schema[name].dataType) for name in names], limits)
    return F.struct(*[column(name).alias(name) for name in names])


def _whole(frame: DataFrame, name: str, limits: Limits) -> Column:
    """Return one column that holds all attributes."""
    kind = frame.schema[name].dataType
    if isinstance(kind, T.StringType):
        return column(name)
    if isinstance(kind, T.BinaryType):
        return column(name).cast("string")
    # Arrow would deliver a VARIANT in its raw encoding, so the JVM writes it as JSON.
    if isinstance(kind, T.VariantType) or (
        isinstance(kind, T.MapType)
        and isinstance(kind.keyType, T.StringType)
        and isinstance(kind.valueType, T.VariantType)
    ):
        return F.to_json(column(name))
    if isinstance(kind, T.StructType):
        _check([(field.name, field.dataType) for field in kind], limits)
    elif isinstance(kind, T.MapType):
        _check([(name, kind)], limits)
    else:
        raise InputError(
            f"the column {name!r} is {kind.simpleString()}; attributes are a struct, a map, JSON text or a"
            f" VARIANT, or typed columns: attributes=[{name!r}, …]",
            column=name,
        )
    return column(name)


def _check(columns: Sequence[tuple[str, T.DataType]], limits: Limits) -> None:
    """Raise one error for all columns whose name, type or depth no attribute can have."""
    bad = [problem for name, kind in columns for problem in _problems(name, kind, limits, 1)]
    if bad:
        more = f" (and {len(bad) - 10} more)" if len(bad) > 10 else ""
        raise InputError(
            f"not everything here can be an attribute: {'; '.join(bad[:10])}{more}; cast what is meant, drop"
            " the rest, or list the columns to take with attributes=[…]"
        )


def _problems(name: str, kind: T.DataType, limits: Limits, depth: int) -> Iterator[str]:
    if depth > limits.event_depth:
        yield f"{name[:80]} is nested deeper than event_depth = {limits.event_depth}"
    elif isinstance(kind, T.StructType):
        for field in kind:
            yield from _problems(f"{name}.{field.name}", field.dataType, limits, depth + 1)
    elif isinstance(kind, T.ArrayType):
        yield from _problems(name, kind.elementType, limits, depth + 1)
    elif isinstance(kind, T.MapType) and isinstance(kind.keyType, T.StringType):
        yield from _problems(name, kind.valueType, limits, depth + 1)
    elif isinstance(kind, _SCALARS):
        yield from _bad_name(name, limits)
    else:
        yield f"{name[:80]} is {kind.simpleString()}{_REMEDIES.get(type(kind), '')}"


def _bad_name(name: str, limits: Limits) -> Iterator[str]:
    try:
        clean_name(name, limits)
    except EventError as bad:
        yield bad.message


_SCALARS = (
    T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType,
    T.DecimalType, T.StringType, T.DateType, T.TimestampType, T.TimestampNTZType, T.NullType,
)  # fmt: skip
_REMEDIES: dict[type, str] = {
    T.VariantType: " (a VARIANT is read when it holds all attributes: attributes='…'; else cast it)",
    T.BinaryType: " (JSON bytes are read when they hold all attributes: attributes='…')",
    T.MapType: " (the keys of a map must be strings)",
}
