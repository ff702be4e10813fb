"""Test top-k of ``hybrid`` and ``auto`` on books that are large enough to prune and to give up pruning."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Subscription
from tamis.expression.predicates import Between, Compare, Exists
from tamis.expression.tree import And, Expr, Not, Or
from tamis.values.event import Event
from tamis.values.value import Interval
from tests.duel.test_top_k import sorted_and_cut
from tests.engines import per_layout

LAYOUTS: list[tuple[str, dict[str, Any]]] = [
    ("hybrid", {}),
    ("hybrid", {"pairs": 2, "crowd": 0, "beside": 3}),
    ("hybrid", {"pairs": 0, "crowd": 0, "most_blocks": 1}),
    ("auto", {}),
]
NAMES = "abcdef"
SIZE = 250


def zipf_weight(chance: random.Random) -> float:
    """Return 1, 1/2, 1/3 …, small ones more often, so that many scores are equal."""
    return 1.0 / chance.randint(1, chance.choice([1, 4, 40]))


def conjunction(chance: random.Random, width: int) -> Expr:
    """Return ranges on some attributes, now and then with a part that absence satisfies."""
    parts: list[Expr] = []
    for name in chance.sample(NAMES, chance.randint(1, 4)):
        low, weight = chance.randint(0, 9), zipf_weight(chance)
        kind = chance.randrange(12)
        if kind == 0:
            parts.append(Not(Compare(name, "=", low, weight)))
        elif kind == 1:
            parts.append(Exists(name, negated=True, weight=weight))
        elif kind == 2:
            parts.append(Compare(name, "!=", low, 0.0))
        else:
            parts.append(Between(name, low, low + chance.randint(0, width), weight=weight))
    return And(tuple(parts))


def drawn_book(chance: random.Random) -> list[Subscription]:
    """Return conjunctions and a few disjunctions; all, some or none of them have a priority."""
    width, prioritised = chance.choice([0, 2, 9]), chance.choice([0.0, 0.1, 1.0])
    book = []
    for n in range(SIZE):
        one = conjunction(chance, width)
        expression = Or((one, conjunction(chance, width))) if chance.random() < 0.05 else one
        priority = chance.choice([-1.0, 0.5, 2.0]) if chance.random() < prioritised else 0.0
        book.append(Subscription(f"s{n}", expression, priority))
    return book


def drawn_event(chance: random.Random) -> Event:
    """Return a plain event, or one with several values and intervals, with or without weights."""
    general = chance.random() < 0.3
    attributes: dict[str, Any] = {}
    for name in chance.sample(NAMES, chance.randint(2, 6)):
        low = chance.randint(0, 9)
        attributes[name] = (low,)
        if general:
            attributes[name] = chance.choice([(low, low + 3), (Interval(low, low + 2),), (low,)])
    weights = {
        name: chance.choice([0.0, 0.3, 1.0, 3.0, 3.0, -1.0 if chance.random() < 0.2 else 1.0])
        for name in chance.sample(NAMES, chance.choice([0, 0, 2]))
    }
    return Event(attributes, weights=weights)


@pytest.mark.parametrize(("engine", "parameters"), LAYOUTS, ids=str)
@per_layout
@given(st.integers(0, 1 << 32), st.integers(1, 15))
def test_top_k_of_a_large_book_equals_sorting(
    engine: str, parameters: dict[str, Any], seed: int, k: int
) -> None:
    chance = random.Random(seed)
    book = drawn_book(chance)
    index = Index.build(book, engine=engine, parameters=parameters)
    removed = {held.id for held in chance.sample(book, chance.choice([0, 20]))}
    for name in removed:
        index.remove(name)
    left = [held for held in book if held.id not in removed]
    some = [held for held in left if held.id.startswith("s1")]
    for _ in range(12):  # more than a search by bounds may fail in a row
        event = drawn_event(chance)
        assert index.top_k(event, k) == sorted_and_cut(left, event, k, sum)
        assert index.top_k(event, k, combine=max) == sorted_and_cut(left, event, k, max)
        assert index.top_k(event, k, prefix="s1") == sorted_and_cut(some, event, k, sum)
