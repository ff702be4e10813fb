"""Read one row of an Arrow table as an event, with the same meaning as in :mod:`tamis.space.columns`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns.tables import is_list, is_point, may_be_tagged, one_array, ordinary
from tamis.columns.times import arrow_micros
from tamis.errors import EventValue
from tamis.limits import Limits
from tamis.values.event import Event, event_from
from tamis.values.value import Point, moment_of

Values = dict[str, list[Any]]


def event_of_row(table: pa.RecordBatch | pa.Table, row: int, limits: Limits) -> Event:
    """Return row ``row`` as an event; raise :class:`~tamis.errors.EventError` if it is refused."""
    found: Values = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        cell = ordinary(one_array(column.slice(row, 1)))
        if pa.types.is_map(cell.type):
            _spread_map("", cell, found)
        else:
            _spread(name, cell, found)
    return event_from(
        {name: values[0] if len(values) == 1 else values for name, values in found.items()}, limits
    )


def _spread(name: str, array: Any, found: Values) -> None:
    """Enter the values of ``array`` under its name and, for nested values, under the names below it."""
    array = ordinary(array).drop_null()
    kind = array.type
    if pa.types.is_map(kind):
        _spread_map(f"{name}.", array, found)
    elif is_list(kind):
        _spread(name, pc.list_flatten(array), found)
    elif pa.types.is_struct(kind) and not is_point(kind) and not may_be_tagged(kind):
        for at, field in enumerate(kind):
            _spread(f"{name}.{field.name}", pc.struct_field(array, [at]), found)
    elif len(array):
        found.setdefault(name, []).extend(_value(name, scalar) for scalar in array)


def _spread_map(prefix: str, array: Any, found: Values) -> None:
    for scalar in array.drop_null():
        keys, items = ordinary(scalar.values.field(0)), scalar.values.field(1)
        for at, key in enumerate(keys):
            _spread(prefix + _value(prefix, key), items.slice(at, 1), found)


def object_in(name: str, scalar: Any) -> Any:
    """Return a struct as the dictionary that it is in an event: null fields are left out."""
    try:
        return _without_nulls(scalar.as_py())
    except (UnicodeDecodeError, ValueError, OverflowError) as bad:
        raise EventValue(f"attribute {name[:80]!r}: {bad}", attribute=name) from None


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(item) for name, item in value.items() if item is not None}


def _value(name: str, scalar: Any) -> Any:
    kind = scalar.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        (moment,), (good,) = arrow_micros(pa.array([scalar]))
        if not good:
            raise EventValue(
                f"attribute {name[:80]!r}: a time lies outside the years 1 to 9999", attribute=name
            )
        return moment_of(int(moment))
    if pa.types.is_struct(kind) and not is_point(kind):
        return object_in(name, scalar)
    try:
        value = scalar.as_py()
    except UnicodeDecodeError:
        raise EventValue(f"attribute {name[:80]!r}: a string is not UTF-8", attribute=name) from None
    if pa.types.is_struct(kind):
        if None in value.values():
            raise EventValue(f"attribute {name[:80]!r}: a point needs both lon and lat", attribute=name)
        return Point(value["lon"], value["lat"])
    return value
