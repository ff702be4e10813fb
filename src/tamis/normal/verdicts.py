"""Decide what holds of an expression for all events; a verdict is certain, but may be missing.

A verdict is certain, because the passes keep the truth. Expressions that are too large to expand get none.
"""

from __future__ import annotations

from tamis.expression.tree import And, Expr, Not
from tamis.normal.clauses import to_cnf, to_dnf
from tamis.normal.passes import normalise


def is_never(expr: Expr, cap: int) -> bool:
    """Return whether ``expr`` is surely true of no event: every clause of its DNF contradicts itself."""
    return to_dnf(normalise(expr), cap) == ()


def is_always(expr: Expr, cap: int) -> bool:
    """Return whether ``expr`` is surely true of every event, because every clause of its CNF is."""
    return to_cnf(normalise(expr), cap) == ()


def follows(expr: Expr, others: tuple[Expr, ...], cap: int) -> bool:
    """Return whether ``expr`` is surely true wherever all ``others`` are."""
    return is_never(And((*others, Not(expr))), cap)
