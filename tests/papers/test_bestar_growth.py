"""Test the BE*-Tree while it grows and shrinks: insertions, deletions, raised buckets, recycling."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from tamis.engines.bestar.growth import Rules, Tree
from tamis.engines.bestar.growth.tables import (
    BOX,
    BOX_DIM,
    BOX_HI,
    BOX_LO,
    BOX_OWN_HI,
    BOX_OWN_LO,
    LEVEL,
    LOST,
    NONE,
    P_NEXT,
    P_RANK,
    TOTAL,
)
from tamis.engines.bestar.growth.use._kernels import walk
from tamis.engines.bestar.keys import capacity_for, keys_of, match_probability
from tamis.engines.bestar.nodes import (
    APPROXIMATE,
    BEGIN,
    COUNT,
    EXHAUSTIVE,
    HI,
    LEFT,
    LO,
    P_DIM,
    P_DIRECTORY,
    P_FIRST,
    RIGHT,
    RIGID,
    ROOT,
)
from tamis.engines.units import Statistics, units_of
from tests.kernels.arrays import (
    Clause,
    Entry,
    Literal,
    as_clauses,
    holds,
    random_clause,
    random_event,
    range_on,
    ranges_book,
)

pytestmark = pytest.mark.kernels
Ranges = list[tuple[int, int]]


# ---------------------------------------------------------------------------------------------- splitting
def grown(
    book: list[Clause],
    cells: list[int],
    *,
    leaf: int = 0,
    beta: float = 4.0,
    split: int = EXHAUSTIVE,
    selectivity: bool = True,
) -> Tree:
    """Return an empty tree for the clauses of a book."""
    clauses = as_clauses(book, cells)
    units = units_of(clauses, Statistics(clauses))
    rules = Rules(leaf or capacity_for(match_probability(units)), 0.1, beta, split)
    return Tree(keys_of(units, selectivity), clauses.cells, rules)


class Found(NamedTuple):
    """The matches of a batch, and the work."""

    pairs: list[tuple[int, int]]
    checked: int
    visited: int


def matched(tree: Tree, book: list[Clause], batch: list[list[Entry]]) -> Found:
    """Match events, and count the clauses checked in vain as the head does."""
    work, pairs, checked = np.zeros(4, np.int64), [], 0
    todo, hits, homes = np.empty((3, 1000), np.int64)
    for e, event in enumerate(batch):
        first, last = np.zeros(100, np.int64), np.full(100, -1, np.int64)
        for entry in event:
            known = last[entry.dimension] >= 0
            first[entry.dimension] = min(first[entry.dimension], entry.lo) if known else entry.lo
            last[entry.dimension] = max(last[entry.dimension], entry.hi)
        nodes = tree.nodes
        count = walk(nodes.c, nodes.p, nodes.after, first, last, todo, hits, homes, work)
        checked += count
        for clause, home in zip(hits[:count].tolist(), homes[:count].tolist(), strict=True):
            if holds(book[clause], event):
                pairs.append((e, clause))
            else:
                nodes.c[home, LOST] += 1
    return Found(pairs, checked, int(work[3]))


def check_growing(tree: Tree, book: list[Clause]) -> None:
    """Check counts, bounds on active and inactive dimensions, and repelling siblings exhaustively."""
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
            expected = {(e, n) for e, event in enumerate(batch) for n in present if holds(book[n], event)}
            assert set(matched(tree, book, batch).pairs) == expected
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
    expected = {(e, n) for e, event in enumerate(batch) for n in range(1, 120, 2) if holds(book[n], event)}
    assert set(matched(tree, book, batch).pairs) == expected


def test_clause_is_inserted_once_and_deleted_once() -> None:
    tree = grown([[Literal(0, 0, [(1, 1)])]], [3])
    tree.insert([0, 0])
    tree.insert([0])
    assert len(tree) == 1
    assert 0 in tree
    tree.delete(0)
    with pytest.raises(KeyError):
        tree.delete(0)


def test_deleting_a_wide_expression_lets_its_buckets_shrink() -> None:
    """Section IV-B gives this pathological case: a range over everything comes and goes."""
    narrow: list[Clause] = [[Literal(0, 0, [(at, at)]), Literal(1, 0, [(at, at)])] for at in range(40, 60)]
    book = [*narrow, [Literal(0, 0, [(1, 100)]), Literal(1, 0, [(1, 100)])]]
    tree = grown(book, [100, 100], leaf=2, beta=1e9)
    tree.insert(range(20))
    outside = [[Entry(0, 5, 5), Entry(1, 5, 5)]]
    before = matched(tree, book, outside).visited
    tree.insert([20])
    assert matched(tree, book, outside).visited > before
    tree.delete(20)
    assert matched(tree, book, outside).visited == before
    check_growing(tree, book)


def directory(tree: Tree) -> int:
    """Return the root bucket of the only p-node of the root."""
    return int(tree.nodes.p[tree.nodes.c[ROOT, P_FIRST], P_DIRECTORY])


def test_beta_raises_a_new_bucket_above_the_old() -> None:
    """Section V-A2: an expression that makes a split bucket β times larger becomes its parent."""
    book: list[Clause] = [[Literal(0, 0, [(at, at)])] for at in range(100, 110)]
    book += [[Literal(0, 0, [(100, 139)])], [Literal(0, 0, [(100, 140)])]]
    tree = grown(book, [1000], leaf=2, beta=4.0)
    tree.insert(range(10))
    old = directory(tree)
    assert (tree.nodes.c[old, LO], tree.nodes.c[old, HI]) == (100, 109)
    tree.insert([10])  # 40 cells: exactly four times as large
    assert directory(tree) == old
    tree.delete(10)
    tree.insert([11])  # 41 cells
    upper = directory(tree)
    assert upper != old
    assert tree.nodes.c[upper, LEFT] == old
    assert (tree.nodes.c[old, LO], tree.nodes.c[old, HI]) == (100, 109)
    assert (tree.nodes.c[upper, LO], tree.nodes.c[upper, HI]) == (100, 140)
    check_growing(tree, book)


def test_raised_bucket_takes_a_sibling() -> None:
    book: list[Clause] = [[Literal(0, 0, [(at, at)])] for at in range(100, 110)]
    book += [[Literal(0, 0, [(90, 300)])], [Literal(0, 0, [(200, 201)])], [Literal(0, 0, [(95, 96)])]]
    tree = grown(book, [1000], leaf=2)
    tree.insert(range(13))
    upper = directory(tree)
    left, right = tree.nodes.c[upper, LEFT], tree.nodes.c[upper, RIGHT]
    assert (tree.nodes.c[right, LO], tree.nodes.c[right, HI]) == (200, 201)
    assert tree.nodes.c[left, LO] == 95
    check_growing(tree, book)


def test_underflowing_leaf_joins_its_open_parent() -> None:
    book: list[Clause] = [[Literal(0, 0, [(at, at)])] for at in (1, 2, 8, 9)]
    tree = grown(book, [9], leaf=3)
    tree.insert(range(4))
    root = directory(tree)
    assert tree.nodes.c[root, LEFT] != ROOT
    tree.delete(0)
    assert tree.nodes.c[root, LEFT] == ROOT
    assert tree.nodes.c[root, COUNT] == 1
    check_growing(tree, book)


def test_atomic_bucket_is_partitioned_and_indivisible_clauses_stay_together() -> None:
    same: list[Clause] = [[Literal(0, 0, [(3, 3)]), Literal(1, 0, [(4, 4)])] for _ in range(20)]
    tree = grown(same, [9, 9], leaf=2)
    tree.insert(range(20))
    check_growing(tree, same)
    c, p, order, _ = tree.freeze()
    assert sorted(order.tolist()) == list(range(20))
    assert c[:, COUNT].max() == 20
    assert p[:, P_DIM].tolist() == [0, 1]


def test_ranks_fall_with_false_candidates_and_low_partitions_are_recycled() -> None:
    """Dimension 0 separates nothing, dimension 1 does; popularity cannot know, a window of events can."""
    book: list[Clause] = [[Literal(0, 0, [(1, 1)]), Literal(1, 0, [(at, at)])] for at in range(1, 9)]
    book.append([Literal(2, 0, [(1, 1)])])
    tree = grown(book, [2, 50, 2], leaf=8, selectivity=False)
    tree.insert(range(9))
    partition = int(tree.nodes.c[ROOT, P_FIRST])
    assert (tree.nodes.p[partition, P_DIM], tree.nodes.p[partition, P_RANK]) == (0, 8)  # gain, no loss yet
    assert tree.recycle() == 0
    events = [[Entry(0, 1, 1), Entry(1, at, at)] for at in range(5, 25)]
    before = matched(tree, book, events)
    tree.learn(len(events))
    # Twenty events checked eight expressions each, and four of them matched one.
    assert tree.nodes.p[partition, P_RANK] == 8 - (20 * 8 - 4) // 20
    assert tree.recycle() == 1
    assert tree.nodes.p[tree.nodes.c[ROOT, P_FIRST], P_DIM] == 1
    check_growing(tree, book)
    after = matched(tree, book, events)
    assert after.pairs == before.pairs == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert after.checked == before.checked - 16 * 8  # beyond cell 8, dimension 1 keeps everything away


def test_recycling_takes_whole_subtrees() -> None:
    chance = random.Random(9)
    book = ranges_book(chance, 80, dimensions=4)
    tree = grown(book, [60] * 4, leaf=2)
    tree.insert(range(80))
    event = [[Entry(d, 30, 30) for d in range(4)]]
    expected = matched(tree, book, event).pairs
    tree.learn(1)
    assert tree.recycle(2.0) > 1  # every partition
    check_growing(tree, book)
    assert sorted(matched(tree, book, event).pairs) == sorted(expected)
