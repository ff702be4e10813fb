"""Test that verdicts about all events are true of all events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import parse
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.normal import follows, is_always, is_never
from tamis.values.event import Event
from tests.strategies import events, expressions

CAP = 64
few = st.sampled_from(["a", "a", "b"])
happenings = st.lists(events(few), min_size=1, max_size=6)
# Similar halves contradict or complete each other often enough.
pairs = st.tuples(expressions(few), expressions(few))
suspicious = st.one_of(
    expressions(few),
    pairs.map(lambda pair: And((pair[0], Not(pair[0]), pair[1]))),
    pairs.map(lambda pair: Or((Not(pair[1]), pair[0], pair[1]))),
    pairs.map(lambda pair: And((Not(Or(pair)), pair[1]))),
    pairs.map(lambda pair: Or((Not(And(pair)), pair[1]))),
)


@given(suspicious, happenings)
def test_never_and_always_hold_for_every_event(expr: Expr, batch: list[Event]) -> None:
    found = {matches(expr, event) for event in batch}
    assert not (is_never(expr, CAP) and True in found)
    assert not (is_always(expr, CAP) and False in found)


@given(pairs, expressions(few), happenings)
def test_implied_expressions_are_true(pair: tuple[Expr, Expr], third: Expr, batch: list[Event]) -> None:
    for expr in (pair[0], Or((pair[0], third)), Or(pair), And(pair)):
        if follows(expr, pair, CAP):
            assert all(matches(expr, event) for event in batch if matches(And(pair), event))


@pytest.mark.parametrize(
    ("text", "never", "always"),
    [
        ("a = 1 AND a IS NULL", True, False),
        ("a = 1 AND NOT a IN (1, 2)", True, False),
        ("a < 5 AND NOT a < 10", True, False),
        ("a != 'x' AND NOT a IS NOT NULL", True, False),
        ("(a = 1 OR a = 2) AND a != 1 AND a != 2", True, False),
        ("a BETWEEN 5 AND 3 OR b IN ()", True, False),
        ("a > 5 AND a < 3", False, False),  # two values
        ("a = 1 AND a = 2", False, False),
        ("a < 5 OR a >= 5 OR a IS NULL", False, False),  # a string
        ("a = 1 OR NOT a = 1", False, True),
        ("a IS NULL OR a != 1 OR a IN (1, 2)", False, True),
        ("a = 1 AND b = 2 OR NOT a = 1 OR NOT b = 2", False, True),
        ("NOT (a = 1 AND a IS NULL)", False, True),
        ("TRUE", False, True),
        ("FALSE", True, False),
    ],
)
def test_verdict_of_each_example(text: str, never: bool, always: bool) -> None:
    expr = parse(text)
    assert (is_never(expr, CAP), is_always(expr, CAP)) == (never, always)


def test_large_expressions_get_no_verdict() -> None:
    parts = [f"(a{at} = 1 OR b{at} = 1)" for at in range(7)]
    expr = parse(" AND ".join([*parts, "(c = 1 OR d = 1)", "c IS NULL", "d IS NULL"]))
    assert is_never(expr, 256)
    assert not is_never(expr, 255)
