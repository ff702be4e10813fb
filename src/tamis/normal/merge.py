"""What several literals on one attribute say together, under AND and under OR.

With P a positive form, an attribute's literals are: P (some value), its negative form (present, no
value), Not P (absent, or no value), present, absent. Everything below follows from reading those
five words; truth tables in the tests hold it to the evaluator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tamis.expression.tree import (
    FALSE,
    TRUE,
    And,
    Compare,
    Exists,
    Expr,
    In,
    Network,
    Not,
    Or,
    Predicate,
    Text,
    is_negative,
    positive,
)
from tamis.normal.ranges import Range, as_predicate, point, united, values_of
from tamis.normal.tree import Literal, attribute_of, has_negative, is_literal, key_of, negative
from tamis.values.value import Scalar

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
        elif is_negative(literal):
            negatives.append(positive(literal))
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
    without: list[Expr] = [negative(deny) if has_negative(deny) else Not(deny) for deny in denied]
    if not wanted and not any(has_negative(deny) for deny in denied):
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
        return [*wanted, *map(negative, denied)]
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
    """Positive forms that together accept what any of ``positives`` accepts."""
    points: dict[tuple[str, Scalar], Scalar] = {}
    ranges: list[Range] = []
    terms: dict[str, None] = {}
    blocks: dict[str, None] = {}
    others: dict[str, Predicate] = {}
    for predicate in positives:
        values = values_of(predicate)
        if values is not None:
            points.update(values.points)
            ranges.extend([values.range] if values.range is not None else [])
        elif isinstance(predicate, Text) and predicate.mode == "any":
            terms.update(dict.fromkeys(predicate.terms))
        elif isinstance(predicate, Network):
            blocks.update(dict.fromkeys(predicate.blocks))
        else:
            others[key_of(predicate)] = predicate
    found: list[Predicate] = [as_predicate(attribute, r) for r in united(ranges)]
    found.extend(_as_set(attribute, _outside(list(points.values()), united(ranges))))
    if terms:
        found.append(Text(attribute, "any", tuple(terms)))
    if blocks:
        found.append(Network(attribute, tuple(blocks)))
    return found + list(others.values())


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
    """Return whether every value that satisfies ``strong`` is sure to satisfy ``weak`` (both positive
    forms)."""
    if isinstance(strong, Text) and isinstance(weak, Text):
        return _text_implies(strong, weak)
    if isinstance(strong, Network) and isinstance(weak, Network):
        return set(strong.blocks) <= set(weak.blocks)
    if _is_large(strong) or _is_large(weak):
        return False
    first, second = values_of(strong), values_of(weak)
    if first is None or second is None:
        return type(strong) is type(weak) and key_of(strong) == key_of(weak)
    if first.range is not None and (second.range is None or not first.range.inside(second.range)):
        return False
    return all(
        point(value) in second.points or (second.range is not None and second.range.holds(value))
        for value in first.points.values()
    )


def _is_large(predicate: Predicate) -> bool:
    return isinstance(predicate, In) and len(predicate.values) > _SMALL


def _text_implies(strong: Text, weak: Text) -> bool:
    if strong.mode == "any":
        return weak.mode == "any" and set(strong.terms) <= set(weak.terms)
    if weak.mode == "any":  # all terms, or a phrase, certainly hold each of their terms
        return not set(strong.terms).isdisjoint(weak.terms)
    if weak.mode == "all":
        return set(strong.terms) >= set(weak.terms)
    return strong.mode == "phrase" and strong.terms == weak.terms
