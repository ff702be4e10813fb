"""Top-k as the BE*-Tree paper has it: weight summaries, both prunings, early termination."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tamis.index.bestar.nodes import BEGIN, COUNT, P_DIRECTORY
from tamis.index.bestar.top._kernels import drop_first, push, sizes_below
from tamis.index.protocol import Wanted, Weights
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
INFINITY = float("inf")


def random_weights(chance: random.Random, book: list[Clause]) -> list[tuple[dict[int, float], float, float]]:
    """Per clause: the weight of each attribute (its dimensions), a rest, a priority."""
    return [
        (
            {
                literal.dimension: chance.choice([0.0, 0.5, 1.0, 3.0])
                for literal in clause
                if not literal.flags
            },
            chance.choice([0.0, 0.0, 0.5]),
            chance.choice([0.0, 0.0, 2.0, -1.0]),
        )
        for clause in book
    ]


def as_weights(parts: list[tuple[dict[int, float], float, float]], owner: Any) -> Weights:
    parts = [parts[n] for n in owner]
    weight = np.array([sum(by.values()) + rest for by, rest, _ in parts])
    priority = np.array([last for _, _, last in parts])
    start = np.cumsum([0, *(len(by) for by, _, _ in parts)])
    attribute = np.array([d for by, _, _ in parts for d in sorted(by)], np.int64)
    share = np.array([by[d] for by, _, _ in parts for d in sorted(by)])
    rest = np.array([rest for _, rest, _ in parts])
    return Weights(weight + priority, weight, priority, rest, start, attribute, share)


def score(part: tuple[dict[int, float], float, float], weights: dict[int, float], greatest: float) -> float:
    by, rest, priority = part
    return sum(weights.get(d, 1.0) * value for d, value in by.items()) + greatest * rest + priority


@pytest.mark.parametrize(
    "parameters", [{"leaf": 1}, {"leaf": 3, "incremental": 1}, {"leaf": 2, "split": 0}], ids=str
)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
def test_nothing_that_reaches_the_threshold_is_left_out(parameters: dict[str, Any], plain: bool) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        cells = [chance.choice([1, 5, 30]) for _ in range(chance.randint(1, 6))]
        book = [random_clause(chance, cells) for _ in range(60)]
        engine, owner = engine_over("bestar", as_clauses(book, cells), parameters)
        parts = random_weights(chance, book)
        ranking = engine.ranking(as_weights(parts, owner))
        for weighted in (False, True):
            event = random_event(chance, cells, plain)
            has = sorted({entry.dimension for entry in event})
            weights = {d: chance.choice([0.0, 0.25, 1.0, 4.0]) if weighted else 1.0 for d in has}
            greatest = max([1.0, *weights.values()])
            wanted = Wanted(np.array(has, np.int64), np.array([weights[d] for d in has]), weighted, greatest)
            agenda = engine.best(as_located([event]), ranking, wanted)
            threshold, found = -INFINITY, []
            limits = sorted(chance.choice([-2.0, 0.0, 0.5, 1.0, 2.0, 3.5]) for _ in range(40))
            for limit in limits:
                clauses = owner[agenda.more(threshold, 2)].tolist()
                found += clauses
                threshold = max(threshold, limit) if clauses else threshold
            while len(more := agenda.more(threshold, 1000)):
                found += owner[more].tolist()
            true = [n for n, clause in enumerate(book) if holds(clause, event)]
            due = {n for n in true if score(parts[n], weights, greatest) >= threshold}
            assert due <= set(found) <= set(true)
            assert len(found) == len(set(found))


def test_candidates_come_with_falling_bounds_and_the_walk_ends_early() -> None:
    """A p-node for every clause, each heavier than the one before."""
    book: list[Clause] = [[Literal(d, 0, [(1, 9)])] for d in range(36)]
    engine, owner = engine_over("bestar", as_clauses(book, [9] * 36), {"leaf": 1})
    parts: Any = [({n: float(n)}, 0.0, 0.0) for n in range(36)]
    ranking = engine.ranking(as_weights(parts, owner))
    every = Wanted(np.arange(36), np.ones(36), False, 1.0)
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


def test_an_attribute_that_the_event_lacks_does_not_raise_a_bound() -> None:
    """uscore counts the event's attributes alone: the heavy clauses all need attribute 2."""
    book: list[Clause] = [[Literal(0, 0, [(n % 9 + 1, 9)]), Literal(2, 0, [(1, 1)])] for n in range(40)]
    book += [[Literal(1, 0, [(1, 9)])] for _ in range(3)]
    engine, owner = engine_over("bestar", as_clauses(book, [9, 9, 9]), {"leaf": 2, "selectivity": 0})
    parts: Any = [({0: 1.0, 2: 100.0}, 0.0, 0.0)] * 40 + [({1: 2.0}, 0.0, 0.0)] * 3
    ranking = engine.ranking(as_weights(parts, owner))
    event = as_located([[Entry(0, 9, 9), Entry(1, 5, 5)]])
    for weight in (1.0, 0.5):
        wanted = Wanted(np.array([0, 1]), np.full(2, weight), weight != 1.0, 1.0)
        agenda = engine.best(event, ranking, wanted)
        assert sorted(owner[agenda.more(-INFINITY, 1)].tolist()) == [40, 41, 42]
        assert agenda.work[1] == 3
        assert len(agenda.more(2.0 * weight, 1)) == 0
        assert agenda.work[1] == 3, "the partition of attribute 0 was entered"


def test_the_heap_gives_the_highest_bound_first() -> None:
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
