"""The rewrite passes, and the tools that walk trees. Each pass keeps the truth of every expression.

The rewritten tree is what an index is built from. Scores are computed on the tree as it was written,
so weights are dropped first and equal predicates can meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from tamis.expression.predicates import Exists, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or, children_of
from tamis.language import to_text
from tamis.normal.literals import merge_literals

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


Pass = Callable[[Expr], Expr]


def normalise(expr: Expr) -> Expr:
    """Return all passes in order: ``Not`` only above positive predicates, no constants inside, sorted."""
    for rewrite in PASSES:
        expr = rewrite(expr)
    return expr


def drop_weights(expr: Expr) -> Expr:
    """Return every predicate with the default weight."""
    return fold_up(expr, _without_weight)


def _without_weight(node: Expr, children: list[Expr]) -> Expr:
    if isinstance(node, And | Or):
        return type(node)(tuple(children))
    if isinstance(node, Not):
        return Not(children[0])
    return node if node.weight == 1.0 else msgspec.structs.replace(node, weight=1.0)


def push_not_inward(expr: Expr) -> Expr:
    """``Not`` only directly above positive predicates: De Morgan, and the meaning of negative forms."""
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
    """No ``And`` directly in an ``And``, no ``Or`` in an ``Or``, no node with a single child."""
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
    """No TRUE or FALSE below the root, and predicates that no value can satisfy made into one."""
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
    """Return the literals of one node on one attribute said with the fewest: see
    :mod:`tamis.normal.literals`."""
    return fold_up(expr, _merged)


def _merged(node: Expr, children: list[Expr]) -> Expr:
    if not isinstance(node, And | Or):
        return Not(children[0]) if isinstance(node, Not) else node
    flat = join(type(node), children)
    if not isinstance(flat, And | Or) or len(flat.children) < 2:
        return flat
    return join(type(flat), merge_literals(type(flat), flat.children))


def sort_and_dedupe(expr: Expr) -> Expr:
    """Children in the order of their text, predicates before nodes, each once."""
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
