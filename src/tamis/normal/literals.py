"""Several literals on one attribute, joined under AND and under OR.

A positive predicate P asks for *some* value. An attribute's literals are: P (some value), its negative form
(present, no value), Not P (absent, or no value), present, absent. Everything below follows from these five.
Truth tables in the tests compare it with the evaluator. Two positive predicates may be united under OR, and
one may imply another, but under AND they must never be intersected: two values may satisfy one each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tamis.expression.predicates import Between, Compare, Exists, In, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.normal.rewriting import Literal, attribute_of, is_literal, key_of
from tamis.values.ranges import Range
from tamis.values.value import Scalar


def united(ranges: list[Range]) -> list[Range]:
    """Return the fewest ranges that accept the same values and can still be written as predicates."""
    merged: list[Range] = []
    for following in sorted(
        ranges, key=lambda r: (r.family, r.low is not None, _orderable(r.low), r.low_open)
    ):
        last = merged[-1] if merged else None
        if last is None or last.family != following.family or not last.meets(following):
            merged.append(following)
            continue
        high, high_open = last.higher_end(following)
        if last.low is None and high is None:
            merged.append(following)  # every value of the family: no predicate says that
        else:
            merged[-1] = Range(last.family, last.low, last.low_open, high, high_open)
    return merged


def _orderable(low: Any) -> Any:
    return 0 if low is None else low


def as_predicate(attribute: str, found: Range) -> Predicate:
    """Return the range as a comparison or BETWEEN."""
    if found.low is None:
        return Compare(attribute, "<" if found.high_open else "<=", found.high)
    if found.high is None:
        return Compare(attribute, ">" if found.low_open else ">=", found.low)
    return Between(attribute, found.low, found.high)


# Comparing all pairs is worth it for what people write, not for what they generate.
_PAIRWISE = 32
_SMALL = 256


class _Group(NamedTuple):
    """The literals on one attribute, sorted by what they say."""

    attribute: str
    present: bool
    absent: bool
    positives: list[Predicate]
    negatives: list[Predicate]  # as positive forms
    nots: list[Predicate]


def merge_literals(kind: type[And] | type[Or], children: Iterable[Expr]) -> list[Expr]:
    """``children`` of a node with the literals on each attribute merged; other children as they are."""
    groups: dict[str, list[Literal]] = {}
    merged: list[Expr] = []
    for child in children:
        if is_literal(child):
            groups.setdefault(attribute_of(child), []).append(child)  # type: ignore[arg-type]
        else:
            merged.append(child)
    rule = _under_and if kind is And else _under_or
    for attribute, literals in groups.items():
        merged.extend(literals if len(literals) == 1 else rule(_sorted(attribute, literals)))
    return merged


def _sorted(attribute: str, literals: list[Literal]) -> _Group:
    present = absent = False
    positives: list[Predicate] = []
    negatives: list[Predicate] = []
    nots: list[Predicate] = []
    for literal in literals:
        if isinstance(literal, Exists):
            present, absent = present or not literal.negated, absent or literal.negated
        elif isinstance(literal, Not):
            nots.append(literal.child)  # type: ignore[arg-type]
        elif literal.is_negative:
            negatives.append(literal.positive())
        else:
            positives.append(literal)
    return _Group(attribute, present, absent, positives, negatives, nots)


def _under_and(group: _Group) -> list[Expr]:
    presence = group.present or bool(group.positives) or bool(group.negatives)
    if group.absent:
        return [FALSE] if presence else [Exists(group.attribute, negated=True)]
    wanted = strongest(group.positives)
    denied = unite(group.attribute, group.negatives + group.nots)
    if _any_implies(wanted, denied):
        return [FALSE]
    if not presence:
        return [Not(deny) for deny in denied]
    without: list[Expr] = [deny.negative() if deny.has_negative else Not(deny) for deny in denied]
    if not wanted and not any(deny.has_negative for deny in denied):
        without.append(Exists(group.attribute))  # nothing else would say that it is present
    return [*wanted, *without]


def _under_or(group: _Group) -> list[Expr]:
    absence = group.absent or bool(group.nots)
    if group.present:
        return [TRUE] if absence else [Exists(group.attribute)]
    wanted = unite(group.attribute, group.positives)
    denied = strongest(group.negatives + group.nots)
    if _any_implies(denied, wanted):
        return [TRUE] if absence else [Exists(group.attribute)]
    if not absence:
        return [*wanted, *[deny.negative() for deny in denied]]
    if not denied:
        return [*wanted, Exists(group.attribute, negated=True)]
    return [*wanted, *map(Not, denied)]


def _any_implies(strong: list[Predicate], weak: list[Predicate]) -> bool:
    if len(strong) * len(weak) > _PAIRWISE * _PAIRWISE:
        return False
    return any(implies(first, second) for first in strong for second in weak)


def strongest(positives: list[Predicate]) -> list[Predicate]:
    """Positive forms without repeats and without those that another one implies."""
    distinct = list({key_of(p): p for p in positives}.values())
    if not 1 < len(distinct) <= _PAIRWISE:
        return distinct
    kept: list[Predicate] = []
    for candidate in distinct:
        if any(implies(other, candidate) for other in kept):
            continue
        kept = [other for other in kept if not implies(candidate, other)]
        kept.append(candidate)
    return kept


def unite(attribute: str, positives: list[Predicate]) -> list[Predicate]:
    """Return positive forms that together accept every value that one of ``positives`` accepts."""
    points: dict[tuple[str, Scalar], Scalar] = {}
    ranges: list[Range] = []
    others: dict[type[Predicate], list[Predicate]] = {}
    for predicate in positives:
        values = predicate.accepted()
        if values is not None:
            points.update(values.points)
            ranges.extend([values.range] if values.range is not None else [])
        else:
            others.setdefault(type(predicate), []).append(predicate)
    found: list[Predicate] = [as_predicate(attribute, r) for r in united(ranges)]
    found.extend(_as_set(attribute, _outside(list(points.values()), united(ranges))))
    for kind, some in others.items():
        found.extend(kind.united(some))
    return found


def _outside(points: list[Scalar], ranges: list[Range]) -> list[Scalar]:
    """Return the points that no range holds already; not worth the search if there are very many of both."""
    if len(points) * len(ranges) > _SMALL * _PAIRWISE:
        return points
    return [value for value in points if not any(r.holds(value) for r in ranges)]


def _as_set(attribute: str, points: list[Scalar]) -> list[Predicate]:
    if len(points) < 2:
        return [Compare(attribute, "=", value) for value in points]
    return [In(attribute, tuple(points))]


def implies(strong: Predicate, weak: Predicate) -> bool:
    """Return whether ``weak`` surely accepts every value that ``strong`` accepts (both positive forms)."""
    if max(strong.size, weak.size) > _SMALL:
        return False
    first, second = strong.accepted(), weak.accepted()
    if first is None or second is None:
        return strong.implies(weak)
    return first.within(second)
