"""Write events in every form that matching takes: JSON lines, and Arrow tables with typed columns."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from tamis.values.event import Event
from tamis.values.value import Interval, Point, format_time
from tests.strategies import ADDRESSES, INTEGERS, NAMES, NUMBERS, POINTS, STRINGS, TIMES


def json_line(event: Event) -> str:
    """Return an event as one line of JSON, with tagged objects for values that JSON lacks."""
    return json.dumps(
        {name: [tagged(value) for value in values] for name, values in event.attributes.items()}
    )


def tagged(value: Any) -> Any:
    """Return a value as JSON data."""
    if isinstance(value, datetime):
        return {"$time": format_time(value)}
    if isinstance(value, Point):
        return {"$point": [value.lon, value.lat]}
    if isinstance(value, Interval):
        ends = {"low": value.low, "high": value.high}
        body = {side: tagged(end) for side, end in ends.items() if end is not None}
        return {"$interval": body | {"low_open": value.low_open, "high_open": value.high_open}}
    return value


class Typed(NamedTuple):
    """A table and the events that it means, row by row."""

    table: pa.Table
    events: list[dict[str, Any]]


POINT = pa.struct([("lon", pa.float64()), ("lat", pa.float64())])
_integers = st.sampled_from(INTEGERS) | st.integers(-3, 8)
_floats = st.sampled_from([float(n) for n in NUMBERS]) | st.floats(allow_nan=False, allow_infinity=False)
_strings = st.sampled_from(STRINGS) | st.sampled_from(ADDRESSES) | st.text(max_size=4)
_times = st.sampled_from(TIMES)
_small = st.sampled_from([0, 1, 2, 3, 5])

# Arrow type → the values of a cell, as Python writes them.
SCALARS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), _integers),
    (pa.float64(), _floats),
    (pa.string(), _strings),
    (pa.large_string(), _strings),
    (pa.bool_(), st.booleans()),
    (pa.timestamp("us", "UTC"), _times),
    (pa.timestamp("us"), _times.map(lambda t: t.replace(tzinfo=None))),
    (pa.date32(), st.sampled_from([date(1, 1, 1), date(2026, 11, 15), date(9999, 12, 31)])),
    (pa.int8(), _small),
    (pa.uint64(), _small | st.just(2**63 - 1)),
    (pa.decimal128(20, 3), st.sampled_from([Decimal("0.1"), Decimal("2.5"), Decimal("1234567890123.457")])),
    (pa.dictionary(pa.int32(), pa.string()), _strings),
    (POINT, st.sampled_from(POINTS)),
]
MAPS = [(kind, cells) for kind, cells in SCALARS if not pa.types.is_dictionary(kind)]


@st.composite
def typed_tables(draw: st.DrawFn) -> Typed:
    """Draw tables with scalar, list, struct and map columns, nulls in all of them."""
    rows = draw(st.integers(1, 6))
    events: list[dict[str, Any]] = [{} for _ in range(rows)]
    columns: dict[str, Any] = {}
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    for name in names:
        kind, cells = draw(st.sampled_from(SCALARS))
        shape = draw(st.sampled_from(["scalar", "scalar", "list", "struct"]))
        if shape == "list" and not pa.types.is_dictionary(kind):
            kind, cells = pa.list_(kind), st.lists(cells | st.none(), max_size=3)
        if shape == "struct":
            kind, cells = pa.struct([("y", kind), ("z", pa.int64())]), _structs(cells)
        column = draw(st.lists(cells | st.none(), min_size=rows, max_size=rows))
        columns[name] = pa.array([_for_arrow(cell) for cell in column], kind)
        for event, cell in zip(events, column, strict=True):
            event[name] = _meant(cell)
    if draw(st.booleans()):
        columns["map"] = _map_column(draw, events)
    return Typed(pa.table(columns), events)


def _structs(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"y": cells | st.none(), "z": _small | st.none()})


def _map_column(draw: st.DrawFn, events: list[dict[str, Any]]) -> Any:
    """Draw sparse attributes: names that the other columns lack, sometimes one name twice."""
    kind, cells = draw(st.sampled_from(MAPS))
    free = [name for name in [*NAMES, "m1", "m2"] if name not in events[0]]
    column = []
    for event in events:
        pairs = draw(st.none() | st.lists(st.tuples(st.sampled_from(free), cells | st.none()), max_size=4))
        column.append(None if pairs is None else [(name, _for_arrow(cell)) for name, cell in pairs])
        for name, cell in pairs or ():
            event.setdefault(name, []).append(_meant(cell))
    return pa.array(column, pa.map_(pa.string(), kind))


def _for_arrow(cell: Any) -> Any:
    if isinstance(cell, Point):
        return {"lon": cell.lon, "lat": cell.lat}
    if isinstance(cell, list):
        return [_for_arrow(item) for item in cell]
    return {key: _for_arrow(item) for key, item in cell.items()} if isinstance(cell, dict) else cell


def _meant(cell: Any) -> Any:
    """Return the value that an Arrow cell stands for."""
    if isinstance(cell, list):
        return [_meant(item) for item in cell]
    if isinstance(cell, dict):
        return {key: _meant(item) for key, item in cell.items()}
    if isinstance(cell, Decimal):
        return float(cell)
    return cell.replace(tzinfo=UTC) if isinstance(cell, datetime) else cell
