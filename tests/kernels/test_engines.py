"""Test engines over bare arrays against their naive twin: every layout, integer width, full buffers."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import pytest

from tamis.engines import output
from tamis.engines.engines import NAMES as ENGINES
from tamis.engines.presearch.layout._kernels import subtree_ends
from tamis.space.located import Located
from tests.engines import LAYOUTS
from tests.kernels.arrays import (
    Clause,
    Entry,
    Literal,
    as_clauses,
    as_located,
    engine_over,
    holds,
    pairs_of,
    random_clause,
    random_event,
)

pytestmark = pytest.mark.kernels
layouts = pytest.mark.parametrize(("name", "parameters"), LAYOUTS, ids=str)


def check(name: str, parameters: dict[str, int], book: list[Clause], cells: list[int], batch: Any) -> None:
    expected = {
        (row, at) for row, event in enumerate(batch) for at, clause in enumerate(book) if holds(clause, event)
    }
    engine, owner = engine_over(name, as_clauses(book, cells), parameters)
    engine.check()
    assert pairs_of(engine, owner, as_located(batch)) == expected
    assert pairs_of(engine, owner, as_located(batch)) == expected, "the second call found something left over"


@layouts
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
def test_engines_agree_with_the_twin_in_small_spaces(
    name: str, parameters: dict[str, int], plain: bool
) -> None:
    for seed in range(6 if numba.config.DISABLE_JIT else 25):
        chance = random.Random(seed)
        cells = [chance.choice([1, 2, 5, 30]) for _ in range(chance.randint(1, 8))]
        book = [random_clause(chance, cells) for _ in range(chance.randint(0, 30))]
        batch = [random_event(chance, cells, plain) for _ in range(12)]
        check(name, parameters, book, cells, batch)


@layouts
def test_entries_of_a_plain_event_may_have_any_order(name: str, parameters: dict[str, int]) -> None:
    """Only events with several values are sorted by dimension."""
    for seed in range(10):
        chance = random.Random(seed)
        cells = [chance.choice([1, 2, 5, 30]) for _ in range(8)]
        book = [random_clause(chance, cells) for _ in range(40)]
        batch = as_located([random_event(chance, cells, plain=True) for _ in range(12)])
        engine, owner = engine_over(name, as_clauses(book, cells), parameters)
        expected = pairs_of(engine, owner, batch)
        for order in (reversed_entries(batch), shuffled_entries(batch, chance)):
            changed = batch._replace(**{f: getattr(batch, f)[order] for f in ("dimension", "lo", "hi")})
            assert pairs_of(engine, owner, changed) == expected


def reversed_entries(batch: Located) -> list[int]:
    """Return the places of all entries, those of each event backwards."""
    return [at for a, b in pairwise(batch.start.tolist()) for at in range(b - 1, a - 1, -1)]


def shuffled_entries(batch: Located, chance: random.Random) -> list[int]:
    """Return the places of all entries, those of each event in random order."""
    return [at for a, b in pairwise(batch.start.tolist()) for at in chance.sample(range(a, b), b - a)]


@layouts
def test_every_condition_of_a_long_clause_counts(name: str, parameters: dict[str, int]) -> None:
    """Clauses are longer than any engine keeps at hand, and events miss just one of their conditions."""
    for seed in range(1 if numba.config.DISABLE_JIT else 3):
        chance = random.Random(seed)
        cells = [chance.choice([2, 5, 30, 3000]) for _ in range(14)]
        lows = [[chance.randint(1, size // 2) for size in cells] for _ in range(6)]
        book = [
            [Literal(d, 0, [(low[d], low[d] + chance.choice([0, cells[d] // 2]))]) for d in range(14)]
            for low in lows
        ]
        met = [[Entry(d, low[d], low[d]) for d in range(14)] for low in lows]
        missed = [[*event[:d], *event[d + 1 :]] for event in met for d in range(14)]
        beside = [
            [entry._replace(lo=cells[d], hi=cells[d]) if entry.dimension == d else entry for entry in event]
            for event in met
            for d in range(14)
        ]
        check(name, parameters, book, cells, met + missed + beside)


@layouts
@pytest.mark.compiled  # interpreted kernels have no words of sixteen bits that could overflow
@pytest.mark.parametrize("most", [65_533, 65_534, 65_535, 65_536, 70_000, 200_000])
def test_engines_agree_for_cells_around_sixteen_bits(
    name: str, parameters: dict[str, int], most: int
) -> None:
    chance = random.Random(most)
    cells = [most, 3, most, 65_534]
    book = [random_clause(chance, cells) for _ in range(60)]
    book += [[Literal(0, 0, [(at, at)])] for at in (1, most - 1, most)]
    batch = [random_event(chance, cells, n % 2 == 0) for n in range(20)]
    batch += [[Entry(0, at, at), Entry(2, at, at)] for at in (1, 65_533, most - 1, most) if at <= most]
    assert as_clauses(book, cells).literal.dtype == (np.uint16 if most < 65_535 else np.uint32)
    check(name, parameters, book, cells, batch)


@layouts
@pytest.mark.compiled
@pytest.mark.parametrize("dimensions", [65_534, 65_535, 65_536, 70_000])
def test_engines_agree_for_dimensions_around_sixteen_bits(
    name: str, parameters: dict[str, int], dimensions: int
) -> None:
    chance = random.Random(dimensions)
    cells = [3] * dimensions
    ends = [0, 1, 65_533, 65_534, 65_535, dimensions - 1]
    near = [at for at in ends if at < dimensions]
    book = [[Literal(at, 0, [(1, 2)]) for at in sorted(set(chance.sample(near, 2)))] for _ in range(40)]
    batch = [[Entry(at, chance.randint(1, 3), 3) for at in near] for _ in range(3)]
    batch += [[Entry(at, 2, 2) for at in chance.sample(near, 3)] for _ in range(10)]
    check(name, parameters, book, cells, batch)


@layouts
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
def test_full_output_is_emptied_and_refilled(
    name: str, parameters: dict[str, int], plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "FIRST_ROOM", 1)
    chance = random.Random(7)
    cells = [4, 4]
    book: list[Clause] = [[Literal(0, 0, [(1, 4)])] for _ in range(90)]
    book += [[] for _ in range(40)] + [[Literal(1, 0, [(1, 3)])] for _ in range(60)]
    batch = [random_event(chance, cells, plain) for _ in range(20)]
    check(name, parameters, book, cells, batch)


@pytest.mark.parametrize("name", ["hybrid", "pstbloom", "psthash"])
def test_postings_beyond_the_first_hit_buffer_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.engines import scratch

    monkeypatch.setattr(scratch, "FIRST_HITS", 8)
    cells = [4]
    book: list[Clause] = [[Literal(0, 0, [(n % 4 + 1, 4)])] for n in range(100)]
    check(name, {}, book, cells, [[Entry(0, at, at)] for at in (1, 2, 3, 4)])


@pytest.mark.parametrize("name", ENGINES)
def test_engines_accept_nothing_to_index(name: str) -> None:
    check(name, {}, [], [], [[]])
    check(name, {}, [[], []], [2], [[], [Entry(0, 1, 1)]])


@layouts
def test_engines_agree_for_many_values_on_one_dimension(name: str, parameters: dict[str, int]) -> None:
    """Ranges, sets and joined conditions meet dozens of entries, scattered and side by side."""
    for seed in range(6):
        chance = random.Random(seed)
        cells = [400, 40]
        book = [random_clause(chance, cells) for _ in range(40)]
        batch = []
        for step in (1, 2, 7):
            places = range(chance.randint(1, 9), 400, step)
            batch.append(
                [Entry(0, at, at) for at in places] + [Entry(1, 5, 9), Entry(1, 9, 9), Entry(1, 30, 30)]
            )
        check(name, parameters, book, cells, batch)


@pytest.mark.parametrize("name", ENGINES)
def test_many_values_cost_little_each(name: str) -> None:
    """An event with thousands of values visits every posting once, not once per value."""
    cells = [4000]
    book: list[Clause] = [[Literal(0, 0, [(at, min(at + 9, 4000))])] for at in range(1, 4001, 4)]
    engine, _ = engine_over(name, as_clauses(book, cells), {})
    events = as_located([[Entry(0, at, at) for at in range(1, 4001, 3)]])
    found = engine.candidates(events)
    assert len(set(found.clause.tolist())) == len(book)
    assert found.verified <= 6 * len(book)


def test_subtrees_end_where_the_next_node_is_not_deeper() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        depth = [0]
        while len(depth) < 12:
            depth.append(chance.randrange(depth[-1] + 2))
        depth.append(0)
        found = np.empty(len(depth) - 1, np.int64)
        subtree_ends(np.array(depth, np.int64), found)
        expected = [
            next(later for later in range(at + 1, len(depth)) if depth[later] <= depth[at])
            for at in range(len(depth) - 1)
        ]
        assert found.tolist() == expected
