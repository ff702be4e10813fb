"""Test the head against the tree evaluator: any expressions, any events, every way in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis import Limits
from tamis.expression.tree import Expr, Subscription
from tamis.expression.truth import matches
from tamis.head import Head, HeadView
from tamis.head.structures import NAMES
from tamis.index.match import match_layer
from tamis.values.event import Event
from tests.strategies import events, expressions

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("small_heads")]

LIMITS = Limits(dnf_clauses=4)
FIXTURE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]

books = st.lists(expressions(max_leaves=6), max_size=24)
batches = st.lists(events(), min_size=1, max_size=5)
structures = pytest.mark.parametrize("structure", NAMES)


def head_of(structure: str, book: list[Expr], at_once: bool) -> HeadView:
    """Return a head with these subscriptions, added together or one by one."""
    head = Head(LIMITS, structure)
    held = [Subscription(str(n), expr) for n, expr in enumerate(book)]
    for group in [held] if at_once else [[one] for one in held]:
        head.add(*group)
        head.view()
    return head.view()


def found(view: HeadView, located: Any, batch: list[Event], sequence: int = 0) -> set[tuple[int, int]]:
    """Return the pairs (event, slot) that the head finds."""
    pairs, _ = match_layer(view, sequence, located, batch.__getitem__)
    listed = list(zip(pairs.event.tolist(), pairs.ordinal.tolist(), strict=True))
    assert len(listed) == len(set(listed))
    return set(listed)


def expected(book: list[Expr], batch: list[Event]) -> set[tuple[int, int]]:
    """Return the pairs that the tree evaluator finds."""
    return {(e, n) for e, event in enumerate(batch) for n, expr in enumerate(book) if matches(expr, event)}


@structures
@settings(suppress_health_check=FIXTURE)
@given(book=books, batch=batches, at_once=st.booleans())
def test_head_agrees_with_the_tree_evaluator(
    structure: str, book: list[Expr], batch: list[Event], at_once: bool
) -> None:
    view = head_of(structure, book, at_once)
    located, refused = view.encoder.many(batch)
    assert not refused
    assert found(view, located, batch) == expected(book, batch)
    for event in batch:
        assert found(view, view.encoder.one(event), [event]) == expected(book, [event])


@structures
@settings(suppress_health_check=FIXTURE)
@given(book=books, batch=batches, gone=st.sets(st.integers(0, 23)))
def test_removal_is_seen_by_later_snapshots_only(
    structure: str, book: list[Expr], batch: list[Event], gone: set[int]
) -> None:
    before = head_of(structure, book, at_once=True)
    slots = sorted(slot for slot in gone if slot < len(book))
    before.head.remove(slots, 1)
    after = before.head.view()
    located, _ = after.encoder.many(batch)
    everything = expected(book, batch)
    assert found(before, located, batch, 0) == everything
    assert found(after, located, batch, 1) == {pair for pair in everything if pair[1] not in gone}


@structures
@settings(suppress_health_check=FIXTURE)
@given(book=books, more=books, batch=batches)
def test_snapshot_stays_the_same_while_the_head_grows(
    structure: str, book: list[Expr], more: list[Expr], batch: list[Event]
) -> None:
    before = head_of(structure, book, at_once=False)
    for n, expr in enumerate(more):
        before.head.add(Subscription(f"more {n}", expr))
        before.head.view()
    located, _ = before.encoder.many(batch)  # the encoder knows dimensions that the snapshot does not
    assert found(before, located, batch) == expected(book, batch)
