"""The BE*-Tree: its structural properties, its rules, and how much it prunes.

The paper's figures are drawings without numbers; what its text, tables and algorithms state is held here.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tamis.index.bestar.cut._kernels import NONE as NO_CUT
from tamis.index.bestar.cut._kernels import approximate_cut, cut_of, exhaustive_cut
from tamis.index.bestar.engine import BEStar
from tamis.index.bestar.growth import Tree
from tamis.index.bestar.growth.tables import (
    BOX,
    BOX_DIM,
    BOX_HI,
    BOX_LO,
    BOX_OWN_HI,
    BOX_OWN_LO,
    LEVEL,
    NONE,
    P_NEXT,
    P_RANK,
    TOTAL,
)
from tamis.index.bestar.keys import capacity_for
from tamis.index.bestar.nodes import (
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
from tamis.index.statistics import Statistics
from tamis.index.units import units_of
from tests.kernels.arrays import (
    Clause,
    Entry,
    Literal,
    as_clauses,
    as_located,
    engine_over,
    holds,
    random_clause,
    random_event,
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
    """Left, overlap, right."""
    left, right = [r for r in ranges if r[1] <= cut], [r for r in ranges if r[0] > cut]
    return left, [r for r in ranges if r[0] <= cut < r[1]], right


def length(ranges: Ranges) -> int:
    return max(r[1] for r in ranges) - min(r[0] for r in ranges) + 1 if ranges else 0


def covered(*parts: Ranges) -> int:
    hulls = [range(min(r[0] for r in part), max(r[1] for r in part) + 1) for part in parts if part]
    return len({cell for hull in hulls for cell in hull})


def test_exhaustive_splitting_finds_the_least_overlap_then_the_least_coverage() -> None:
    """Against the definition: try every cut, measure overlap and coverage of the three buckets."""
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
def test_alpha_sends_a_bucket_that_data_cannot_split_to_space_clustering(mode: int) -> None:
    """Nine ranges hold together and one stands apart: with α = 10 % it may split off, with more not."""
    ranges = [(1, 20)] * 9 + [(30, 31)]
    lo, hi, by_lo, by_hi = both_orders(ranges)
    by_data = cut_of(by_lo, by_hi, 0, 10, lo, hi, 1, 31, 0.1, mode)
    assert [len(part) for part in sides(ranges, by_data)] == [9, 0, 1]
    by_space = cut_of(by_lo, by_hi, 0, 10, lo, hi, 1, 31, 0.2, mode)
    assert by_space == (1 + 31) // 2
    assert [len(part) for part in sides(ranges, by_space)] == [0, 9, 1]


def test_a_rigid_split_halves_the_space_wherever_the_data_lies() -> None:
    lo, hi, by_lo, by_hi = both_orders([(1, 2), (3, 4), (5, 6), (7, 8)])
    assert cut_of(by_lo, by_hi, 0, 4, lo, hi, 1, 1000, 0.1, RIGID) == 500


@pytest.mark.parametrize(
    ("probability", "capacity"),
    [(0.0, 5), (0.0099, 5), (0.01, 20), (0.0999, 20), (0.1, 160), (1.0, 160)],
)
def test_leaf_capacity_by_match_probability(probability: float, capacity: int) -> None:
    """Table II(a)."""
    assert capacity_for(probability) == capacity


# ------------------------------------------------------------------------------------- the frozen tree
def ranges_book(chance: random.Random, count: int, dimensions: int = 6, cells: int = 60) -> list[Clause]:
    """Conjunctions of two to four ranges on different dimensions."""
    book = []
    for _ in range(count):
        chosen = sorted(chance.sample(range(dimensions), chance.randint(2, min(4, dimensions))))
        lows = [chance.randint(1, cells - 8) for _ in chosen]
        book.append(
            [Literal(d, 0, [(low, low + chance.randint(0, 8))]) for d, low in zip(chosen, lows, strict=True)]
        )
    return book


def frozen(book: list[Clause], cells: list[int], **parameters: Any) -> tuple[Any, Any, list[Clause]]:
    """c-nodes, p-nodes and the clauses in the order of the l-nodes."""
    engine, owner = engine_over("bestar", as_clauses(book, cells), parameters)
    engine.check()
    c_node, p_node = (engine._own[name].astype(np.int64) for name in ("c_node", "p_node"))
    return c_node, p_node, [book[n] for n in owner]


def inside(c: Any, p: Any, at: int) -> list[int]:
    """The places of all clauses in a bucket: its own and its children's."""
    own = list(range(c[at, BEGIN], c[at, BEGIN] + c[at, COUNT]))
    for n in range(c[at, P_FIRST], c[at, P_FIRST] + c[at, P_COUNT]):
        own += inside(c, p, p[n, P_DIRECTORY])
    for side in (LEFT, RIGHT):
        own += inside(c, p, c[at, side]) if c[at, side] != ROOT else []
    return own


def range_on(clause: Clause, dimension: int) -> tuple[int, int]:
    return next(literal.ranges[0] for literal in clause if literal.dimension == dimension)


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
def test_partitions_use_a_dimension_once_on_every_way(parameters: dict[str, Any]) -> None:
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
def test_a_bucket_that_can_be_split_is_split_before_it_is_partitioned(split: int) -> None:
    c, p, book = frozen(ranges_book(random.Random(2), 200), [60] * 6, leaf=4, split=split)
    partitioned = [at for at in range(1, len(c)) if c[at, P_COUNT] and not c[at, LEFT] and not c[at, RIGHT]]
    for at in partitioned:  # not split, so no half of its space could take anything
        held = [range_on(book[n], c[at, DIM]) for n in inside(c, p, at)]
        middle = (c[at, LO] + c[at, HI]) >> 1
        assert all(low <= middle <= high for low, high in held)


def test_l_nodes_hold_no_more_than_their_capacity_while_a_dimension_is_left() -> None:
    for leaf in (1, 3, 10):
        c, _, book = frozen(ranges_book(random.Random(3), 200), [60] * 6, leaf=leaf)
        for row in c:
            if row[COUNT] > leaf:  # only if all of them have been asked about everything they have
                spread = [book[n] for n in range(row[BEGIN], row[BEGIN] + row[COUNT])]
                assert len({tuple(range_on(clause, row[DIM])) for clause in spread}) < len(spread)


def test_the_most_popular_dimension_partitions_first() -> None:
    book: list[Clause] = [[Literal(0, 0, [(n % 9 + 1, n % 9 + 1)])] for n in range(30)]
    book = [[*clause, Literal(1, 0, [(1, 2)])] if n < 20 else clause for n, clause in enumerate(book)]
    c, p, _ = frozen(book, [9, 9], leaf=2, selectivity=0)
    top = p[c[ROOT, P_FIRST] : c[ROOT, P_FIRST] + c[ROOT, P_COUNT], P_DIM].tolist()
    assert top == [0]


def test_without_values_in_a_gap_no_node_is_entered_there() -> None:
    """Non-rigid clustering leaves dead space out; a rigid split walks into it."""
    book: list[Clause] = [[Literal(0, 0, [(at, at + 1)])] for at in [*range(1, 60), *range(9_000, 9_060)]]
    probe = as_located([[Entry(0, at, at)] for at in (100, 4_000, 8_990)])
    engine, _ = engine_over("bestar", as_clauses(book, [10_000]), {"leaf": 5})
    found = engine.candidates(probe)
    assert (found.verified, found.visited) == (0, 3 * 3)  # the root, its p-node, the bucket around the gap
    rigid, _ = engine_over("bestar", as_clauses(book, [10_000]), {"leaf": 5, "split": RIGID})
    assert rigid.candidates(probe).visited > found.visited


# ----------------------------------------------------------------------------------------- the growing tree
def grown(book: list[Clause], cells: list[int], **parameters: Any) -> Tree:
    clauses = as_clauses(book, cells)
    return Tree(clauses, units_of(clauses, Statistics(clauses)), **parameters)


def check_growing(tree: Tree, book: list[Clause]) -> None:
    """Counts, bounds on active and inactive dimensions, and repelling siblings, by looking at everything."""
    c, p, box = tree.nodes.c, tree.nodes.p, tree.nodes.box

    def visit(at: int) -> list[int]:
        own, n = [], int(c[at, BEGIN])
        while n != NONE:
            assert tree.nodes.home[n] == at
            own.append(n)
            n = int(tree.nodes.after[n])
        assert len(own) == c[at, COUNT]
        n = int(c[at, P_FIRST])
        while n != NONE:
            below = visit(int(p[n, P_DIRECTORY]))
            assert below, "an empty partition"
            own += below
            n = int(p[n, P_NEXT])
        both = [visit(int(c[at, side])) for side in (LEFT, RIGHT) if c[at, side] != ROOT]
        everything = own + [n for part in both for n in part]
        assert len(everything) == c[at, TOTAL]
        for row in box[c[at, BOX] : c[at, BOX] + c[at, LEVEL]]:
            hull = [range_on(book[n], row[BOX_DIM]) for n in everything]
            assert (row[BOX_LO], row[BOX_HI]) == (min(r[0] for r in hull), max(r[1] for r in hull))
            hull = [range_on(book[n], row[BOX_DIM]) for n in own]
            if hull:
                least, most = min(r[0] for r in hull), max(r[1] for r in hull)
                assert (row[BOX_OWN_LO], row[BOX_OWN_HI]) == (least, most)
        if len(both) == 2 and tree.rules.mode != RIGID:
            assert c[c[at, LEFT], HI] < c[c[at, RIGHT], LO]
        return everything

    assert len(visit(ROOT)) == len(tree)


@pytest.mark.parametrize(
    "parameters",
    [{"leaf": 2}, {"leaf": 1, "beta": 1.0}, {"leaf": 3, "split": APPROXIMATE}, {"leaf": 2, "split": RIGID}],
    ids=str,
)
def test_insertions_and_deletions_keep_all_bounds_minimal(parameters: dict[str, Any]) -> None:
    for seed in range(3):
        chance = random.Random(seed)
        book = ranges_book(chance, 90, dimensions=4)
        tree = grown(book, [60] * 4, **parameters)
        present: set[int] = set()
        for _ in range(12):
            added = [n for n in chance.sample(range(90), 25) if n not in present]
            tree.insert(added)
            present.update(added)
            for n in chance.sample(sorted(present), len(present) // 3):
                tree.delete(n)
                present.discard(n)
            check_growing(tree, book)
            batch = [random_event(chance, [60] * 4, plain) for plain in (True, True, False)]
            found = tree.match(as_located(batch))
            expected = {(e, n) for e, event in enumerate(batch) for n in present if holds(book[n], event)}
            assert set(zip(found.event.tolist(), found.clause.tolist(), strict=True)) == expected
        for n in sorted(present):
            tree.delete(n)
        assert len(tree) == 0
        assert tree.nodes.c[ROOT, P_FIRST] == NONE


def test_literals_of_every_kind_can_be_inserted_and_deleted() -> None:
    chance = random.Random(4)
    cells = [1, 5, 30]
    book = [random_clause(chance, cells) for _ in range(120)]
    tree = grown(book, cells, leaf=1)
    tree.insert(range(120))
    for n in range(0, 120, 2):
        tree.delete(n)
    batch = [random_event(chance, cells, plain) for plain in (True, False) * 10]
    found = tree.match(as_located(batch))
    expected = {(e, n) for e, event in enumerate(batch) for n in range(1, 120, 2) if holds(book[n], event)}
    assert set(zip(found.event.tolist(), found.clause.tolist(), strict=True)) == expected


def test_a_clause_is_inserted_once_and_deleted_once() -> None:
    tree = grown([[Literal(0, 0, [(1, 1)])]], [3])
    tree.insert([0, 0])
    tree.insert([0])
    assert len(tree) == 1
    assert 0 in tree
    tree.delete(0)
    with pytest.raises(KeyError):
        tree.delete(0)


def test_deleting_a_wide_expression_lets_its_buckets_shrink() -> None:
    """The pathological case of section IV-B: a range over everything comes and goes."""
    narrow: list[Clause] = [[Literal(0, 0, [(at, at)]), Literal(1, 0, [(at, at)])] for at in range(40, 60)]
    book = [*narrow, [Literal(0, 0, [(1, 100)]), Literal(1, 0, [(1, 100)])]]
    tree = grown(book, [100, 100], leaf=2, beta=1e9)
    tree.insert(range(20))
    outside = as_located([[Entry(0, 5, 5), Entry(1, 5, 5)]])
    before = tree.match(outside).visited
    tree.insert([20])
    assert tree.match(outside).visited > before
    tree.delete(20)
    assert tree.match(outside).visited == before
    check_growing(tree, book)


def directory(tree: Tree) -> int:
    """The root bucket of the only p-node of the root."""
    return int(tree.nodes.p[tree.nodes.c[ROOT, P_FIRST], P_DIRECTORY])


def test_beta_raises_a_new_bucket_above_instead_of_stretching_the_old() -> None:
    """Section V-A2: an expression that makes a split bucket β times larger becomes its parent."""
    book: list[Clause] = [[Literal(0, 0, [(at, at)])] for at in range(100, 110)]
    book += [[Literal(0, 0, [(100, 139)])], [Literal(0, 0, [(100, 140)])]]
    tree = grown(book, [1000], leaf=2, beta=4.0)
    tree.insert(range(10))
    old = directory(tree)
    assert (tree.nodes.c[old, LO], tree.nodes.c[old, HI]) == (100, 109)
    tree.insert([10])  # 40 cells: four times as large, and no more
    assert directory(tree) == old
    tree.delete(10)
    tree.insert([11])  # 41 cells
    upper = directory(tree)
    assert upper != old
    assert tree.nodes.c[upper, LEFT] == old
    assert (tree.nodes.c[old, LO], tree.nodes.c[old, HI]) == (100, 109)
    assert (tree.nodes.c[upper, LO], tree.nodes.c[upper, HI]) == (100, 140)
    check_growing(tree, book)


def test_beside_a_raised_bucket_there_is_room_for_a_sibling() -> None:
    book: list[Clause] = [[Literal(0, 0, [(at, at)])] for at in range(100, 110)]
    book += [[Literal(0, 0, [(90, 300)])], [Literal(0, 0, [(200, 201)])], [Literal(0, 0, [(95, 96)])]]
    tree = grown(book, [1000], leaf=2)
    tree.insert(range(13))
    upper = directory(tree)
    left, right = tree.nodes.c[upper, LEFT], tree.nodes.c[upper, RIGHT]
    assert (tree.nodes.c[right, LO], tree.nodes.c[right, HI]) == (200, 201)
    assert tree.nodes.c[left, LO] == 95
    check_growing(tree, book)


def test_an_underflowing_leaf_joins_its_open_parent() -> None:
    book: list[Clause] = [[Literal(0, 0, [(at, at)])] for at in (1, 2, 8, 9)]
    tree = grown(book, [9], leaf=3)
    tree.insert(range(4))
    root = directory(tree)
    assert tree.nodes.c[root, LEFT] != ROOT
    tree.delete(0)
    assert tree.nodes.c[root, LEFT] == ROOT
    assert tree.nodes.c[root, COUNT] == 1
    check_growing(tree, book)


def test_an_atomic_bucket_is_partitioned_and_what_cannot_be_divided_stays_together() -> None:
    same: list[Clause] = [[Literal(0, 0, [(3, 3)]), Literal(1, 0, [(4, 4)])] for _ in range(20)]
    tree = grown(same, [9, 9], leaf=2)
    tree.insert(range(20))
    check_growing(tree, same)
    c, p, order, _ = tree.freeze()
    assert sorted(order.tolist()) == list(range(20))
    assert c[:, COUNT].max() == 20
    assert p[:, P_DIM].tolist() == [0, 1]


def test_ranks_fall_with_false_candidates_and_low_partitions_are_recycled() -> None:
    """Dimension 0 tells nothing apart, dimension 1 does; popularity cannot know, a window of events can."""
    book: list[Clause] = [[Literal(0, 0, [(1, 1)]), Literal(1, 0, [(at, at)])] for at in range(1, 9)]
    book.append([Literal(2, 0, [(1, 1)])])
    tree = grown(book, [2, 50, 2], leaf=8, window=20, selectivity=False)
    tree.insert(range(9))
    partition = int(tree.nodes.c[ROOT, P_FIRST])
    assert (tree.nodes.p[partition, P_DIM], tree.nodes.p[partition, P_RANK]) == (0, 8)  # gain, no loss yet
    assert tree.recycle() == 0
    events = [[Entry(0, 1, 1), Entry(1, at, at)] for at in range(5, 25)]
    before = tree.match(as_located(events[:19]))
    assert tree.nodes.p[partition, P_RANK] == 8  # the window is not full
    tree.match(as_located(events[19:]))
    # Twenty events looked at eight expressions each, four of them matched one.
    assert tree.nodes.p[partition, P_RANK] == 8 - (20 * 8 - 4) // 20
    assert tree.recycle() == 1
    assert tree.nodes.p[tree.nodes.c[ROOT, P_FIRST], P_DIM] == 1
    check_growing(tree, book)
    after = tree.match(as_located(events[:19]))
    assert after.clause.tolist() == before.clause.tolist() == [4, 5, 6, 7]
    assert after.verified == before.verified - 15 * 8  # beyond cell 8, dimension 1 keeps everything away


def test_recycling_takes_whole_subtrees() -> None:
    chance = random.Random(9)
    book = ranges_book(chance, 80, dimensions=4)
    tree = grown(book, [60] * 4, leaf=2, window=1)
    tree.insert(range(80))
    event = [[Entry(d, 30, 30) for d in range(4)]]
    expected = tree.match(as_located(event)).clause.tolist()
    assert tree.recycle(2.0) > 1  # every partition
    check_growing(tree, book)
    assert sorted(tree.match(as_located(event)).clause.tolist()) == sorted(expected)


# ------------------------------------------------------------------------------------------------ pruning
def clustered(chance: random.Random, count: int) -> list[Clause]:
    """Narrow ranges around two places of a wide dimension, four of twelve dimensions each."""
    book = []
    for _ in range(count):
        chosen = sorted(chance.sample(range(12), 4))
        lows = [chance.choice([500, 90_000]) + chance.randint(0, 200) for _ in chosen]
        book.append(
            [Literal(d, 0, [(low, low + chance.randint(0, 8))]) for d, low in zip(chosen, lows, strict=True)]
        )
    return book


@pytest.mark.parametrize("incremental", [0, 1])
def test_clustered_values_cost_less_than_with_a_rigid_split(incremental: int) -> None:
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
    assert found.probed == found.verified  # what an l-node holds is checked
    assert found.verified in (1, 2)
    nothing = engine.candidates(as_located([[]]))
    assert nothing.visited == 1  # the root


def test_a_long_p_directory_is_not_read_through() -> None:
    """The event's dimensions are looked up; one with several values is looked up once."""
    book: list[Clause] = [[Literal(d, 0, [(1, 3)])] for d in range(200) for _ in range(2)]
    engine, _ = engine_over("bestar", as_clauses(book, [9] * 200), {"leaf": 1})
    found = engine.candidates(as_located([[Entry(7, 2, 2), Entry(7, 5, 6), Entry(9, 1, 1), Entry(9, 7, 7)]]))
    assert len(found.clause) == found.verified == 4
    assert found.visited == 1 + 2 + 2  # the root, two p-nodes, their buckets
