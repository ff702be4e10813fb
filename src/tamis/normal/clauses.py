"""From a subscription's tree to the clauses that an index holds."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tamis.expression.predicates import PREDICATES, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not
from tamis.language.printer import to_text
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.normal.cover import cover
from tamis.normal.forms import cnf_size, dnf_size, to_cnf, to_dnf
from tamis.normal.passes import normalise
from tamis.normal.tree import Clause

REMEMBERED = 4_096  # expressions
_LEAVES = frozenset(PREDICATES)
_lately: dict[tuple[str, Limits], Clauses] = {}


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
    """Return the DNF of ``expr`` if it is small enough, else a necessary cover of it."""
    if type(expr) in _LEAVES:
        return Clauses(((expr,),), True, "clauses")  # type: ignore[arg-type]
    if type(expr) is And and expr.children:
        for child in expr.children:
            if type(child) not in _LEAVES:
                break
        else:  # a plain conjunction, as most are, is its own clause
            return Clauses((expr.children,), True, "clauses")  # type: ignore[arg-type]
    return _remembered(expr, limits)


def _remembered(expr: Expr, limits: Limits) -> Clauses:
    """What was found for the same text before: merges, and an index that follows a store, ask again."""
    key = to_text(expr), limits  # not the tree: to Python, 1 and 1.0 and True are equal
    known = _lately.get(key)
    if known is None:
        if len(_lately) >= REMEMBERED:
            _lately.clear()
        known = _lately[key] = _general(normalise(expr), limits)
    return known


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


def demands_of(expr: Expr, most: int) -> tuple[Clause, ...] | None:
    """Return the CNF of ``expr``, if that has fewer clauses than its DNF and at most ``most``; else ``None``.

    All literals must be comparisons: other predicates may become conjunctions in integer form.
    """
    if type(expr) in _LEAVES:
        return None
    expr = normalise(expr)
    size = cnf_size(expr, most)
    if not 1 < size <= most or dnf_size(expr, size) <= size:
        return None
    demands = to_cnf(expr, most) or ()
    simple = all(_is_comparison(literal) for some in demands for literal in some)
    return demands if simple and len(demands) > 1 and all(demands) else None


def _is_comparison(literal: Expr) -> bool:
    predicate = literal.child if isinstance(literal, Not) else literal
    return isinstance(predicate, Predicate) and predicate.is_comparison
