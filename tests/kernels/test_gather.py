"""Test the kernels that gather lists: ids of subscriptions, owners of clauses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index
from tamis.columns.literals import string_column
from tamis.segment import _kernels as k

pytestmark = pytest.mark.kernels

names = st.lists(st.text(max_size=9), min_size=1, max_size=8)


@given(names, st.lists(st.integers(0, 7), max_size=20))
def test_chosen_strings_stand_end_to_end(strings: list[str], places: list[int]) -> None:
    column, chosen = string_column(strings), np.array([p % len(strings) for p in places], np.int64)
    expected = [strings[at] for at in chosen]
    start = np.empty(len(chosen) + 1, np.int32)
    size = k.sizes_of(chosen, column.start, start)
    assert start.tolist() == [0, *np.cumsum([len(text.encode()) for text in expected])]
    out = np.empty(size, np.uint8)
    k.take_lists(chosen, column.start, column.data, start, out)
    assert out.tobytes() == "".join(expected).encode()
    length = np.diff(column.start)
    packed = np.zeros((len(strings), 5), np.uint64)
    k.pack_strings(column.start, column.data, packed)
    again, words = np.empty(len(chosen) + 1, np.int32), np.empty(size // 8 + 1, np.uint64)
    assert k.total_length(chosen, length) == size
    k.take_packed(chosen, packed, length, again, words)
    assert again.tolist() == start.tolist()
    assert words.view(np.uint8)[:size].tobytes() == out.tobytes()


def test_more_lists_than_a_chunk_are_gathered() -> None:
    column = string_column([str(n) for n in range(700)])
    chosen = np.arange(699, -1, -1)
    start = np.empty(701, np.int32)
    out = np.empty(k.sizes_of(chosen, column.start, start), np.uint8)
    k.take_lists(chosen, column.start, column.data, start, out)
    assert out.tobytes().decode() == "".join(str(n) for n in range(699, -1, -1))


def test_values_repeat_as_often_as_their_lists_are_long() -> None:
    out = np.empty(4, np.int64)
    k.repeat(np.array([7, 8, 9]), np.array([0, 1, 1, 4]), out)
    assert out.tolist() == [7, 9, 9, 9]


@pytest.mark.parametrize("size", [1, 16, 17, 40])
def test_ids_of_any_length_are_those_of_the_matches(size: int) -> None:
    ids = [f"é{n:0{size}d}"[-size:] for n in range(9)]
    rows = {name: f"a = 1 AND b < {n // 2}" for n, name in enumerate(dict.fromkeys(ids))}
    index = Index.build(rows)
    events = pa.table({"a": [1, 2, 1], "b": [0, 0, 2]})
    found = index.match_many(events, threads=1).to_pylist()
    for at, event in enumerate(events.to_pylist()):
        assert sorted(row["subscription"] for row in found if row["event"] == at) == sorted(
            index.match(event)
        )
