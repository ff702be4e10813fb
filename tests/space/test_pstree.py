"""Test the PS-Tree against a plain list of predicates: it grows, shrinks, locates and freezes alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tamis.space.pstree import Elements, Floats, Frozen, Integers, PSTree, Strings

pytestmark = pytest.mark.kernels
TRUTH: dict[str, Callable[..., bool]] = {
    "=": lambda x, v: x == v,
    "!=": lambda x, v: x != v,
    "<": lambda x, v: x < v,
    "<=": lambda x, v: x <= v,
    ">": lambda x, v: x > v,
    ">=": lambda x, v: x >= v,
    "between": lambda x, v, w: v <= x <= w,
    "in": lambda x, *values: x in values,
    "not in": lambda x, *values: x not in values,
}
BYTES = st.integers(-128, 127) | st.integers(-3, 3)
WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
REAL = st.floats(allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.5, 5e-324, -5e-324, math.inf, -math.inf])
TEXT = (
    st.text(max_size=4)
    | st.text("ab", max_size=3)
    | st.sampled_from(["", "\0", "a\0", "é", "\U0001f600", "\uffff"])
)
KINDS: list[tuple[Elements, Any]] = [
    (Integers(8), BYTES),
    (Integers(), WHOLE),
    (Floats(), REAL),
    (Strings(), TEXT),
]


def predicates(values: Any) -> Any:
    one = st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), values)
    two = st.tuples(st.just("between"), values, values)
    some = st.builds(
        lambda op, members: (op, *members), st.sampled_from(["in", "not in"]), st.lists(values, max_size=4)
    )
    return one | two | some


def expected(book: dict[int, Any], value: Any) -> set[int]:
    return {number for number, (operator, *values) in book.items() if TRUTH[operator](value, *values)}


def machine(elements: Elements, values: Any) -> type[RuleBasedStateMachine]:
    """Return a state machine of predicates and events over one type of values."""

    class Life(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.tree = PSTree(elements)
            self.book: dict[int, Any] = {}
            self.events: list[Any] = []
            self.number = 0

        @rule(predicate=predicates(values))
        def insert(self, predicate: Any) -> None:
            covered = self.tree.insert(self.number, *predicate)
            assert all(self.number in leaf.predicates for leaf in covered)
            self.book[self.number] = predicate
            self.number += 1

        @precondition(lambda self: self.book)
        @rule(data=st.data())
        def delete(self, data: st.DataObject) -> None:
            number = data.draw(st.sampled_from(sorted(self.book)))
            self.tree.delete(number)
            del self.book[number]

        @rule(value=values)
        def locate(self, value: Any) -> None:
            leaf = self.tree.locate(value)
            assert leaf.predicates == expected(self.book, value)
            assert leaf.counter == len(leaf.predicates)

        @rule(value=values)
        def observe(self, value: Any) -> None:
            self.tree.observe(value)
            self.events.append(value)

        @precondition(lambda self: self.book)
        @rule(data=st.data())
        def operand(self, data: st.DataObject) -> None:
            """Draw operands at the ends of predicates, where mistakes are likely."""
            number = data.draw(st.sampled_from(sorted(self.book)))
            for value in self.book[number][1:]:
                self.locate(value)

        @rule(probe=st.lists(values, max_size=6))
        def freeze(self, probe: list[Any]) -> None:
            frozen = Frozen.of(self.tree)
            probe = probe + [value for _, *members in self.book.values() for value in members]
            point, predicate = frozen.pairs(probe)
            found = set(zip(point.tolist(), predicate.tolist(), strict=True))
            assert len(found) == len(point)
            assert found == {(at, n) for at, value in enumerate(probe) for n in expected(self.book, value)}
            leaves = list(self.tree.leaves())
            for value, leaf in zip(probe, frozen.locate(probe).tolist(), strict=True):
                assert leaves[leaf] is self.tree.locate(value)

        @invariant()
        def sound(self) -> None:
            self.tree.check()
            assert set(self.tree) == set(self.book)
            assert len(self.tree) == len(self.book)
            for number, (operator, *members) in self.book.items():
                true = sum(TRUTH[operator](value, *members) for value in self.events)
                least = 1.0 - true / len(self.events) if self.events else 1.0
                assert 0.0 <= self.tree.selectivity(number) <= least + 1e-12, "selectivity promises too much"

        @invariant()
        def no_more_nodes_than_needed(self) -> None:
            ends = {elements.elements(value) for _, *members in self.book.values() for value in members}
            leaves = sum(1 for _ in self.tree.leaves())
            assert leaves <= 2 * len(ends) + 1
            if not self.book:
                assert not self.tree.root.children
                assert leaves == 1

    return Life


class TestByte(machine(*KINDS[0]).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


class TestWhole(machine(*KINDS[1]).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


class TestReal(machine(*KINDS[2]).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


class TestText(machine(*KINDS[3]).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


def test_counters_without_changes_are_exact() -> None:
    tree = PSTree(Integers())
    tree.insert(1, "between", 20, 60)
    tree.insert(2, "<", 30)
    for value in (10, 25, 25, 59, 99):
        tree.observe(value)
    assert tree.selectivity(1) == pytest.approx(1 - 3 / 5)
    assert tree.selectivity(2) == pytest.approx(1 - 3 / 5)
    tree.delete(2)
    assert tree.selectivity(1) == pytest.approx(1 - 3 / 5)


@given(st.data())
@settings(deadline=None)
def test_elements_compare_as_values_do(data: st.DataObject) -> None:
    elements, values = data.draw(st.sampled_from(KINDS))
    one, two = data.draw(values), data.draw(values)
    assert (elements.elements(one) < elements.elements(two)) == (one < two)
    assert (elements.elements(one) == elements.elements(two)) == (one == two)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 20)), max_size=30), st.integers(0, 55))
@settings(deadline=None)
def test_intervals_in_bulk_equal_intervals_one_by_one(intervals: list[tuple[int, int]], scale: int) -> None:
    low = np.array([a << scale for a, _ in intervals], np.int64)
    high = np.array([(a + width) << scale for a, width in intervals], np.int64)
    tree = PSTree(Integers())
    for number, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        tree.insert(number, "between", a, b)
    one, bulk = Frozen.of(tree), Frozen.of_intervals(low, high, Integers())
    assert one.leaves == bulk.leaves
    probe = np.concatenate([low, high, low - 1, high + 1, [0, -(2**63), 2**63 - 1]])
    assert one.locate(probe).tolist() == bulk.locate(probe).tolist()
    assert [part.tolist() for part in one.pairs(probe)] == [part.tolist() for part in bulk.pairs(probe)]


def test_unfit_predicate_is_refused_and_changes_nothing() -> None:
    tree = PSTree(Integers(8))
    tree.insert(1, "=", 5)
    for wrong in ((1, "=", 6), (2, "like", 6), (2, "between", 6), (2, "=", 1, 2)):
        with pytest.raises(ValueError, match=r"already|no operator|takes"):
            tree.insert(*wrong)
    with pytest.raises(ValueError, match="more than 8 bits"):
        tree.insert(2, "between", 3, 128)
    for value in (1.5, "a", True, None):
        with pytest.raises(TypeError):
            tree.insert(2, "in", 7, value)
    assert [leaf.counter for leaf in tree.leaves()] == [0, 1, 0]
    with pytest.raises(TypeError):
        PSTree(Floats()).insert(1, "=", math.nan)
    with pytest.raises(TypeError):
        PSTree(Strings()).insert(1, "=", b"x")
    with pytest.raises(ValueError, match="8, 16, 32 or 64"):
        Integers(12)
    frozen = Frozen.of(tree)
    with pytest.raises(TypeError):
        frozen.locate([1.5])
    with pytest.raises(ValueError, match="more than 8 bits"):
        frozen.locate([300])
    with pytest.raises(TypeError):
        Frozen.of_intervals([0.0], [math.nan], Floats())
    with pytest.raises(ValueError, match="ends before it begins"):
        Frozen.of_intervals([2], [1], Integers())
