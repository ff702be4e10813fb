"""Test ``bitmatrix``: its rows decide or doubt, its summaries prune, and its memory keeps to a bound."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index
from tamis.engines.bitmatrix.layout._kernels import FIXED, ROW, SLAB, blocks_of, grain_of
from tests.duel.expected import match_one_by_one, pairs_of
from tests.engines import PARAMETERS, per_engine
from tests.kernels.arrays import Clause, Entry, Literal, as_clauses, as_located, engine_over, ranges_book

pytestmark = pytest.mark.kernels

NAMES = st.sampled_from("abc")
SMALL = st.integers(0, 12)
plain_conditions = st.one_of(
    st.builds("{} BETWEEN {} AND {}".format, NAMES, SMALL, SMALL),
    st.builds("{} >= {}".format, NAMES, SMALL),
    st.builds("{} != {}".format, NAMES, SMALL),
    st.builds("NOT {} IN ({}, {})".format, NAMES, SMALL, SMALL),
    st.builds("{} NOT BETWEEN 2 AND {}".format, NAMES, st.integers(2, 12)),
)
other_conditions = st.sampled_from(
    [
        "t LIKE 'a%'",
        "t LIKE '%a%b%'",
        "NOT t LIKE '%b'",
        "t HAS 'wool'",
        "t HAS PHRASE 'red wool'",
        "t RLIKE '^r'",
        "a IS NULL",
        "NOT b IS NULL",
    ]
)
conditions = plain_conditions | other_conditions
conjunctions = st.lists(conditions, min_size=1, max_size=4).map(" AND ".join)
trees = st.one_of(
    conjunctions,
    st.lists(conditions, min_size=2, max_size=3).map(" OR ".join),
    st.builds("NOT ({} OR {}) AND ({} OR {})".format, *[conditions] * 4),
)
numbers: st.SearchStrategy[Any] = SMALL | st.lists(SMALL, max_size=3)
intervals = st.builds(lambda low, wide: {"$interval": [low, low + wide]}, SMALL, st.integers(0, 6))
texts = st.sampled_from(["abc", "red wool", "b", "axb", ""])
events = st.fixed_dictionaries(
    {}, optional={"a": numbers, "b": numbers | intervals, "c": numbers, "t": texts, "unknown": SMALL}
)


@per_engine
@given(
    st.lists(trees, min_size=1, max_size=12),
    st.lists(trees, max_size=4),
    st.lists(events, min_size=1, max_size=6),
    st.sets(st.integers(0, 11)),
    st.sampled_from(PARAMETERS["bitmatrix"]),
)
def test_bitmatrix_agrees_with_scan_beside_removed_and_fresh_subscriptions(
    book: list[str], fresh: list[str], batch: list[Any], gone: set[int], parameters: dict[str, int]
) -> None:
    rows = {f"s{n}": text for n, text in enumerate(book)}
    index = Index.build(rows, engine="bitmatrix", parameters=parameters)
    scan = Index.build(rows, engine="scan")
    for one in (index, scan):
        for n in sorted(gone):
            if f"s{n}" in one:
                one.remove(f"s{n}")
        one.add({f"f{n}": text for n, text in enumerate(fresh)})
    index.check()
    assert match_one_by_one(index, batch) == match_one_by_one(scan, batch)
    assert pairs_of(index.match_many(batch)) == pairs_of(scan.match_many(batch))


def wide_book(count: int) -> dict[str, str]:
    """Return subscriptions of three ranges over a fifth of 100 values, on three of six attributes."""
    chance = random.Random(count)
    rows = {}
    for n in range(count):
        chosen = [(name, chance.randrange(81)) for name in chance.sample("abcdef", 3)]
        rows[f"s{n}"] = " AND ".join(f"{name} BETWEEN {low} AND {low + 19}" for name, low in chosen)
    return rows


@pytest.mark.compiled  # some thousand clauses
def test_rows_decide_ranges_and_summaries_skip_slabs() -> None:
    """Twelve slabs: an event visits fewer than half of them, and no literal is checked."""
    rows = wide_book(12 * SLAB)
    index, scan = (Index.build(rows, engine=name) for name in ("bitmatrix", "scan"))
    event = dict.fromkeys("abcdef", 5)
    found = index.match(event)
    assert sorted(found) == sorted(scan.match(event))
    assert found.work.verified == 0
    assert found.work.candidates == len(found)
    assert 1 <= found.work.visited <= 6
    assert index.match({"a": 5}).work.candidates == 0


@pytest.mark.compiled  # some thousand clauses
def test_coarse_blocks_leave_a_few_doubtful_clauses_to_check() -> None:
    rows = wide_book(SLAB)
    event = dict.fromkeys("abcdef", 42)
    exact, coarse = (
        Index.build(rows, engine="bitmatrix", parameters={"cells": cells}).match(event) for cells in (256, 16)
    )
    assert sorted(exact) == sorted(coarse)
    assert len(exact) <= coarse.work.verified <= 8 * len(exact)


@pytest.mark.compiled  # some thousand clauses
def test_batch_and_single_events_count_the_same_work() -> None:
    index = Index.build(wide_book(5 * SLAB), engine="bitmatrix")
    chance = random.Random(3)
    batch = [{name: chance.randrange(100) for name in "abcdef"} for _ in range(40)]
    together = next(iter(index.match_batches(batch))).work
    alone = [index.match(event).work for event in batch]
    for count in ("candidates", "verified", "visited", "matches"):
        assert getattr(together, count) == sum(getattr(work, count) for work in alone), count


@pytest.mark.compiled  # some thousand clauses
def test_quick_way_of_bitmatrix_finds_more_matches_than_it_has_room_for() -> None:
    rows = {f"s{n}": f"a <= {n % 50}" for n in range(200)} | {f"t{n}": "b IS NULL" for n in range(5_000)}
    index = Index.build(rows, engine="bitmatrix")
    (layer,) = index._writer.current.layers
    assert layer.segment.one is not None
    assert layer.segment.one.find({"a": 3}) is not None
    assert len(index.match({"a": 3})) == 5_000 + 4 * 47


@pytest.mark.compiled  # some thousand clauses
@pytest.mark.parametrize("bytes_each", [16, 64, 512])
def test_memory_keeps_to_its_bound(bytes_each: int) -> None:
    """Blocks become coarser first. Then columns are left out, and their clauses are doubtful."""
    chance = random.Random(7)
    cells = [300] * 40
    book = ranges_book(chance, 2 * SLAB, 40, 300)
    engine, _ = engine_over("bitmatrix", as_clauses(book, cells), {"bytes_each": bytes_each})
    engine.check()
    arrays = engine._arena.group("engine.")
    assert arrays["matrix"].nbytes <= max(bytes_each, 256 * 64 // SLAB) * len(book)
    events = as_located([[Entry(d, at, at) for d in range(40)] for at in (1, 30, 60)])
    found = engine.candidates(events)
    if bytes_each == 16:
        assert len(np.unique(arrays["column"][:, 0])) == 40
        assert found.verified > len(found.clause)


def test_dimensions_beyond_the_bound_get_no_column() -> None:
    dimensions = 200
    book: list[Clause] = [[Literal(d, 0, [(1, 1)])] for d in range(dimensions)]
    engine, owner = engine_over("bitmatrix", as_clauses(book, [2] * dimensions), {"bytes_each": 16})
    assert len(np.unique(engine._arena["engine.column"][:, 0])) < dimensions
    found = engine.candidates(as_located([[Entry(d, 1, 1)] for d in range(dimensions)]))
    assert owner[found.clause].tolist() == found.event.tolist() == list(range(dimensions))


def test_grain_is_the_smallest_that_fits() -> None:
    for cells in (1, 2, 7, 8, 9, 255, 256, 257, 65_536, 2**31):
        for most in (1, 2, 8, 256):
            grain = grain_of(np.int64(cells), most)
            assert blocks_of(np.int64(cells), grain) <= most
            assert grain == 0 or blocks_of(np.int64(cells), grain - 1) > most


def test_row_of_a_slab_is_a_cache_line_with_its_absence_and_several_literals() -> None:
    book: list[Clause] = [[Literal(0, 0, [(2, 3)])], [Literal(0, 0, [(1, 2)]), Literal(0, 0, [(2, 2)])], []]
    engine, _ = engine_over("bitmatrix", as_clauses(book, [3]), {})
    matrix = engine._arena["engine.matrix"].reshape(-1, ROW)
    assert engine._arena.block.ctypes.data % 64 == 0
    order = engine._arena["clauses.owner"].tolist()
    words = [{order[bit] for bit in range(3) if int(row[0]) >> bit & 1} for row in matrix[: 3 + FIXED]]
    assert words == [{2}, {2}, {0, 1, 2}, {0, 2}, {1}]
