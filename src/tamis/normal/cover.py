"""Necessary covers: a few clauses, at least one of which is true whenever the expression is.

An expression too large for DNF is indexed by its cover and decided by its own tree. A cover may be
wider than the expression, never narrower: under AND any part may be left out, under OR none may.
"""

from __future__ import annotations

from collections import Counter

from tamis.expression.predicates import Exists
from tamis.expression.tree import And, Expr, Not, Or
from tamis.normal.forms import dnf_size, expand, product, simplified
from tamis.normal.merge import merge_literals
from tamis.normal.passes import flatten, fold_constants, push_not_inward
from tamis.normal.tree import Clause, Literal, attribute_of, is_denial, is_literal, needs_presence

_ALWAYS: list[Clause] = [()]


def cover(expr: Expr, cap: int) -> tuple[Clause, ...]:
    """At most ``cap`` clauses whose disjunction is true wherever ``expr`` is; ``()`` is always true."""
    folded = fold_constants(flatten(push_not_inward(expr)))
    return simplified(And, _cover(folded, max(cap, 1)))


def _cover(node: Expr, budget: int) -> list[Clause]:
    if isinstance(node, Or):
        return _cover_or(node, budget)
    return _cover_and(node, budget) if isinstance(node, And) else [(node,)]


def _cover_and(node: And, budget: int) -> list[Clause]:
    """Return all literals, times the alternatives that fit; the first that does not only if nothing else
    narrows."""
    clauses: list[Clause] = [tuple(child for child in node.children if is_literal(child))]  # type: ignore[misc]
    larger = [child for child in node.children if not is_literal(child)]
    for child in sorted(larger, key=lambda part: dnf_size(part, budget)):
        room = budget // len(clauses)
        if dnf_size(child, room) <= room:
            clauses = product([clauses, expand(child, And)])
        elif min(map(_narrowness, clauses), default=9) < 2:
            clauses = product([clauses, _cover(child, room)])
    return clauses


def _cover_or(node: Or, budget: int) -> list[Clause]:
    """Return every child, each with a share of the budget; one weak clause for all if they are too many."""
    if len(node.children) > budget:
        return _weakened([_cover(child, 1)[0] for child in node.children], budget)
    spare = budget - len(node.children)
    clauses: list[Clause] = []
    for child in sorted(node.children, key=lambda part: dnf_size(part, budget)):
        found = _cover(child, 1 + spare)
        spare -= max(len(found) - 1, 0)
        clauses.extend(found)
    return clauses


def _weakened(clauses: list[Clause], budget: int) -> list[Clause]:
    """Return one literal of each clause, united by attribute; then only presence; then nothing."""
    if not all(clauses):
        return _ALWAYS
    common = Counter(attribute for clause in clauses for attribute in set(map(attribute_of, clause)))
    chosen: list[Literal] = [
        max(clause, key=lambda literal: (common[attribute_of(literal)], _strength(literal)))
        for clause in clauses
    ]
    united: list[Clause] = [(literal,) for literal in merge_literals(Or, chosen)]  # type: ignore[misc]
    if len(united) <= budget:
        return united
    present = {attribute_of(literal) for literal in chosen}
    if not all(map(needs_presence, chosen)) or len(present) > budget:
        return _ALWAYS
    return [(Exists(attribute),) for attribute in sorted(present)]


def _narrowness(clause: Clause) -> int:
    return max(map(_strength, clause), default=0)


def _strength(literal: Literal) -> int:
    """Return how few events a literal is likely to be true of, from 0 (most) to 4 (few)."""
    return 0 if isinstance(literal, Not) or is_denial(literal) else literal.strength
