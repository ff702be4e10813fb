"""From a subscription's tree to the clauses that an index holds."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.model.expr import FALSE, PREDICATES, TRUE, And, Expr
from tamis.normal.cover import cover
from tamis.normal.forms import to_dnf
from tamis.normal.passes import normalise
from tamis.normal.tree import Clause

_LEAVES = frozenset(PREDICATES)


class Clauses(NamedTuple):
    """What to index for one expression.

    ``never``: no clause, the expression is true of no event. ``always``: one empty clause. Otherwise the
    expression is true only if some clause is, and, where ``exact``, also whenever some clause is.
    """

    clauses: tuple[Clause, ...]
    exact: bool
    kind: Literal["never", "always", "clauses"]


NEVER = Clauses((), True, "never")
ALWAYS = Clauses(((),), True, "always")


def clauses_of(expr: Expr, limits: Limits = DEFAULT_LIMITS) -> Clauses:
    """The DNF of ``expr`` if it is small enough, else a necessary cover of it."""
    if type(expr) in _LEAVES:
        return Clauses(((expr,),), True, "clauses")  # type: ignore[arg-type]
    if type(expr) is And and expr.children:
        for child in expr.children:
            if type(child) not in _LEAVES:
                break
        else:  # a plain conjunction, as most are, is its own clause
            return Clauses((expr.children,), True, "clauses")  # type: ignore[arg-type]
    return _general(normalise(expr), limits)


def _general(expr: Expr, limits: Limits) -> Clauses:
    if expr == FALSE:
        return NEVER
    if expr == TRUE:
        return ALWAYS
    clauses = to_dnf(expr, limits.dnf_clauses)
    if clauses is None:
        return Clauses(cover(expr, limits.dnf_clauses), False, "clauses")
    if not clauses:
        return NEVER
    return ALWAYS if clauses == ((),) else Clauses(clauses, True, "clauses")
