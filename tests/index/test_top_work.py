"""Test the work of top-k: ``hybrid`` reads few postings if weights differ, else hardly more than a match."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tamis import Index
from tamis.index.work import WorkReport

SIZE = 3_000
FEWER = 0.3  # of the work of finding all


def book(weight: Any) -> dict[str, str]:
    """Return searches in twenty cities, whose prices most events meet; ``weight`` draws their weights."""
    chance = random.Random(7)
    return {
        f"s{n}": f"city = {chance.randrange(20)} ^ {weight(chance):.6f} "
        f"AND price <= {chance.randint(40, 99)} ^ {weight(chance):.6f} "
        f"AND rooms >= {chance.randint(0, 3)} ^ {weight(chance):.6f}"
        for n in range(SIZE)
    }


def zipf(chance: random.Random) -> float:
    """Return weights that follow Zipf's law: 1 / rank."""
    return float(1.0 / chance.choices(range(1, 101), [1.0 / rank for rank in range(1, 101)])[0])


def one(chance: random.Random) -> float:
    """Return the same weight for all."""
    return 1.0


EVENTS = [{"city": n % 20, "price": 30 + n, "rooms": 2 + n % 2} for n in range(40)]


def work_of(search: Any) -> WorkReport:
    """Return the work of searches for all events."""
    total = WorkReport()
    for event in EVENTS:
        total = total.plus(search(event).work)
    return total


@pytest.mark.parametrize("engine", ["hybrid", "auto"])
@pytest.mark.parametrize("k", [1, 10])
def test_best_match_takes_a_fraction_of_the_work_when_weights_follow_zipf(engine: str, k: int) -> None:
    index = Index.build(book(zipf), engine=engine)
    every, best = work_of(index.match), work_of(lambda event: index.top_k(event, k))
    assert every.matches > 50 * len(EVENTS)
    assert best.candidates <= FEWER * every.candidates
    assert best.verified <= FEWER * every.verified
    assert best.matches <= FEWER * every.matches


@pytest.mark.parametrize("engine", ["hybrid", "auto"])
def test_best_match_takes_the_work_of_all_when_weights_are_equal(engine: str) -> None:
    index = Index.build(book(one), engine=engine)
    every, best = work_of(index.match), work_of(lambda event: index.top_k(event, 1))
    assert best == every


def test_search_by_bounds_is_left_when_matches_are_rare() -> None:
    chance = random.Random(5)
    rows = {
        f"s{n}": " AND ".join(f"a{at} = {chance.randrange(3)} ^ {zipf(chance):.6f}" for at in range(6))
        for n in range(SIZE)
    }
    index = Index.build(rows)
    events = [{f"a{at}": chance.randrange(3) for at in range(6)} for _ in range(200)]
    every = sum(index.match(event).work.candidates for event in events)
    best = sum(index.top_k(event, 1).work.candidates for event in events)
    assert every > 100 * len(events)
    assert best <= 1.05 * every
