"""Define *matches*: the tree evaluator.

All other parts of Tamis (cells, engines, revision, Spark) must agree with these functions, and with
``accepts`` of each kind of predicate. They are written to be read, not to be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tamis.expression.predicates import Exists, Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.values.event import Event
from tamis.values.value import Value


def matches(expr: Expr, event: Event) -> bool:
    """Return whether ``event`` satisfies ``expr``; ``Not`` is true exactly when its child is false."""
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
    if predicate.is_negative:
        return bool(values) and not any(map(predicate.accepts, values))
    return any(map(predicate.accepts, values))


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
    """Return the score of one part of a conjunction."""
    if isinstance(expr, And | Or):
        return score(expr, event, combine)
    if isinstance(expr, Not):
        return 0.0
    return expr.weight * event.weights.get(expr.attribute, 1.0)
