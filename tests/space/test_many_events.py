"""Test that lists, single events and tables are located alike, and names are found by their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Limits
from tamis.columns.literals import string_column
from tamis.errors import EventError
from tamis.space.columns import encode_table
from tamis.space.encode import Encoder
from tamis.space.located import Located
from tamis.space.names import NameTable
from tamis.values.event import event_from

BOOK = {
    "numbers": "a < 3 AND b >= 2.5 AND c = 9007199254740993",
    "words": "a = 'x' OR b LIKE '%oo%' OR title HAS 'red car'",
    "truth": "c = TRUE AND NOT b = FALSE",
    "places": "here WITHIN BOX (0, 0, 2, 2) OR here WITHIN 9 KM OF POINT (1 1) OR a WITHIN BOX (0, 0, 1, 1)",
}
_values = st.one_of(
    st.integers(-4, 4),
    st.sampled_from([2**53, 2**53 + 1, 2**63, 10**400, 0.5, float("nan"), float("inf"), None, b"x"]),
    st.sampled_from(["x", "foo", "red car", "é", "e\u0301", "\ud800", True, False, [], [1, 2], ["x", None]]),
    st.sampled_from([{"$point": [1, 1]}, {"$point": [0.5, 200]}, {"$interval": [1, 3]}, {"y": 1}]),
)
_names = st.sampled_from(["a", "b", "c", "here", "title", "unasked", "e\u0301", "n" * 300, "\ud800"])
_numbers = st.dictionaries(st.sampled_from(["a", "b", "c", "unasked"]), st.integers(-4, 4) | st.floats())
_events = st.dictionaries(_names, _values, max_size=6) | _numbers


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    index = Index.build(BOOK)
    (layer,) = index._writer.current.layers
    return layer.segment.encoder


def _entries(located: Located, row: int) -> set[tuple[int, int, int]]:
    at = slice(int(located.start[row]), int(located.start[row + 1]))
    columns = (located.dimension[at], located.lo[at], located.hi[at])
    return set(zip(*(column.tolist() for column in columns), strict=True))


@given(st.lists(_events, max_size=5))
def test_lists_are_located_like_single_events(encoder: Encoder, events: list[dict[str, Any]]) -> None:
    located, refused = encoder.many(events)
    why = dict(refused)
    assert list(why) == sorted(why)
    for row, event in enumerate(events):
        try:
            alone = encoder.one(event)
            dimensions, low, high, multi = encoder._careful(event_from(event, encoder.limits))
        except EventError as bad:
            kind: type | None = type(bad)
        else:
            kind = None
        assert type(why.pop(row, None)) is (kind or type(None))
        if kind is not None:
            assert _entries(located, row) == set()
            continue
        assert _entries(located, row) == _entries(alone, 0) == set(zip(dimensions, low, high, strict=True))
        assert bool(located.multi[row]) == multi
    assert not why


_keys = st.sampled_from(["a", "b", "zz", "é", "n" * 300, "naïve"])


@given(st.lists(st.lists(st.tuples(_keys, st.integers(-3, 5)), max_size=4, unique_by=lambda kv: kv[0])))
def test_maps_are_located_like_dictionaries(encoder: Encoder, pairs: list[list[tuple[str, int]]]) -> None:
    table = pa.table({"m": pa.array(pairs, pa.map_(pa.string(), pa.int64()))})
    for kind in (pa.int64(), pa.float32(), pa.uint64()) if all(v >= 0 for p in pairs for _, v in p) else ():
        _same(encoder, pa.table({"m": table["m"].cast(pa.map_(pa.string(), kind))}), pairs)
    _same(encoder, table, pairs)


def _same(encoder: Encoder, table: pa.Table, pairs: list[list[tuple[str, int]]]) -> None:
    located, refused = encode_table(encoder, table)
    expected, errors = encoder.many([dict(p) for p in pairs])
    assert [(row, str(bad)) for row, bad in refused] == [(row, str(bad)) for row, bad in errors]
    for row in range(len(pairs)):
        assert _entries(located, row) == _entries(expected, row)


def test_nested_maps_have_dotted_names() -> None:
    index = Index.build({"s": 'm.x.k = 1 AND "m.x.é" = 2'})
    maps = pa.array([[("k", 1), ("é", 2)], [("k", 1)], None], pa.map_(pa.string(), pa.int64()))
    nested = pa.table({"m": pa.StructArray.from_arrays([maps], ["x"])})
    assert index.match_many(nested)["event"].to_pylist() == [0]


@given(st.lists(st.text(max_size=20), unique=True), st.lists(st.text(max_size=20)))
@pytest.mark.kernels
def test_names_are_found_by_their_bytes(names: list[str], keys: list[str]) -> None:
    names = [name for name in names if name.isprintable()]
    keys = [key for key in keys if key.isprintable()] + names[::2]
    found = NameTable(string_column(names)).find(pa.array(keys, pa.string()), 12)
    if all(key.isascii() and len(key) <= 12 for key in keys):
        assert found is not None
        assert found.tolist() == [names.index(key) if key in names else -1 for key in keys]
    else:
        assert found is None


def test_slices_and_large_strings_are_read_alike() -> None:
    table = NameTable(string_column(["a", "bb", "ccc"]))
    keys = pa.array(["x", "bb", "a", "ccc", "cc"], pa.large_string())
    assert np.array_equal(table.find(keys, 9), [-1, 1, 0, 2, -1])
    assert np.array_equal(table.find(keys.slice(1, 3).cast(pa.string()), 9), [1, 0, 2])
    assert np.array_equal(table.find(keys.slice(2, 2), 9), [0, 2])


@pytest.mark.parametrize("limit", ["event_attributes", "event_values"])
def test_limits_apply_to_each_event(limit: str) -> None:
    index = Index.build({"s": "a = 1"}, limits=Limits(**{limit: 3}))
    few, many = {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3, "d": 4}
    table = pa.table(
        {"m": pa.array([list(few.items()), list(many.items())], pa.map_(pa.string(), pa.int64()))}
    )
    columns = pa.Table.from_pylist([few, many], pa.schema([(name, pa.int64()) for name in "abcd"]))
    for events in (table, columns, [few, many] if limit == "event_attributes" else columns):
        (batch,) = index.match_batches(events)
        assert [row for row, _ in batch.refused] == [1]
        assert batch.table["event"].to_pylist() == [0]


@pytest.mark.parametrize(
    "column",
    [
        [5, 5, 6, 4, 5],  # close together: searched once each
        [2**63 - 1] * 3 + [2**63 - 2],
        [-(2**63)] * 3 + [-(2**63) + 1],
        [-(2**63), 2**63 - 1, 0],  # far apart
        [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, 2**53],
        [],
    ],
)
def test_integer_column_matches_like_its_values(column: list[int]) -> None:
    edges = [4, 5, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 2, 2**63 - 1, -(2**63), -(2**63) + 1]
    index = Index.build({f"{sign}{edge}": f"n {sign} {edge}" for edge in edges for sign in ("=", "<", ">=")})
    pairs = index.match_many(pa.table({"n": pa.array(column, pa.int64())}))
    found = list(
        zip(pairs.column("event").to_pylist(), pairs.column("subscription").to_pylist(), strict=True)
    )
    assert sorted(found) == sorted(
        (at, name) for at, n in enumerate(column) for name in index.match({"n": n})
    )
