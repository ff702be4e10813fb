"""Test top-k by bounds against sorting everything: all signs and sizes of weights, many equals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Subscription
from tamis.expression.predicates import Between, Compare, Exists, In
from tamis.expression.tree import And, Expr, Not, Or
from tamis.index.top import TopMatches
from tamis.values.event import Event
from tests.duel.test_top_k import sorted_and_cut
from tests.engines import LAYOUTS, per_layout

WEIGHTS = [0.0, 1.0, 1.0, 0.5, 0.25, 0.1, 3.0, 1e-9, 1e8, 1e295]
EVENT_WEIGHTS = [0.0, 1.0, 0.2, 0.6, 2.0, 1e5, -1.0, 1e9]
PRIORITIES = [0.0, 0.0, 0.0, 1.0, -2.5, 1e8, -1e200]
names = st.sampled_from("abcd")
cells = st.integers(0, 9)


@st.composite
def predicates(draw: st.DrawFn, weights: list[float]) -> Expr:
    """Draw ranges that small numbers often meet, and a few that absence satisfies."""
    name, low, weight = draw(names), draw(cells), draw(st.sampled_from(weights))
    kind = draw(st.sampled_from(["between", "between", "=", "<=", "in", "null", "!=", "exists"]))
    match kind:
        case "between":
            return Between(name, low, low + draw(st.integers(0, 6)), weight=weight)
        case "in":
            return In(name, (low, low + 2, low + 4), weight=weight)
        case "null":
            return Exists(name, negated=True, weight=weight)
        case "exists":
            return Exists(name, weight=weight)
    return Compare(name, kind, low, weight)  # type: ignore[arg-type]


@st.composite
def books(draw: st.DrawFn) -> list[Subscription]:
    """Draw mostly conjunctions with few different weights, so that many score alike."""
    weights = draw(st.lists(st.sampled_from(WEIGHTS), min_size=1, max_size=4))
    priorities = draw(st.lists(st.sampled_from(PRIORITIES), min_size=1, max_size=2))
    one = predicates(weights)
    conjunction = st.lists(one, min_size=2, max_size=4).map(lambda found: And(tuple(found)))
    tree = st.tuples(conjunction, conjunction, st.booleans()).map(
        lambda two: Or((two[0], Not(two[1]) if two[2] else two[1]))
    )
    book = draw(st.lists(conjunction | conjunction | conjunction | one | tree, min_size=1, max_size=40))
    return [Subscription(f"s{n}", e, draw(st.sampled_from(priorities))) for n, e in enumerate(book)]


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Draw events with one or several values each, with or without weights."""
    values = st.lists(cells, min_size=1, max_size=2, unique=True).map(tuple)
    attributes = draw(st.dictionaries(names, values, max_size=4))
    weights = draw(st.dictionaries(names, st.sampled_from(EVENT_WEIGHTS), max_size=4) | st.just({}))
    return Event(attributes, weights=weights)  # type: ignore[arg-type]


@per_layout
@given(books(), st.lists(events(), min_size=1, max_size=4), st.integers(1, 12), st.data())
def test_top_k_by_bounds_equals_sorting(
    book: list[Subscription], batch: list[Event], k: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(book)))
    removed = {held.id for held in data.draw(st.lists(st.sampled_from(book), max_size=5))}
    left = [held for held in book if held.id not in removed]
    ways: list[dict[str, Any]] = [
        {"combine": sum}, {"combine": max}, {"combine": min}, {"combine": doubled},
        {"combine": half, "bounded": True},
    ]  # fmt: skip
    expected = [[sorted_and_cut(left, event, k, way["combine"]) for way in ways] for event in batch]
    some = [held for held in left if held.id.startswith("s1")]
    for engine, parameters in LAYOUTS:
        index = Index.build(book[:cut], engine=engine, parameters=parameters)
        if book[cut:]:
            index.add(book[cut:])  # a second segment
        for name in removed:
            index.remove(name)
        for event, answers in zip(batch, expected, strict=True):
            assert index.top_k(event, k) == answers[0], (engine, parameters)
            assert [index.top_k(event, k, **way) for way in ways] == answers, (engine, parameters)
            assert index.top_k(event, k, prefix="s1") == sorted_and_cut(some, event, k, sum), engine


def doubled(scores: Iterable[float]) -> float:
    """Return more than the sum, so that nothing may be pruned by it."""
    return 2.0 * sum(scores)


def half(scores: Iterable[float]) -> float:
    """Return half: monotone, and below the sum of the positive parts."""
    return 0.5 * sum(scores)


@pytest.mark.parametrize(("engine", "parameters"), LAYOUTS, ids=str)
@pytest.mark.parametrize("k", [1, 3, 50, 1000])
def test_smallest_ids_win_among_equals(engine: str, parameters: dict[str, Any], k: int) -> None:
    """Every bound equals the k-th score, so the search must still visit all of them."""
    book = {f"s{n:03}": f"a BETWEEN {n % 7} AND 9 AND b >= {n % 5}" for n in range(300)}
    found = Index.build(book, engine=engine, parameters=parameters).top_k({"a": 9, "b": 9}, k)
    assert isinstance(found, TopMatches)
    assert found == [(f"s{n:03}", 2.0) for n in range(min(k, 300))]
