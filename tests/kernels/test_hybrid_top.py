"""Test the search of ``hybrid`` for the best matches: order, early end, giving up, and when it pays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tamis.engines.hybrid.top._kernels import EACH, FEW, PATIENCE, cut_below, sort_lists
from tamis.engines.hybrid.top.ranking import CONFIDENCE, RETRY, Experience, medians, pays
from tamis.engines.protocol import Weights
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
from tests.kernels.weights import Parts, as_wanted, as_weights, random_weights, score

pytestmark = pytest.mark.kernels
INFINITY = float("inf")
NEVER = 1 + 2  # NEGATIVE and ABSENT_OK: a clause of these alone is residual
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"pairs": 0, "crowd": 0, "most_blocks": 1},
    {"pairs": 2, "crowd": 2, "beside": 3},
]


def handed_out(agenda: Any, owner: Any, limits: list[float]) -> tuple[list[int], float]:
    """Return the subscriptions that an agenda hands out while the threshold rises, and the last threshold."""
    threshold, found = -INFINITY, []
    for limit in limits:
        clauses = owner[agenda.more(threshold, 2)].tolist()
        found += clauses
        threshold = max(threshold, limit) if clauses else threshold
    while len(more := agenda.more(threshold, 1000)):
        found += owner[more].tolist()
    return found, threshold


def frequent(chance: random.Random) -> tuple[list[Clause], list[int], list[Entry]]:
    """Return clauses of all kinds, the cells of their dimensions, and an event that meets many of them."""
    cells = [chance.choice([1, 2, 30]) for _ in range(chance.randint(1, 6))]
    return [random_clause(chance, cells) for _ in range(400)], cells, random_event(chance, cells, plain=True)


def rare(chance: random.Random) -> tuple[list[Clause], list[int], list[Entry]]:
    """Return clauses and an event that meets a third of their postings, and satisfies one in hundreds."""
    book: list[Clause] = [
        [Literal(d, 0, [(cell, cell)]) for d, cell in enumerate(chance.choices([1, 2, 3], k=6))]
        for _ in range(400)
    ]
    event = [Entry(d, cell, cell) for d, cell in enumerate(chance.choices([1, 2, 3], k=6))]
    book += [[Literal(d, 0, [(cell, cell)]) for d, cell, _ in event]] * 3
    return book, [3] * 6, event


@pytest.mark.parametrize("parameters", LAYOUTS, ids=str)
@pytest.mark.parametrize("kind", [frequent, rare], ids=["frequent", "rare"])
def test_every_match_above_the_threshold_is_handed_out(kind: Any, parameters: dict[str, Any]) -> None:
    searches = given_up = 0
    for seed in range(12):
        chance = random.Random(seed)
        book, cells, event = kind(chance)
        engine, owner = engine_over("hybrid", as_clauses(book, cells), parameters)
        parts = random_weights(chance, book)
        ranking = engine.ranking(as_weights(parts, owner))
        for weighted in (False, True) if ranking else ():
            has = {entry.dimension for entry in event}
            weights = {d: chance.choice([0.0, 0.25, 1.0, 4.0]) if weighted else 1.0 for d in has}
            agenda = engine.best(as_located([event]), ranking, as_wanted(weights, weighted))
            limits = sorted(chance.choice([-2.0, 0.0, 0.5, 1.0, 2.0, 3.5]) for _ in range(20))
            found, threshold = handed_out(agenda, owner, limits)
            true = [n for n, clause in enumerate(book) if holds(clause, event)]
            greatest = max([1.0, *weights.values()])
            due = {n for n in true if score(parts[n], weights, greatest) >= threshold}
            assert due <= set(found) <= set(true)
            assert len(found) == len(set(found))
            assert len(agenda.more(threshold, 1)) == 0
            searches, given_up = searches + 1, given_up + (agenda._rest is not None)
    assert searches > 10
    assert given_up == searches if kind is rare else given_up < searches - 5


def equal_clauses(count: int) -> tuple[Any, Any]:
    """Return an engine over clauses that all hold for the same event, in two lists, and their owners."""
    book: list[Clause] = [
        [Literal(n % 2, 0, [(5, 5)]), Literal(2, 0, [(1, 1 + n % 9)])] for n in range(count)
    ]
    return engine_over("hybrid", as_clauses(book, [9, 9, 9]), {"pairs": 0})


EVENT = [Entry(0, 5, 5), Entry(1, 5, 5), Entry(2, 1, 1)]
EVERY = as_wanted({0: 1.0, 1: 1.0, 2: 1.0}, False)


def test_clauses_come_in_the_order_of_their_bounds_and_the_search_ends_early() -> None:
    engine, owner = equal_clauses(200)
    parts: list[Parts] = [({2: float(n)}, 0.0, 0.0) for n in range(200)]
    ranking = engine.ranking(as_weights(parts, owner))
    agenda = engine.best(as_located([EVENT]), ranking, EVERY)
    assert owner[agenda.more(-INFINITY, 1)].tolist() == [199]
    assert agenda.work[0] <= 2 * FEW
    assert owner[agenda.more(197.0, 5)].tolist() == [198, 197], "a bound that equals the threshold counts"
    assert len(agenda.more(197.0, 5)) == 0
    assert agenda.work[0] <= 4 * FEW
    assert agenda.work[2] >= 2
    agenda = engine.best(as_located([EVENT]), ranking, EVERY)
    order = []
    while len(more := agenda.more(-INFINITY, 7)):
        order += owner[more].tolist()
    assert order == list(range(199, -1, -1))
    assert agenda.work[0] == 200


def test_scratch_memory_is_clean_after_a_search() -> None:
    engine, owner = equal_clauses(200)
    ranking = engine.ranking(as_weights([({2: float(n)}, 0.0, 0.0) for n in range(200)], owner))
    for threshold in (-INFINITY, INFINITY):
        agenda = engine.best(as_located([EVENT]), ranking, EVERY)
        agenda.more(-INFINITY, 1)
        while len(agenda.more(threshold, 1000)):
            pass
        (buffers,) = engine.scratch._free
        assert not buffers.cell.any()
        assert not buffers.table.any()


def test_search_finds_all_when_matches_are_rare() -> None:
    book, cells, event = rare(random.Random(1))
    engine, owner = engine_over("hybrid", as_clauses(book, cells), {"pairs": 0})
    ranking = engine.ranking(as_weights([({0: float(n)}, 0.0, 0.0) for n in range(len(book))], owner))
    true = [n for n, clause in enumerate(book) if holds(clause, event)]
    wanted = as_wanted({0: 1.0}, False)
    agenda = engine.best(as_located([event]), ranking, wanted)
    assert owner[agenda.more(-INFINITY, 1)].tolist() == true[-1:]
    assert owner[agenda.more(-INFINITY, 9)].tolist() == true[-2::-1]
    assert len(agenda.more(-INFINITY, 9)) == 0
    every = engine.candidates(as_located([event])).probed
    assert every < agenda.work[0] <= every + PATIENCE + EACH * len(true) + FEW
    for _ in range(CONFIDENCE):
        agenda = engine.best(as_located([event]), ranking, wanted)
        while agenda and len(agenda.more(-INFINITY, 9)):
            pass
    assert agenda is None, "a search by bounds should not be tried again at once"


def test_residual_clauses_are_searched_by_bound() -> None:
    book: list[Clause] = [[Literal(n % 3, NEVER, [(9, 9)])] for n in range(150)]
    engine, owner = engine_over("hybrid", as_clauses(book, [9, 9, 9]), {})
    parts: list[Parts] = [({}, 0.0, float(n)) for n in range(150)]
    ranking = engine.ranking(as_weights(parts, owner))
    agenda = engine.best(as_located([[Entry(0, 9, 9)]]), ranking, EVERY)
    assert owner[agenda.more(-INFINITY, 2)].tolist() == [149, 148]
    assert owner[agenda.more(145.0, 9)].tolist() == [146, 145], "the event denies clause 147"
    assert len(agenda.more(145.0, 9)) == 0
    assert agenda.work[:2] == (5, 5)


def test_bound_covers_owners_that_differ() -> None:
    """One owner has weight 20 and priority -10, another weight 1 and priority 5: 2 * 20 - 10 is 30."""
    engine, owner = equal_clauses(160)
    count = len(owner)
    weight, priority = np.full(count, 1.0), np.arange(count, dtype=np.float64)
    total = weight + priority
    at = int(np.flatnonzero(owner == 7)[0])
    total[at], weight[at], priority[at] = 10.0, 20.0, 5.0
    none = np.zeros(0, np.int64)
    weights = Weights(total, weight, priority, weight, np.zeros(count + 1, np.int64), none, np.zeros(0))
    ranking = engine.ranking(weights)
    agenda = engine.best(as_located([EVENT]), ranking, as_wanted({0: 2.0}, True))
    found, _ = handed_out(agenda, owner, [30.0] * 160)
    assert 7 in found


def test_order_sorts_each_list_and_keeps_equals_in_order() -> None:
    order = np.arange(7)
    sort_lists(np.array([0, 4, 4, 5, 7], np.uint32), np.array([3.0, 1.0, 3.0, 2.0, 9.0, 1.0, 1.0]), order)
    assert order.tolist() == [1, 3, 0, 2, 4, 5, 6]


def test_cut_keeps_bounds_that_reach_the_threshold() -> None:
    bound = np.array([9.0, 7.0, 7.0, 5.0, 1.0])
    assert [cut_below(0, 5, bound, 1.0, 0.0, t) for t in (9.0, 8.0, 7.0, 5.5, 1.0, -INFINITY)] == [
        1, 1, 3, 3, 5, 5,
    ]  # fmt: skip
    assert cut_below(1, 5, bound, 2.0, 1.0, 11.0) == 4


@pytest.mark.parametrize(
    ("bound", "size", "expected"),
    [
        ([], [], False),
        ([1.0] * 100, [1] * 100, False),
        ([float(n % 5) for n in range(100)], [n % 5 for n in range(100)], False),
        ([float(n) for n in range(100)], [1] * 100, True),
        ([1.0] * 90 + [float(n) for n in range(2, 12)], [1] * 100, True),
        ([1.0 + n * 1e-12 for n in range(100)], [1] * 100, False),
        ([0.0] * 50 + [1.0] * 50, [1] * 100, True),
        ([0.0] * 40 + [1.0] * 60, [1] * 100, False),
    ],
    ids=["empty", "equal", "by size", "all differ", "some priorities", "nearly equal", "half", "most"],
)
def test_ranking_pays_if_bounds_differ(bound: list[float], size: list[int], expected: bool) -> None:
    assert pays(np.array(bound), np.array(size, np.int64)) == expected


def test_medians_are_those_of_the_group() -> None:
    found = medians(np.array([5.0, 1.0, 9.0, 4.0, 8.0]), np.array([0, 0, 0, 3, 3]))
    assert found.tolist() == [5.0, 5.0, 5.0, 8.0, 8.0]


def test_experience_stops_searches_that_fail_and_tries_again() -> None:
    experience = Experience()
    for _ in range(CONFIDENCE):
        assert experience.advises()
        experience.learn(False)
    assert [experience.advises() for _ in range(2 * RETRY)].count(True) == 2
    experience.learn(True)
    assert experience.advises()


def test_general_event_has_no_agenda() -> None:
    engine, owner = equal_clauses(200)
    ranking = engine.ranking(as_weights([({2: float(n)}, 0.0, 0.0) for n in range(200)], owner))
    assert engine.best(as_located([[Entry(0, 5, 5), Entry(0, 7, 7)]]), ranking, EVERY) is None
