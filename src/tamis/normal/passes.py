"""Rewrite trees by passes, each of which keeps the truth of every expression for every event.

An index is built from the rewritten tree. Scores are computed on the tree as it was written, so weights are
dropped first and equal predicates can meet.

Several literals on one attribute are joined under AND and under OR. A positive predicate P asks for *some*
value. An attribute's literals are: P (some value), its negative form (present, no value), Not P (absent, or
no value), present, absent. Everything below follows from these five. Truth tables in the tests compare it
with the evaluator. Two positive predicates may be united under OR, and one may imply another, but under AND
they must never be intersected: two values may satisfy one each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec

from tamis.expression.predicates import Between, Compare, Exists, In, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.values.ranges import Range
from tamis.values.value import Scalar

Literal = Predicate | Not
"""A predicate, or ``Not`` directly above a positive one."""

Clause = tuple[Literal, ...]
"""Literals joined by AND (in a DNF) or by OR (in a CNF)."""

_T = TypeVar("_T")


def fold_up(expr: Expr, step: Callable[[Expr, list[_T]], _T]) -> _T:
    """Combine the results of the children at every node, from the leaves to the root."""
    done: list[_T] = []
    stack = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        children = node.children
        if children and not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children))
            continue
        first = len(done) - len(children)
        results = done[first:]
        del done[first:]
        done.append(step(node, results))
    return done[0]


def join(kind: type[And] | type[Or], children: Iterable[Expr]) -> Expr:
    """Return a node of this kind, flattened, without constants, and never with a single child."""
    neutral, absorbing = (TRUE, FALSE) if kind is And else (FALSE, TRUE)
    flat: list[Expr] = []
    for child in children:
        if child == absorbing:
            return absorbing
        if isinstance(child, kind):
            flat.extend(child.children)
        elif child != neutral:
            flat.append(child)
    return flat[0] if len(flat) == 1 else kind(tuple(flat)) if flat else neutral


def is_literal(expr: Expr) -> bool:
    """Return whether ``expr`` is a predicate, or ``Not`` above a positive one that tests a value."""
    if isinstance(expr, Predicate):
        return True
    if not isinstance(expr, Not) or not isinstance(expr.child, Predicate):
        return False
    return not isinstance(expr.child, Exists) and not expr.child.is_negative


def key_of(expr: Expr) -> str:
    """Return a text that distinguishes an expression and sorts it by attribute.

    Equality does not suffice: ``TRUE == 1`` in Python.
    """
    return f"{expr.attribute} {expr!r}" if isinstance(expr, Predicate) else repr(expr)


def attribute_of(literal: Literal) -> str:
    """Return the attribute of a literal."""
    predicate = literal.child if isinstance(literal, Not) else literal
    return predicate.attribute  # type: ignore[union-attr]


def needs_presence(literal: Literal) -> bool:
    """Return whether the literal can only be true if its attribute is present."""
    if isinstance(literal, Not):
        return False
    return not (isinstance(literal, Exists) and literal.negated)


def is_denial(literal: Literal) -> bool:
    """Return whether the literal excludes values: such literals are true of most events."""
    return isinstance(literal, Not) or literal.is_negative


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
            merged.append(following)  # every value of the family: no predicate expresses that
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


# Comparing all pairs pays off for expressions that people write, not for generated ones.
_PAIRWISE = 32
_SMALL = 256


class _Group(NamedTuple):
    """The literals on one attribute, grouped by their meaning."""

    attribute: str
    present: bool
    absent: bool
    positives: list[Predicate]
    negatives: list[Predicate]  # as positive forms
    nots: list[Predicate]


def merge_literals(kind: type[And] | type[Or], children: Iterable[Expr]) -> list[Expr]:
    """Return ``children`` of a node with the literals on each attribute merged; others stay as they are."""
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
    required = strongest(group.positives)
    denied = unite(group.attribute, group.negatives + group.nots)
    if _any_implies(required, denied):
        return [FALSE]
    if not presence:
        return [Not(deny) for deny in denied]
    without: list[Expr] = [deny.negative() if deny.has_negative else Not(deny) for deny in denied]
    if not required and not any(deny.has_negative for deny in denied):
        without.append(Exists(group.attribute))  # no other literal requires presence
    return [*required, *without]


def _under_or(group: _Group) -> list[Expr]:
    absence = group.absent or bool(group.nots)
    if group.present:
        return [TRUE] if absence else [Exists(group.attribute)]
    accepted = unite(group.attribute, group.positives)
    denied = strongest(group.negatives + group.nots)
    if _any_implies(denied, accepted):
        return [TRUE] if absence else [Exists(group.attribute)]
    if not absence:
        return [*accepted, *[deny.negative() for deny in denied]]
    if not denied:
        return [*accepted, Exists(group.attribute, negated=True)]
    return [*accepted, *map(Not, denied)]


def _any_implies(strong: list[Predicate], weak: list[Predicate]) -> bool:
    if len(strong) * len(weak) > _PAIRWISE * _PAIRWISE:
        return False
    return any(implies(first, second) for first in strong for second in weak)


def strongest(positives: list[Predicate]) -> list[Predicate]:
    """Return the positive forms without repeats and without those that another one implies."""
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
    """Return the points that no range holds; all points if both are so many that the search is too slow."""
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


Pass = Callable[[Expr], Expr]


def normalise(expr: Expr) -> Expr:
    """Apply all passes in order: ``Not`` only above positive predicates, no constants inside, sorted."""
    for rewrite in PASSES:
        expr = rewrite(expr)
    return expr


def drop_weights(expr: Expr) -> Expr:
    """Give every predicate the default weight."""
    return fold_up(expr, _without_weight)


def _without_weight(node: Expr, children: list[Expr]) -> Expr:
    if isinstance(node, And | Or):
        return type(node)(tuple(children))
    if isinstance(node, Not):
        return Not(children[0])
    return node if node.weight == 1.0 else msgspec.structs.replace(node, weight=1.0)


def push_not_inward(expr: Expr) -> Expr:
    """Move ``Not`` directly above positive predicates, by De Morgan and the meaning of negative forms."""
    if isinstance(expr, And | Or):
        return type(expr)(tuple([push_not_inward(child) for child in expr.children]))
    return _negated(expr.child) if isinstance(expr, Not) else expr


def _negated(expr: Expr) -> Expr:
    if isinstance(expr, Not):
        return push_not_inward(expr.child)
    if isinstance(expr, And | Or):
        other = Or if isinstance(expr, And) else And
        return other(tuple([_negated(child) for child in expr.children]))
    return deny(expr)


def deny(predicate: Predicate) -> Expr:
    """Return the two-valued negation of one predicate."""
    if isinstance(predicate, Exists):
        return msgspec.structs.replace(predicate, negated=not predicate.negated)
    if predicate.is_negative:  # not (present and no value) is: absent, or some value
        return Or((Exists(predicate.attribute, negated=True), predicate.positive()))
    return Not(predicate)


def flatten(expr: Expr) -> Expr:
    """Remove ``And`` directly in an ``And``, ``Or`` in an ``Or``, and nodes with a single child."""
    return fold_up(expr, _flat)


def _flat(node: Expr, children: list[Expr]) -> Expr:
    if not isinstance(node, And | Or):
        return Not(children[0]) if isinstance(node, Not) else node
    flat: list[Expr] = []
    for child in children:
        if isinstance(child, type(node)) and child.children:
            flat.extend(child.children)
        else:
            flat.append(child)
    return flat[0] if len(flat) == 1 else type(node)(tuple(flat))


def fold_constants(expr: Expr) -> Expr:
    """Remove TRUE and FALSE below the root, and predicates that no value can satisfy."""
    return fold_up(expr, _folded)


def _folded(node: Expr, children: list[Expr]) -> Expr:
    if isinstance(node, And | Or):
        return join(type(node), children)
    if isinstance(node, Not):
        return FALSE if children[0] == TRUE else TRUE if children[0] == FALSE else Not(children[0])
    if not node.is_empty:
        return node
    return Exists(node.attribute) if node.is_negative else FALSE


def merge_same_attribute(expr: Expr) -> Expr:
    """Express the literals of one node on one attribute with the fewest: see :mod:`tamis.normal.passes`."""
    return fold_up(expr, _merged)


def _merged(node: Expr, children: list[Expr]) -> Expr:
    if not isinstance(node, And | Or):
        return Not(children[0]) if isinstance(node, Not) else node
    flat = join(type(node), children)
    if not isinstance(flat, And | Or) or len(flat.children) < 2:
        return flat
    return join(type(flat), merge_literals(type(flat), flat.children))


def sort_and_dedupe(expr: Expr) -> Expr:
    """Sort the children by their text, predicates before nodes, each once."""
    return fold_up(expr, _in_order)


def _in_order(node: Expr, children: list[Expr]) -> Expr:
    if not isinstance(node, And | Or):
        return Not(children[0]) if isinstance(node, Not) else node
    distinct = {(isinstance(child, And | Or), key_of(child)): child for child in children}
    ordered = tuple([distinct[key] for key in sorted(distinct)])
    return ordered[0] if len(ordered) == 1 else type(node)(ordered)


PASSES: tuple[Pass, ...] = (
    drop_weights,
    push_not_inward,
    flatten,
    fold_constants,
    merge_same_attribute,
    sort_and_dedupe,
)
