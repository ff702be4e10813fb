"""Copies columns of events to their matches.

Workers carry these columns in one struct, so that their names cannot collide with ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tamis.errors import InputError
from tamis.spark.events import column
from tamis.spark.schema import CANONICAL, CARRIED, ENVELOPE, EVENT_ID, NOTE, RESERVED
from tamis.spark.worker import MatchOptions

ALL = "all"

Carry = Sequence[str] | str | bool


def checked_carry(carry: Carry) -> tuple[str, ...] | None:
    """Return the requested names; ``None`` means all columns of the events."""
    if carry is True or carry == ALL:
        return None
    if carry is False:
        return ()
    if isinstance(carry, str) or not isinstance(carry, Sequence):
        raise InputError(f"carry is a list of columns, or {ALL!r}; not {carry!r}: write carry=[{carry!r}]")
    names = tuple(carry)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"carry is a list of names of columns, not of {name!r}")
        if names.count(name) > 1:
            raise InputError(f"carry names {name!r} twice; name it once", column=name)
        _refuse_ours(name)
    return names


def carried_of(frame: DataFrame, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names of the columns of ``frame`` to carry, all of them present and of a usable type."""
    wanted = tuple(name for name in frame.columns if name != EVENT_ID) if names is None else names
    for name in wanted:
        _refuse_ours(name)
        if name not in frame.columns:
            if name in ENVELOPE:  # every event has these, if only as nulls
                continue
            raise InputError(
                f"there is no column {name!r} to carry (there are: {', '.join(frame.columns)}); if it was "
                "there before tamis.spark.events, name it there, too: events(…, carry=[…])",
                column=name,
            )
        if name not in ENVELOPE:
            _check_type(name, frame.schema[name].dataType)
    return wanted


def packed(canonical: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return canonical events with the columns to carry in one struct."""
    if not names:
        return canonical.select(*CANONICAL)
    return canonical.select(
        *CANONICAL, F.struct(*[column(name).alias(name) for name in names]).alias(CARRIED)
    )


def unpacked(noted: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return rows with the carried columns beside the others, before the note."""
    if not names:
        return noted
    ours = [column(name) for name in noted.columns if name not in (CARRIED, NOTE)]
    theirs = [F.col(CARRIED).getField(name).alias(name) for name in names]
    return noted.select(*ours, *theirs, NOTE)


def schema_of(options: MatchOptions, frame: DataFrame) -> T.StructType:
    """Return the type of the rows that workers return."""
    fields = list(options.columns().spark.fields)
    if options.others:
        fields.insert(-1, T.StructField(CARRIED, frame.schema[CARRIED].dataType))
    return T.StructType(fields)


def _refuse_ours(name: str) -> None:
    if name.lower() in RESERVED:
        raise InputError(
            f"{name!r} cannot be carried: matches have a column of that name; rename it before, "
            f"for example events.withColumnRenamed({name!r}, 'event_{name}')",
            column=name,
        )


def _check_type(name: str, kind: T.DataType) -> None:
    inner: list[T.DataType] = [kind]
    while inner:
        one = inner.pop()
        if isinstance(one, T.StructType):
            inner += [field.dataType for field in one]
        elif isinstance(one, T.ArrayType):
            inner.append(one.elementType)
        elif isinstance(one, T.MapType):
            inner += [one.keyType, one.valueType]
        elif not isinstance(one, _CARRIED_TYPES):
            raise InputError(
                f"the column {name!r} is {kind.simpleString()}, which cannot be carried; cast it, or write "
                f"it as text: to_json({name})",
                column=name,
            )


_CARRIED_TYPES = (
    T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType,
    T.DecimalType, T.StringType, T.BinaryType, T.DateType, T.TimestampType, T.TimestampNTZType,
)  # fmt: skip
