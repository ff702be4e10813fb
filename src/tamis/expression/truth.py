"""The definition of *matches*: the tree evaluator.

Everything else in Tamis (cells, engines, revision, Spark) must agree with these functions. They
are written to be read, not to be fast.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from tamis.expression.tree import (
    And,
    Between,
    Compare,
    Exists,
    Expr,
    In,
    Like,
    Network,
    Not,
    Or,
    Predicate,
    Regex,
    Text,
    Within,
    is_negative,
    positive,
)
from tamis.values.event import Event
from tamis.values.pattern import compiled, like_matches, read_like
from tamis.values.shape import covers
from tamis.values.text import fold, has_phrase, terms_of
from tamis.values.value import Interval, Point, Scalar, Value, family, successor


def matches(expr: Expr, event: Event) -> bool:
    """Return whether ``event`` satisfies ``expr`` (two-valued: ``Not`` is true exactly when its child is
    false)."""
    if isinstance(expr, And):
        return all(matches(child, event) for child in expr.children)
    if isinstance(expr, Or):
        return any(matches(child, event) for child in expr.children)
    if isinstance(expr, Not):
        return not matches(expr.child, event)
    return holds(expr, event.attributes.get(expr.attribute, ()))


def holds(predicate: Predicate, values: tuple[Value, ...]) -> bool:
    """Return whether an attribute with ``values`` (none: absent) satisfies ``predicate``."""
    if isinstance(predicate, Exists):
        return bool(values) != predicate.negated
    if is_negative(predicate):
        return bool(values) and not holds(positive(predicate), values)
    test = _TESTS[type(predicate)]
    return any(test(predicate, value) for value in values)


def score(expr: Expr, event: Event, combine: Callable[[Iterable[float]], float] = sum) -> float:
    """Return the score of a matching expression.

    A conjunction scores ``combine`` of its parts, a disjunction its best true branch. A part that stands
    alone, as the whole expression or as a branch, is a conjunction of one. A predicate counts weight ×
    attribute weight, a ``Not`` nothing. No condition at all scores 0, and ``combine`` is not called.
    """
    if isinstance(expr, And):
        return combine([_part(child, event, combine) for child in expr.children]) if expr.children else 0.0
    if isinstance(expr, Or):
        return max((score(c, event, combine) for c in expr.children if matches(c, event)), default=0.0)
    return combine([_part(expr, event, combine)])


def _part(expr: Expr, event: Event, combine: Callable[[Iterable[float]], float]) -> float:
    """What one part of a conjunction counts."""
    if isinstance(expr, And | Or):
        return score(expr, event, combine)
    if isinstance(expr, Not):
        return 0.0
    return expr.weight * event.weights.get(expr.attribute, 1.0)


def _compare(predicate: Compare, value: Value) -> bool:
    operand = predicate.value
    if isinstance(value, Point) or isinstance(operand, Point):
        return predicate.op == "=" and value == operand
    low, high = (
        (None if predicate.op in ("<", "<=") else operand),
        (None if predicate.op in (">", ">=") else operand),
    )
    return in_range(value, low, high, predicate.op == ">", predicate.op == "<")


def _in(predicate: In, value: Value) -> bool:
    return any(in_range(value, operand, operand) for operand in predicate.values)


def _between(predicate: Between, value: Value) -> bool:
    # A range written backwards is empty, so not even an interval that spans both ends meets it.
    ordered = _reaches(predicate.low, False, predicate.high, False)
    return ordered and in_range(value, predicate.low, predicate.high)


def in_range(
    value: Value, low: Scalar | None, high: Scalar | None, low_open: bool = False, high_open: bool = False
) -> bool:
    """Return whether ``value`` lies in the range, or, being an interval, shares some value with it."""
    if not isinstance(value, Interval):
        return _reaches(low, low_open, value, False) and _reaches(value, False, high, high_open)
    operand = low if low is not None else high
    end = value.low if value.low is not None else value.high
    if operand is None or end is None or family(operand) != family(end):
        return False
    first = successor(low) if low_open else low
    if low is not None and first is None:
        return False
    # Three lower ends before three upper ends; with closed lower ends, the greatest lies in both.
    return (
        _reaches(first, False, high, high_open)
        and _reaches(value.low, False, high, high_open)
        and _reaches(first, False, value.high, value.high_open)
    )


def _reaches(low: Any, low_open: bool, high: Any, high_open: bool) -> bool:
    """Return whether a lower end stands at or before an upper end (``None``: unbounded)."""
    if low is None or high is None:
        return True
    if family(low) != family(high):
        return False
    return bool(low < high or (low == high and not low_open and not high_open))


def _like(predicate: Like, value: Value) -> bool:
    if type(value) is not str:
        return False
    subject = fold(value) if predicate.fold else value
    return like_matches(read_like(predicate.pattern, predicate.fold), subject)


def _regex(predicate: Regex, value: Value) -> bool:
    return type(value) is str and compiled(predicate.pattern).search(value) is not None


def _text(predicate: Text, value: Value) -> bool:
    if type(value) is not str:
        return False
    found = terms_of(value)
    if predicate.mode == "phrase":
        return has_phrase(found, predicate.terms)
    if predicate.mode == "all":
        return set(found).issuperset(predicate.terms)
    return not set(found).isdisjoint(predicate.terms)


def _within(predicate: Within, value: Value) -> bool:
    return isinstance(value, Point) and covers(predicate.shape, value)


def _network(predicate: Network, value: Value) -> bool:
    if type(value) is not str or (address := address_of(value)) is None:
        return False
    return any(low <= address <= high for low, high in map(block_range, predicate.blocks))


@lru_cache(maxsize=65_536)
def address_of(text: str) -> tuple[int, int] | None:
    """(version, number) of an IP address, ``None`` if ``text`` is not one."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return address.version, int(address)


@lru_cache(maxsize=65_536)
def block_range(block: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last address of a CIDR block, as :func:`address_of` writes them."""
    network = ipaddress.ip_network(block, strict=False)
    return (
        (network.version, int(network.network_address)),
        (network.version, int(network.broadcast_address)),
    )


_TESTS: dict[type, Callable[[Any, Value], bool]] = {
    Compare: _compare,
    In: _in,
    Between: _between,
    Like: _like,
    Regex: _regex,
    Text: _text,
    Within: _within,
    Network: _network,
}
