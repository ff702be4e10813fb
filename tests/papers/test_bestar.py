"""Test the BE*-Tree: its structural properties, its rules, and how much it prunes.

The paper's figures are drawings without numbers, so the tests hold its text, tables and algorithms.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tamis.engines.bestar.cut._kernels import NONE as NO_CUT
from tamis.engines.bestar.cut._kernels import approximate_cut, cut_of, exhaustive_cut
from tamis.engines.bestar.engine import BEStar
from tamis.engines.bestar.keys import capacity_for
from tamis.engines.bestar.nodes import (
    APPROXIMATE,
    BEGIN,
    COUNT,
    DIM,
    EXHAUSTIVE,
    HI,
    LEFT,
    LO,
    P_COUNT,
    P_DIM,
    P_DIRECTORY,
    P_FIRST,
    RIGHT,
    RIGID,
    ROOT,
)
from tests.kernels.arrays import (
    Clause,
    Entry,
    Literal,
    as_clauses,
    as_located,
    engine_over,
    range_on,
    ranges_book,
)

pytestmark = pytest.mark.kernels
Ranges = list[tuple[int, int]]


# ---------------------------------------------------------------------------------------------- splitting
def both_orders(ranges: Ranges) -> Any:
    lo, hi = (np.array([pair[side] for pair in ranges], np.int64) for side in (0, 1))
    by_lo, by_hi = np.argsort(lo, kind="stable"), np.argsort(hi, kind="stable")
    return lo, hi, by_lo, by_hi


def exhaustive(ranges: Ranges, least: int) -> int:
    lo, hi, by_lo, by_hi = both_orders(ranges)
    return int(exhaustive_cut(lo[by_lo], hi[by_lo], hi[by_hi], lo[by_hi], least))


def sides(ranges: Ranges, cut: int) -> tuple[Ranges, Ranges, Ranges]:
    """Return left, overlap and right."""
    left, right = [r for r in ranges if r[1] <= cut], [r for r in ranges if r[0] > cut]
    return left, [r for r in ranges if r[0] <= cut < r[1]], right


def length(ranges: Ranges) -> int:
    return max(r[1] for r in ranges) - min(r[0] for r in ranges) + 1 if ranges else 0


def covered(*parts: Ranges) -> int:
    hulls = [range(min(r[0] for r in part), max(r[1] for r in part) + 1) for part in parts if part]
    return len({cell for hull in hulls for cell in hull})


def test_exhaustive_splitting_finds_the_least_overlap_then_the_least_coverage() -> None:
    """Try every cut, measure overlap and coverage of the three buckets, and compare with the definition."""
    for seed in range(150):
        chance = random.Random(seed)
        lows = [chance.randint(1, 40) for _ in range(chance.randint(2, 16))]
        ranges = [(low, low + chance.choice([0, 0, 1, 3, 9])) for low in lows]
        least = chance.choice([1, 1, 2, 3])
        scores = {}
        for cut in range(50):
            left, overlap, right = sides(ranges, cut)
            if min(len(left), len(right)) >= least:
                scores[cut] = length(overlap), covered(left, overlap, right), abs(len(left) - len(right))
        found = exhaustive(ranges, least)
        assert (found == NO_CUT) == (not scores)
        if scores:
            assert scores[found] == min(scores.values()), (seed, ranges)


def test_approximate_splitting_fills_left_and_right_from_both_ends() -> None:
    ranges = [(1, 2), (2, 3), (3, 6), (5, 7), (6, 8), (8, 9)]
    lo, hi, by_lo, by_hi = both_orders(ranges)
    cut = int(approximate_cut(lo[by_lo], hi[by_hi], 1))
    assert sides(ranges, cut) == ([(1, 2), (2, 3)], [(3, 6)], [(5, 7), (6, 8), (8, 9)])
    for seed in range(100):
        chance = random.Random(seed)
        ranges = [(low, low + chance.randint(0, 6)) for low in chance.choices(range(1, 40), k=12)]
        lo, hi, by_lo, by_hi = both_orders(ranges)
        cut = int(approximate_cut(lo[by_lo], hi[by_hi], 1))
        if cut != NO_CUT:
            left, overlap, right = sides(ranges, cut)
            assert len(left) + len(overlap) + len(right) == 12
            assert max(r[1] for r in left) < min(r[0] for r in right)


@pytest.mark.parametrize("mode", [APPROXIMATE, EXHAUSTIVE])
def test_bucket_uses_space_clustering_when_data_cannot_split_it(mode: int) -> None:
    """Nine ranges overlap and one stands apart: it may split off with α = 10 %, not with more."""
    ranges = [(1, 20)] * 9 + [(30, 31)]
    lo, hi, by_lo, by_hi = both_orders(ranges)
    by_data = cut_of(by_lo, by_hi, 0, 10, lo, hi, 1, 31, 0.1, mode)
    assert [len(part) for part in sides(ranges, by_data)] == [9, 0, 1]
    by_space = cut_of(by_lo, by_hi, 0, 10, lo, hi, 1, 31, 0.2, mode)
    assert by_space == (1 + 31) // 2
    assert [len(part) for part in sides(ranges, by_space)] == [0, 9, 1]


def test_rigid_split_halves_the_space_wherever_the_data_lies() -> None:
    lo, hi, by_lo, by_hi = both_orders([(1, 2), (3, 4), (5, 6), (7, 8)])
    assert cut_of(by_lo, by_hi, 0, 4, lo, hi, 1, 1000, 0.1, RIGID) == 500


@pytest.mark.parametrize(
    ("probability", "capacity"),
    [(0.0, 5), (0.0099, 5), (0.01, 20), (0.0999, 20), (0.1, 160), (1.0, 160)],
)
def test_leaf_capacity_follows_the_match_probability(probability: float, capacity: int) -> None:
    """Table II(a)."""
    assert capacity_for(probability) == capacity


# ------------------------------------------------------------------------------------- the frozen tree
def frozen(book: list[Clause], cells: list[int], **parameters: Any) -> tuple[Any, Any, list[Clause]]:
    """Return c-nodes, p-nodes and the clauses in the order of the l-nodes."""
    engine, owner = engine_over("bestar", as_clauses(book, cells), parameters)
    engine.check()
    c_node, p_node = (engine._own[name].astype(np.int64) for name in ("c_node", "p_node"))
    return c_node, p_node, [book[n] for n in owner]


def inside(c: Any, p: Any, at: int) -> list[int]:
    """Return the places of all clauses in a bucket: its own and its children's."""
    own = list(range(c[at, BEGIN], c[at, BEGIN] + c[at, COUNT]))
    for n in range(c[at, P_FIRST], c[at, P_FIRST] + c[at, P_COUNT]):
        own += inside(c, p, p[n, P_DIRECTORY])
    for side in (LEFT, RIGHT):
        own += inside(c, p, c[at, side]) if c[at, side] != ROOT else []
    return own


BUILDS = [
    {"leaf": 3},
    {"leaf": 3, "split": APPROXIMATE},
    {"leaf": 1, "alpha": 0.5},
    {"leaf": 3, "incremental": 1},
    {"leaf": 2, "incremental": 1, "beta": 1.0},
]


@pytest.mark.parametrize("parameters", BUILDS, ids=str)
def test_buckets_are_minimal_and_siblings_repel_each_other(parameters: dict[str, Any]) -> None:
    for seed in range(4):
        c, p, book = frozen(ranges_book(random.Random(seed), 120), [60] * 6, **parameters)
        splits = 0
        for at in range(1, len(c)):
            held = [range_on(book[n], c[at, DIM]) for n in inside(c, p, at)]
            assert (c[at, LO], c[at, HI]) == (min(r[0] for r in held), max(r[1] for r in held))
            if c[at, LEFT] != ROOT and c[at, RIGHT] != ROOT:
                splits += 1
                left, right = c[c[at, LEFT]], c[c[at, RIGHT]]
                assert left[HI] < right[LO], "a point must not be able to enter both"
        assert splits > 5


@pytest.mark.parametrize("parameters", BUILDS, ids=str)
def test_partitions_use_a_dimension_once_on_every_path(parameters: dict[str, Any]) -> None:
    c, p, _ = frozen(ranges_book(random.Random(1), 150), [60] * 6, **parameters)

    def walk(at: int, used: frozenset[int]) -> None:
        for side in (LEFT, RIGHT):
            if c[at, side] != ROOT:
                walk(c[at, side], used)
        for n in range(c[at, P_FIRST], c[at, P_FIRST] + c[at, P_COUNT]):
            assert p[n, P_DIM] not in used
            walk(p[n, P_DIRECTORY], used | {p[n, P_DIM]})

    walk(ROOT, frozenset())


@pytest.mark.parametrize("split", [APPROXIMATE, EXHAUSTIVE])
def test_bucket_is_split_before_it_is_partitioned(split: int) -> None:
    c, p, book = frozen(ranges_book(random.Random(2), 200), [60] * 6, leaf=4, split=split)
    partitioned = [at for at in range(1, len(c)) if c[at, P_COUNT] and not c[at, LEFT] and not c[at, RIGHT]]
    for at in partitioned:  # not split, so neither half of its space could take a clause
        held = [range_on(book[n], c[at, DIM]) for n in inside(c, p, at)]
        middle = (c[at, LO] + c[at, HI]) >> 1
        assert all(low <= middle <= high for low, high in held)


def test_l_nodes_keep_their_capacity_while_a_dimension_is_left() -> None:
    for leaf in (1, 3, 10):
        c, _, book = frozen(ranges_book(random.Random(3), 200), [60] * 6, leaf=leaf)
        for row in c:
            if row[COUNT] > leaf:  # only if every clause has used up its dimensions
                spread = [book[n] for n in range(row[BEGIN], row[BEGIN] + row[COUNT])]
                assert len({tuple(range_on(clause, row[DIM])) for clause in spread}) < len(spread)


def test_most_popular_dimension_partitions_first() -> None:
    book: list[Clause] = [[Literal(0, 0, [(n % 9 + 1, n % 9 + 1)])] for n in range(30)]
    book = [[*clause, Literal(1, 0, [(1, 2)])] if n < 20 else clause for n, clause in enumerate(book)]
    c, p, _ = frozen(book, [9, 9], leaf=2, selectivity=0)
    top = p[c[ROOT, P_FIRST] : c[ROOT, P_FIRST] + c[ROOT, P_COUNT], P_DIM].tolist()
    assert top == [0]


def test_nodes_of_a_gap_without_values_are_not_entered() -> None:
    """Non-rigid clustering leaves dead space out; a rigid split enters it."""
    book: list[Clause] = [[Literal(0, 0, [(at, at + 1)])] for at in [*range(1, 60), *range(9_000, 9_060)]]
    probe = as_located([[Entry(0, at, at)] for at in (100, 4_000, 8_990)])
    engine, _ = engine_over("bestar", as_clauses(book, [10_000]), {"leaf": 5})
    found = engine.candidates(probe)
    assert (found.verified, found.visited) == (0, 3 * 3)  # the root, its p-node, the bucket around the gap
    rigid, _ = engine_over("bestar", as_clauses(book, [10_000]), {"leaf": 5, "split": RIGID})
    assert rigid.candidates(probe).visited > found.visited


# ------------------------------------------------------------------------------------------------ pruning
def clustered(chance: random.Random, count: int) -> list[Clause]:
    """Return narrow ranges around two places of a wide dimension, four of twelve dimensions each."""
    book = []
    for _ in range(count):
        chosen = sorted(chance.sample(range(12), 4))
        lows = [chance.choice([500, 90_000]) + chance.randint(0, 200) for _ in chosen]
        book.append(
            [Literal(d, 0, [(low, low + chance.randint(0, 8))]) for d, low in zip(chosen, lows, strict=True)]
        )
    return book


@pytest.mark.parametrize("incremental", [0, 1])
def test_clustered_values_cost_less_than_a_rigid_split(incremental: int) -> None:
    chance = random.Random(6)
    clauses = as_clauses(clustered(chance, 600), [100_000] * 12)
    events = [
        [Entry(d, place + chance.randint(0, 200), 0) for d in chance.sample(range(12), 6)]
        for place in chance.choices([500, 90_000], k=40)
    ]
    located = as_located([[Entry(d, lo, lo) for d, lo, _ in event] for event in events])
    work = {}
    for split in (RIGID, EXHAUSTIVE):
        engine, _ = engine_over("bestar", clauses, {"leaf": 5, "split": split, "incremental": incremental})
        work[split] = engine.candidates(located)
    assert work[EXHAUSTIVE].verified <= 0.65 * work[RIGID].verified
    assert work[EXHAUSTIVE].visited <= 0.65 * work[RIGID].visited
    assert work[EXHAUSTIVE].verified <= 40 * 600 / 20


def test_work_counts_nodes_and_clauses() -> None:
    book: list[Clause] = [[Literal(0, 0, [(1, 1)])], [Literal(1, 0, [(1, 1)])]]
    engine, _ = engine_over("bestar", as_clauses(book, [2, 2]), {"leaf": 1})
    assert isinstance(engine, BEStar)
    found = engine.candidates(as_located([[Entry(1, 1, 1)]]))
    assert found.probed == found.verified  # every clause of an l-node is checked
    assert found.verified in (1, 2)
    nothing = engine.candidates(as_located([[]]))
    assert nothing.visited == 1  # the root


def test_long_p_directory_is_searched_by_the_events_dimensions() -> None:
    """The search looks up the event's dimensions; one with several values is looked up once."""
    book: list[Clause] = [[Literal(d, 0, [(1, 3)])] for d in range(200) for _ in range(2)]
    engine, _ = engine_over("bestar", as_clauses(book, [9] * 200), {"leaf": 1})
    found = engine.candidates(as_located([[Entry(7, 2, 2), Entry(7, 5, 6), Entry(9, 1, 1), Entry(9, 7, 7)]]))
    assert len(found.clause) == found.verified == 4
    assert found.visited == 1 + 2 + 2  # the root, two p-nodes, their buckets
