"""Test that every pass and every normal form keeps the truth of its tree for every event."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tamis.expression.predicates import PREDICATES, Between, Compare, Exists, In
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.limits import Limits
from tamis.normal import PASSES, Clause, clauses_of, cnf_size, cover, dnf_size, normalise, to_cnf, to_dnf
from tamis.values.event import Event
from tamis.values.value import Interval
from tests.strategies import events, expressions

# One or two attributes: rewriting can go wrong for literals on the same attribute.
few = st.sampled_from(["a", "a", "b"])
trees = expressions(few)
happenings = st.lists(events(few), min_size=1, max_size=6)


def as_dnf(clauses: tuple[Clause, ...]) -> Expr:
    return Or(tuple(And(clause) for clause in clauses))


def as_cnf(clauses: tuple[Clause, ...]) -> Expr:
    return And(tuple(Or(clause) for clause in clauses))


def assert_same(before: Expr, after: Expr, batch: list[Event]) -> None:
    for event in batch:
        assert matches(before, event) == matches(after, event), event


@pytest.mark.parametrize("rewrite", [*PASSES, normalise], ids=lambda rewrite: rewrite.__name__)
@given(expr=trees, batch=happenings)
def test_pass_keeps_the_truth(rewrite: Callable[[Expr], Expr], expr: Expr, batch: list[Event]) -> None:
    assert_same(expr, rewrite(expr), batch)


small = st.integers(0, 5) | st.sampled_from([0.5, 2.0, True, "x", "y"])
ends = st.tuples(st.integers(0, 5), st.integers(0, 5))
same_attribute = st.one_of(
    st.builds(Compare, st.just("a"), st.sampled_from(["=", "!="]), small),
    st.builds(Compare, st.just("a"), st.sampled_from(["<", "<=", ">", ">="]), st.integers(0, 5)),
    st.builds(In, st.just("a"), st.lists(small, max_size=3).map(tuple), st.booleans()),
    st.builds(lambda pair, negated: Between("a", *pair, negated), ends, st.booleans()),
    st.builds(Exists, st.just("a"), st.booleans()),
)
literals = same_attribute | same_attribute.map(Not)
spans = st.builds(
    lambda pair, opens: Interval(min(pair), max(pair), *opens) if min(pair) < max(pair) else min(pair),
    ends,
    st.tuples(st.booleans(), st.booleans()),
)
one_attribute = st.lists(small | spans, max_size=3).map(
    lambda held: Event({"a": tuple(held)} if held else {})
)


@pytest.mark.parametrize("kind", [And, Or])
@given(
    parts=st.lists(literals, min_size=2, max_size=4), batch=st.lists(one_attribute, min_size=5, max_size=10)
)
@settings(max_examples=5 * settings.default.max_examples)
def test_merged_literals_on_one_attribute_keep_the_truth(
    kind: type[And] | type[Or], parts: list[Expr], batch: list[Event]
) -> None:
    tree = kind(tuple(parts))
    assert_same(tree, normalise(tree), [Event({}), *batch])


@given(trees, happenings)
@settings(max_examples=2 * settings.default.max_examples)
def test_dnf_keeps_the_truth_and_its_estimate(expr: Expr, batch: list[Event]) -> None:
    clauses = to_dnf(expr, 64)
    assert (clauses is None) == (dnf_size(expr, 64) > 64)
    assume(clauses is not None)
    assert clauses is not None
    assert len(clauses) <= max(1, dnf_size(expr, 64))
    assert_same(expr, as_dnf(clauses), batch)


@given(trees, happenings)
@settings(max_examples=2 * settings.default.max_examples)
def test_cnf_keeps_the_truth_and_its_estimate(expr: Expr, batch: list[Event]) -> None:
    clauses = to_cnf(expr, 64)
    assert (clauses is None) == (cnf_size(expr, 64) > 64)
    assume(clauses is not None)
    assert clauses is not None
    assert len(clauses) <= max(1, cnf_size(expr, 64))
    assert_same(expr, as_cnf(clauses), batch)


@given(trees, st.integers(1, 6), happenings)
@settings(max_examples=2 * settings.default.max_examples)
def test_cover_is_necessary(expr: Expr, cap: int, batch: list[Event]) -> None:
    for tree in (expr, normalise(expr)):
        clauses = cover(tree, cap)
        assert len(clauses) <= cap
        wide = as_dnf(clauses)
        assert all(matches(wide, event) for event in batch if matches(tree, event))


@given(trees, st.integers(1, 6), happenings)
@settings(max_examples=2 * settings.default.max_examples)
def test_clauses_are_necessary_and_sufficient_if_exact(expr: Expr, cap: int, batch: list[Event]) -> None:
    found = clauses_of(expr, Limits(dnf_clauses=cap))
    assert len(found.clauses) <= cap
    assert (found.kind == "never") == (not found.clauses)
    for event in batch:
        truth, claim = matches(expr, event), matches(as_dnf(found.clauses), event)
        assert claim == truth if found.exact else claim or not truth


@given(trees)
def test_clauses_hold_literals_only(expr: Expr) -> None:
    for clause in clauses_of(expr).clauses:
        for literal in clause:
            assert isinstance(literal.child if isinstance(literal, Not) else literal, PREDICATES)


@given(trees)
def test_normal_tree_has_no_inner_constants_and_not_only_above_predicates(expr: Expr) -> None:
    stack = [normalise(expr)]
    assert stack == [TRUE] or stack == [FALSE] or TRUE not in stack
    while stack:
        node = stack.pop()
        if isinstance(node, Not):
            assert isinstance(node.child, PREDICATES)
        elif isinstance(node, And | Or):
            assert TRUE not in node.children
            assert FALSE not in node.children
            assert len(node.children) != 1
            assert not any(isinstance(child, type(node)) for child in node.children)
            stack.extend(node.children)


@given(trees, trees)
def test_expression_or_its_denial_is_true(expr: Expr, other: Expr) -> None:
    """NOT is two-valued, so these are constant; the passes may miss that, but never say the opposite."""
    assert normalise(And((expr, Not(expr)))) != TRUE
    assert normalise(Or((expr, Not(expr)))) != FALSE
