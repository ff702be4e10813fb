"""Test loops of ``psthash`` that whole books seldom reach."""

from __future__ import annotations

import random
from math import comb

import numpy as np
import pytest

from tamis.engines import output
from tamis.engines.psthash._kernels import MOST, combinations, without_repeats
from tests.kernels.arrays import Clause, Entry, Literal, as_clauses, as_located, engine_over, pairs_of

pytestmark = pytest.mark.kernels


def test_combinations_are_counted_up_to_a_bound() -> None:
    for size in (2, 3, 4):
        for count in range(40):
            assert combinations(np.int64(count), size) == comb(count, size)
        assert combinations(np.int64(10**7), size) == min(comb(10**7, size), MOST)


def test_repeats_are_removed_and_the_order_is_kept() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        before = [7, 7, 7]
        clauses = [chance.randrange(chance.choice([3, 50, 2**31])) for _ in range(chance.randrange(60))]
        array = np.array(before + clauses, np.int64)
        end = without_repeats(array, 3, len(array))
        assert array[:end].tolist() == before + list(dict.fromkeys(clauses))


@pytest.mark.parametrize("several", [False, True], ids=["plain", "general"])
def test_events_with_very_many_values_fill_the_output(several: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more combinations than clauses, all hashed clauses are checked, and each is found once."""
    monkeypatch.setattr(output, "FIRST_ROOM", 1)
    count = 60
    book: list[Clause] = [[Literal(n, 0, [(1, 1)]), Literal(n + 1, 0, [(1, 1)])] for n in range(count)]
    book += [[] for _ in range(30)]
    engine, owner = engine_over("psthash", as_clauses(book, [3] * (count + 1)), {})
    event = [Entry(d, 1, 1) for d in range(count + 1)] + ([Entry(5, 3, 3)] if several else [])
    events = as_located([event])
    assert bool(events.multi[0]) == several
    assert pairs_of(engine, owner, events) == {(0, n) for n in range(len(book))}
    found = engine.candidates(events)
    assert len(found.clause) == len(book)


def test_clause_is_found_once_when_two_keys_share_a_bucket() -> None:
    """Two hundred buckets take thousands of pairs, so keys must share buckets."""
    dimensions = 30
    pairs = [(a, b) for a in range(dimensions) for b in range(a + 1, dimensions)]
    book: list[Clause] = [[Literal(a, 0, [(1, 1)]), Literal(b, 0, [(1, 1)])] for a, b in pairs]
    book += book  # so that the combinations of an event do not outnumber the clauses
    engine, _ = engine_over("psthash", as_clauses(book, [2] * dimensions), {})
    found = engine.candidates(as_located([[Entry(d, 1, 1) for d in range(dimensions)]]))
    assert found.visited == len(pairs)
    assert found.probed > len(book), "no two keys share a bucket: the test tests nothing"
    assert sorted(found.clause.tolist()) == list(range(len(book)))
