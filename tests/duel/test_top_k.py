"""Test that top-k equals sorting everything by the evaluator's scores, for any weights and priorities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Subscription
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import InputError
from tamis.expression.predicates import Compare, Exists
from tamis.expression.tree import TRUE, And, Expr, Not
from tamis.expression.truth import matches, score
from tamis.values.event import Event
from tests.engines import per_engine
from tests.strategies import events, expressions, predicates

Combine = Callable[[Iterable[float]], float]
PRIORITIES = [0.0, 0.0, 1.0, -1.0, 0.5, 1e300, 1e-300]


@st.composite
def subscriptions(draw: st.DrawFn) -> list[Subscription]:
    """Draw weighted trees and plain conjunctions, some with a priority."""
    book = [*draw(_BOOKS), TRUE, Exists("a"), Not(Exists("zz"))]
    return [Subscription(f"s{n}", e, draw(_PRIORITIES)) for n, e in enumerate(book)]


_CONJUNCTIONS = st.lists(predicates(), min_size=1, max_size=4).map(lambda found: And(tuple(found)))
_BOOKS = st.lists(expressions() | _CONJUNCTIONS, min_size=1, max_size=8)
_PRIORITIES = st.sampled_from(PRIORITIES)


def sorted_and_cut(
    book: list[Subscription], event: Event, k: int, combine: Combine
) -> list[tuple[str, float]]:
    scored = [
        (held.id, score(held.expression, event, combine) + held.priority)
        for held in book
        if matches(held.expression, event)
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


@per_engine
@given(subscriptions(), st.lists(events(), min_size=1, max_size=4), st.integers(1, 6))
def test_top_k_equals_sorting_everything(book: list[Subscription], batch: list[Event], k: int) -> None:
    some = [held for held in book if held.id.startswith("s1")]
    twice = [*batch, *(Event(event.attributes) for event in batch)]
    ways: list[dict[str, Any]] = [{}, {"combine": _greatest}, {"combine": _doubled}]
    expected = [
        [
            sorted_and_cut(some, event, k, sum),
            *(sorted_and_cut(book, event, k, way.get("combine", sum)) for way in ways),
        ]
        for event in twice
    ]
    for engine in ENGINES:
        index = Index.build(book[: len(book) // 2], engine=engine)
        for held in book[len(book) // 2 :]:  # these wait outside a segment
            index.add(held)
        for event, answers in zip(twice, expected, strict=True):
            found = [index.top_k(event, k, prefix="s1"), *(index.top_k(event, k, **way) for way in ways)]
            assert found == answers, engine


def _greatest(scores: Iterable[float]) -> float:
    return max(scores)


def _doubled(scores: Iterable[float]) -> float:
    return 2.0 * sum(scores) + 1.0


@pytest.mark.parametrize("engine", ENGINES)
def test_combine_is_called_when_there_is_one_predicate(engine: str) -> None:
    book = {"one": "a = 1 ^ 3", "two": "a = 1 AND b = 2", "either": "a = 1 OR b = 3", "not": "NOT a = 2"}
    expected = {"one": 7.0, "two": 5.0, "either": 3.0, "not": 1.0}
    index = Index.build(book, engine=engine)
    assert dict(index.top_k({"a": 1, "b": 2}, combine=_doubled)) == expected
    fresh = Index.build({}, engine=engine)
    for name, text in book.items():
        fresh.add(name, text)
    assert dict(fresh.top_k({"a": 1, "b": 2}, combine=_doubled)) == expected


def _weighted(*weights: float) -> Expr:
    return And(tuple(Compare("a", ">", n, weight) for n, weight in enumerate(weights)))


@pytest.mark.parametrize(
    "weights",
    [(1.0, 1e300), (2.0**53, 1.0, 1.0), (0.1, 0.2, 0.3), (1e308, 1e308), (0.0, 0.0), (2.0**60, 3.0)],
    ids=str,
)
def test_large_weights_keep_the_scores_of_others_exact(weights: tuple[float]) -> None:
    book = {"a-large": _weighted(*weights), "one": _weighted(1.0), "two": _weighted(1.0, 1.0)}
    event = Event({"a": (99,)})
    expected = [(name, score(expr, event)) for name, expr in book.items()]
    assert dict(Index.build(book).top_k({"a": 99})) == dict(expected)


def test_ties_go_to_the_smaller_id() -> None:
    index = Index.build(dict.fromkeys(("b", "a10", "a9", "B"), "a = 1"))
    assert [name for name, _ in index.top_k({"a": 1}, 3)] == ["B", "a10", "a9"]


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_one(k: int) -> None:
    with pytest.raises(InputError):
        Index.build({"s": "a = 1"}).top_k({"a": 1}, k)


def test_event_weights_must_be_numbers() -> None:
    index = Index.build({"s": "a = 1", "t": "a = 1"})
    with pytest.raises(Exception, match="weight"):
        index.top_k(Event({"a": (1,)}, weights={"a": math.nan}))


def test_scores_of_old_segments_are_not_kept() -> None:
    index = Index.build({"s": "a = 1"})
    for n in range(200):
        index.add(f"t{n}", "a = 1")
        index.top_k({"a": 1})
    assert len(index._static) <= len(index.info()["segments"]) + 1
