"""Tools for rewriting trees: walking without recursion, joining children, telling literals apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from tamis.expression.predicates import Exists, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or, children_of
from tamis.language import to_text

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
        children = children_of(node)
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
    """Return whether ``expr`` is a predicate, or ``Not`` above a positive one that asks for a value."""
    if isinstance(expr, Predicate):
        return True
    if not isinstance(expr, Not) or not isinstance(expr.child, Predicate):
        return False
    return not isinstance(expr.child, Exists) and not expr.child.is_negative


def key_of(expr: Expr) -> str:
    """What tells an expression from others. Equality would not do: ``TRUE == 1`` in Python."""
    return to_text(expr)


def attribute_of(literal: Literal) -> str:
    """Return the attribute that a literal speaks of."""
    predicate = literal.child if isinstance(literal, Not) else literal
    return predicate.attribute  # type: ignore[union-attr]


def needs_presence(literal: Literal) -> bool:
    """Return whether the literal can only be true if its attribute is present."""
    if isinstance(literal, Not):
        return False
    return not (isinstance(literal, Exists) and literal.negated)


def is_denial(literal: Literal) -> bool:
    """Return whether the literal says what must not be: such literals are true of most events."""
    return isinstance(literal, Not) or literal.is_negative
