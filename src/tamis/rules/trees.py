"""Build the trees that several formats need: conjunctions, ranges, and denials that need the attribute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tamis.errors import TypeMismatch
from tamis.expression.operands import kind_of
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Between, Compare, Exists, Like, Likes
from tamis.expression.tree import And, Expr, Not, Or
from tamis.values.value import family, predecessor, successor

_SPECIAL = re.compile(r"([%_\\])")


def literal(text: str) -> str:
    """Return the LIKE pattern that only this text satisfies."""
    return _SPECIAL.sub(r"\\\1", text)


def all_of(parts: Sequence[Expr]) -> Expr:
    """Return the conjunction of some tests."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def either(parts: Sequence[Expr]) -> Expr:
    """Return the disjunction of some tests, in their order."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def any_of(parts: Iterable[Expr]) -> Expr:
    """Return the disjunction of some tests; patterns on the same attribute become one list."""
    patterns: dict[tuple[str, bool], list[str]] = {}
    others: list[Expr] = []
    for part in _flat(parts):
        if type(part) is Like and not part.negated:
            patterns.setdefault((part.attribute, part.fold), []).append(part.pattern)
        else:
            others.append(part)
    lists: list[Expr] = [
        Like(name, some[0], folded) if len(some) == 1 else Likes(name, "any", folded, tuple(some))
        for (name, folded), some in patterns.items()
    ]
    return either((*others, *lists))


def _flat(parts: Iterable[Expr]) -> Iterable[Expr]:
    for part in parts:
        if isinstance(part, Or):
            yield from _flat(part.children)
        else:
            yield part


def denied(predicate: Predicate) -> Expr:
    """Return the condition that the attribute is present and the predicate is false.

    This is NOT in languages in which a comparison with an absent value is neither true nor false.
    """
    if isinstance(predicate, Exists):
        return Exists(predicate.attribute, not predicate.negated)
    if predicate.is_negative:
        return predicate.positive()
    if predicate.has_negative:
        return predicate.negative()
    return And((Exists(predicate.attribute), Not(predicate)))


def in_range(name: str, low: Any, high: Any, low_open: bool = False, high_open: bool = False) -> Expr:
    """Return the condition that one value lies between two ends; ``None`` is no end.

    Two conditions could be met by two values. So an open end is written as the next value, and BETWEEN takes
    it. Only a string has no value before it.
    """
    if low is None and high is None:
        return Exists(name)
    if high is None:
        return Compare(name, ">" if low_open else ">=", low)
    if low is None:
        return Compare(name, "<" if high_open else "<=", high)
    if family(low) != family(high):
        raise TypeMismatch(f"the ends of a range have different types: {kind_of(low)} and {kind_of(high)}")
    if isinstance(high, str) and high_open:
        return And((Compare(name, ">" if low_open else ">=", low), Compare(name, "<", high)))
    first = successor(low) if low_open else low
    last = predecessor(high) if high_open else high
    if first is None or last is None:  # nothing lies beyond the end of all values
        return Or(())
    return Between(name, first, last)
