"""Test that tables of any library mean the same as the same events as dictionaries."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index
from tamis.errors import InputError
from tamis.limits import Limits
from tamis.space.table_row import event_of_row

BOOK = {
    "day": "t >= DATE '2026-05-01'",
    "red": "s = 'red'",
    "big": "n = 9007199254740993",
    "tenth": "n = 0.1",
    "yes": "b = TRUE",
    "near": "p WITHIN BOX (0, 0, 5, 5)",
    "span": "r BETWEEN 3 AND 4",
    "deep": "d.e = 1",
    "tag": "l = 2",
    "not": "s != 'red'",
    "none": "s IS NULL",
    "id": "u = '00000000-0000-0000-0000-000000000005'",
}
INDEXES = {engine: Index.build(BOOK, engine=engine) for engine in ("scan", "hybrid")}


def _pairs(index: Index, events: Any) -> set[tuple[int, str]]:
    found = index.match_many(events).to_pydict()
    return set(zip(found["event"], found["subscription"], strict=True))


VALUES = {
    "t": st.sampled_from([datetime(2026, 5, 2, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC), None]),
    "s": st.sampled_from(["red", "blue", "", "é", None]),
    "n": st.sampled_from([9007199254740993, 5, -1, None]),
    "b": st.sampled_from([True, False, None]),
    "l": st.lists(st.integers(0, 3), max_size=3) | st.none(),
    "d": st.fixed_dictionaries({"e": st.integers(0, 2)}) | st.none(),
    "p": st.sampled_from([{"$point": [1.0, 2.0]}, {"$point": [9.0, 9.0]}, None]),
    "r": st.sampled_from([{"$interval": [1, 3]}, {"$interval": [None, 2]}, {"$interval": [5, 6]}, None]),
}


@given(st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=5), st.sampled_from(sorted(INDEXES)))
def test_tables_of_all_libraries_match_alike(events: list[dict[str, Any]], engine: str) -> None:
    index = INDEXES[engine]
    wanted = _pairs(index, events)
    table = pa.Table.from_pylist(events)
    assert _pairs(index, table) == wanted
    assert _pairs(index, table.to_batches()[0]) == wanted
    assert _pairs(index, table.to_reader()) == wanted
    assert _pairs(index, pd.DataFrame(events, dtype=object)) == wanted
    assert _pairs(index, pl.DataFrame(events, infer_schema_length=None)) == wanted
    for row, event in enumerate(events):
        one = event_of_row(table, row, Limits())
        assert sorted(index.match(one)) == sorted(
            index.match({k: v for k, v in event.items() if v is not None})
        )


COLUMNS: list[tuple[Any, set[tuple[int, str]]]] = [
    (pa.table({"s": pa.array(["red", "x"], pa.string_view())}), {(0, "red"), (1, "not")}),
    (pa.table({"s": pa.array(["red", "x"]).dictionary_encode()}), {(0, "red"), (1, "not")}),
    (
        pa.table(
            {"s": pa.DictionaryArray.from_arrays([0, 1, None], pa.array(["red", "x"], pa.string_view()))}
        ),
        {(0, "red"), (1, "not"), (2, "none")},
    ),
    (pa.table({"s": pc.run_end_encode(pa.array(["red", "red", "x"]))}), {(0, "red"), (1, "red"), (2, "not")}),
    (
        pa.table({"l": pa.array([[1], [2, 3]], pa.list_view(pa.int64()))}),
        {(0, "none"), (1, "tag"), (1, "none")},
    ),
    (
        pa.table({"l": pa.array([[1], [2, 3]], pa.large_list_view(pa.int8()))}),
        {(0, "none"), (1, "tag"), (1, "none")},
    ),
    (pa.table({"u": pa.array([uuid.UUID(int=5)], pa.uuid())}), {(0, "id"), (0, "none")}),
    (pa.table({"b": pa.array([1], pa.int8()).cast(pa.bool8())}), {(0, "yes"), (0, "none")}),
    (
        pa.table({"n": pa.array([Decimal("9007199254740993"), Decimal("0.1")])}),
        {(0, "big"), (0, "none"), (1, "tenth"), (1, "none")},
    ),
    (pa.table({"p": pa.array([{"lon": 1, "lat": 2}])}), {(0, "near"), (0, "none")}),
    (pa.table({"p": pa.array([{"type": "Point", "coordinates": [1.0, 2.0]}])}), {(0, "near"), (0, "none")}),
    (pa.table({"t": pa.array([date(2026, 5, 1)])}), {(0, "day"), (0, "none")}),
    (pa.table({"s": ["a", "red", "red"]}).slice(1, 1), {(0, "red")}),
    (pa.table({"s": pa.chunked_array([["red"], [], ["x"]])}), {(0, "red"), (1, "not")}),
    (pl.DataFrame({"s": pl.Series(["red", "x"], dtype=pl.Categorical)}), {(0, "red"), (1, "not")}),
    (pl.DataFrame({"s": pl.Series(["red", "x"], dtype=pl.Enum(["x", "red"]))}), {(0, "red"), (1, "not")}),
    (pl.DataFrame({"l": [["red"], []]}), {(0, "none"), (1, "none")}),
    (pl.DataFrame({"s": [["red", "x"], None]}), {(0, "red"), (1, "none")}),
    (pd.DataFrame({"s": pd.Categorical(["red", "x"])}), {(0, "red"), (1, "not")}),
    (pd.DataFrame({"s": ["red", float("nan")]}), {(0, "red"), (1, "none")}),
    (pd.DataFrame({"n": [9007199254740993, None]}, dtype="Int64"), {(0, "big"), (0, "none"), (1, "none")}),
    (pd.DataFrame({"s": ["red", 5, True]}), {(0, "red"), (1, "not"), (2, "not")}),
    (pd.DataFrame({"p": [{"lon": 1, "lat": 2}, 5]}), {(0, "near"), (0, "none"), (1, "none")}),
]


@pytest.mark.parametrize("engine", sorted(INDEXES))
@pytest.mark.parametrize(("table", "wanted"), COLUMNS, ids=range(len(COLUMNS)))
def test_column_types_have_their_meaning(table: Any, wanted: set[tuple[int, str]], engine: str) -> None:
    assert _pairs(INDEXES[engine], table) == wanted


REFUSED: list[Any] = [
    pa.table({"x": pa.array([b"a"])}),
    pa.table({"x": pa.array([time(1)])}),
    pa.table({"x": pa.array([timedelta(1)])}),
    pa.table({"x": pa.array([{"lon": "1", "lat": "2"}])}),
    pa.table({"x": pa.array([{"lon": True, "lat": False}])}),
    pa.table({"x": pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "a", "b"), pa.array([1]))}),
    pl.DataFrame({"x": [b"a"]}),
    pl.DataFrame({"x": [time(1)]}),
    pl.DataFrame({"x": pl.Series([1], dtype=pl.Int128)}),
    pl.Series("x", [1, 2]),
    pd.DataFrame({0: [1]}),
    pd.DataFrame([[1, 2]], columns=["a", "a"]),
    pd.DataFrame({"x": pd.PeriodIndex(["2026-05"], freq="M")}),
    pa.chunked_array([[1, 2]]),
]


@pytest.mark.parametrize("table", REFUSED, ids=range(len(REFUSED)))
def test_meaningless_table_is_refused(table: Any) -> None:
    with pytest.raises(InputError):
        INDEXES["hybrid"].match_many(table)


def test_mixed_pandas_column_refuses_only_its_bad_rows() -> None:
    frame = pd.DataFrame({"s": ["red", b"x", "x", 10**400, np.datetime64("2026-05-01")]})
    found = INDEXES["hybrid"].match_many(frame)
    assert [one.position for one in found.refused] == [1, 3]
    assert _pairs(INDEXES["hybrid"], frame) == {(0, "red"), (2, "not"), (4, "not")}


def test_decimal_that_no_float_holds_is_refused_by_its_row() -> None:
    table = pa.table({"n": pa.array([Decimal("1e30"), Decimal("5")], pa.decimal256(50, 0))})
    assert INDEXES["hybrid"].match_many(table).refused == []
    assert Index.build({"huge": "n = 1e30"}).match_many(table)["event"].to_pylist() == [0]


def test_duckdb_relation_is_a_table() -> None:
    with duckdb.connect() as connection:
        assert _pairs(INDEXES["hybrid"], connection.sql("SELECT 'red' AS s, [1, 2] AS l")) == {
            (0, "red"),
            (0, "tag"),
        }
