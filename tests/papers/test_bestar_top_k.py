"""Test the paper's top-k: weight summaries, both prunings, early termination."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tamis.engines.bestar.nodes import BEGIN, COUNT, P_DIRECTORY
from tamis.engines.bestar.top._kernels import sizes_below
from tamis.engines.order._kernels import drop_first, push
from tests.kernels.arrays import Clause, Entry, Literal, as_clauses, as_located, engine_over, random_clause
from tests.kernels.weights import as_wanted, as_weights, random_weights

pytestmark = pytest.mark.kernels
INFINITY = float("inf")


def test_candidates_have_falling_bounds_and_the_walk_ends_early() -> None:
    """There is a p-node for every clause, each heavier than the previous one."""
    book: list[Clause] = [[Literal(d, 0, [(1, 9)])] for d in range(36)]
    engine, owner = engine_over("bestar", as_clauses(book, [9] * 36), {"leaf": 1})
    parts: Any = [({n: float(n)}, 0.0, 0.0) for n in range(36)]
    ranking = engine.ranking(as_weights(parts, owner))
    every = as_wanted(dict.fromkeys(range(36), 1.0), False)
    event = as_located([[Entry(d, 5, 5) for d in range(36)]])
    agenda = engine.best(event, ranking, every)
    order = []
    while len(more := agenda.more(-INFINITY, 1)):
        order += owner[more].tolist()
    assert order == list(range(35, -1, -1))
    assert agenda.work[:2] == (36, 36)
    agenda = engine.best(event, ranking, every)
    assert owner[agenda.more(-INFINITY, 1)].tolist() == [35]
    assert owner[agenda.more(34.0, 5)].tolist() == [34], "what equals the threshold counts"
    assert len(agenda.more(34.0, 5)) == 0
    probed, verified, visited = agenda.work
    assert (probed, verified) == (2, 2)
    assert visited == 1 + 35 + 1  # the root, which holds clause 35 itself, its p-nodes, one bucket


def test_bound_ignores_attributes_that_the_event_lacks() -> None:
    """The bound uscore counts only the event's attributes: the heavy clauses all need attribute 2."""
    book: list[Clause] = [[Literal(0, 0, [(n % 9 + 1, 9)]), Literal(2, 0, [(1, 1)])] for n in range(40)]
    book += [[Literal(1, 0, [(1, 9)])] for _ in range(3)]
    engine, owner = engine_over("bestar", as_clauses(book, [9, 9, 9]), {"leaf": 2, "selectivity": 0})
    parts: Any = [({0: 1.0, 2: 100.0}, 0.0, 0.0)] * 40 + [({1: 2.0}, 0.0, 0.0)] * 3
    ranking = engine.ranking(as_weights(parts, owner))
    event = as_located([[Entry(0, 9, 9), Entry(1, 5, 5)]])
    for weight in (1.0, 0.5):
        wanted = as_wanted({0: weight, 1: weight}, weight != 1.0)
        agenda = engine.best(event, ranking, wanted)
        assert sorted(owner[agenda.more(-INFINITY, 1)].tolist()) == [40, 41, 42]
        assert agenda.work[1] == 3
        assert len(agenda.more(2.0 * weight, 1)) == 0
        assert agenda.work[1] == 3, "the partition of attribute 0 was entered"


def test_heap_gives_the_highest_bound_first() -> None:
    chance = random.Random(1)
    for size in range(1, 40):
        values = [chance.randint(0, 9) for _ in range(size)]
        bounds, items = np.zeros(size), np.zeros(size, np.int64)
        for n, value in enumerate(values):
            push(bounds, items, n, float(value), value)
        out = []
        for left in range(size, 0, -1):
            out.append(int(items[0]))
            assert bounds[0] == items[0]
            drop_first(bounds, items, left)
        assert out == sorted(values, reverse=True)


def test_summaries_hold_the_greatest_weight_of_each_attribute() -> None:
    chance = random.Random(2)
    book = [random_clause(chance, [9, 9, 9, 9]) for _ in range(80)]
    engine, owner = engine_over("bestar", as_clauses(book, [9] * 4), {"leaf": 2})
    parts = random_weights(chance, book)
    found = engine.ranking(as_weights(parts, owner)).summaries
    c, p = engine._own["c_node"].astype(np.int64), engine._own["p_node"].astype(np.int64)
    size = sizes_below(c, p)
    assert size[0] == 80 == c[:, COUNT].sum()
    for n, directory in enumerate(p[:, P_DIRECTORY].tolist()):
        below = [parts[owner[at]] for at in range(c[directory, BEGIN], c[directory, BEGIN] + size[directory])]
        expected: dict[int, float] = {}
        for by, _, _ in below:
            for d, value in by.items():
                expected[d] = max(value, expected.get(d, 0.0))
        run = slice(found.start[n], found.start[n + 1])
        assert dict(zip(found.attribute[run].tolist(), found.share[run].tolist(), strict=True)) == expected
        assert found.rest[n] == max(rest for _, rest, _ in below)
        assert found.priority[n] == max(priority for _, _, priority in below)
        assert found.of_directory[directory] == n
