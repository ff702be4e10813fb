"""One row of an Arrow table as an event, with the meaning that :mod:`tamis.space.columns` gives it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tamis.errors import EventValue
from tamis.lang.columns.times import arrow_micros
from tamis.limits import Limits
from tamis.model.event import Event, event_from
from tamis.model.value import Point, moment_of

Values = dict[str, list[Any]]


def event_of_row(table: pa.RecordBatch | pa.Table, row: int, limits: Limits) -> Event:
    """Row ``row`` as an event; raises :class:`~tamis.errors.EventError` if it is refused."""
    found: Values = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if pa.types.is_map(column.type):
            _spread_map("", column[row], found)
        else:
            _spread(name, column[row], found)
    return event_from(
        {name: values[0] if len(values) == 1 else values for name, values in found.items()}, limits
    )


def _spread(name: str, scalar: Any, found: Values) -> None:
    """Enter the values of a cell under its name and, for nested ones, the names below it."""
    kind = scalar.type
    if not scalar.is_valid:
        return
    if pa.types.is_dictionary(kind):
        _spread(name, scalar.value, found)
    elif pa.types.is_map(kind):
        _spread_map(f"{name}.", scalar, found)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        for item in scalar.values:
            _spread(name, item, found)
    elif pa.types.is_struct(kind) and {field.name for field in kind} != {"lon", "lat"}:
        for field in kind:
            _spread(f"{name}.{field.name}", scalar[field.name], found)
    else:
        found.setdefault(name, []).append(_value(name, scalar))


def _spread_map(prefix: str, scalar: Any, found: Values) -> None:
    if scalar.is_valid:
        for key, item in zip(scalar.values.field(0), scalar.values.field(1), strict=True):
            _spread(prefix + _value(prefix, key), item, found)


def _value(name: str, scalar: Any) -> Any:
    kind = scalar.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        (moment,), (good,) = arrow_micros(pa.array([scalar]))
        if not good:
            raise EventValue(f"attribute {name[:80]!r}: a time lies outside the years 1 to 9999")
        return moment_of(int(moment))
    try:
        value = scalar.as_py()
    except UnicodeDecodeError:
        raise EventValue(f"attribute {name[:80]!r}: a string is not UTF-8") from None
    if pa.types.is_struct(kind):
        if None in value.values():
            raise EventValue(f"attribute {name[:80]!r}: a point needs both lon and lat")
        return Point(float(value["lon"]), float(value["lat"]))
    return float(value) if pa.types.is_decimal(kind) else value
