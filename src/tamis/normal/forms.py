"""Disjunctive and conjunctive normal forms: estimated first, expanded only below a cap."""

from __future__ import annotations

from tamis.expression.tree import FALSE, TRUE, And, Expr, Or
from tamis.normal.literals import merge_literals
from tamis.normal.rewriting import Clause, fold_up, key_of, push_not_inward

# Comparing all pairs of clauses is quadratic; beyond this it costs more than it saves.
_ABSORB = 64


def dnf_size(expr: Expr, cap: int) -> int:
    """Return how many clauses the DNF of ``expr`` has before simplification; ``cap + 1`` means more than
    ``cap``."""
    return _size(push_not_inward(expr), And, cap)


def cnf_size(expr: Expr, cap: int) -> int:
    """Return how many clauses the CNF of ``expr`` has before simplification; ``cap + 1`` means more than
    ``cap``."""
    return _size(push_not_inward(expr), Or, cap)


def to_dnf(expr: Expr, cap: int) -> tuple[Clause, ...] | None:
    """``expr`` as a disjunction of conjunctions, or ``None`` if that takes more than ``cap`` of them.

    FALSE has no clause; TRUE has one that is empty.
    """
    return _form(push_not_inward(expr), And, cap)


def to_cnf(expr: Expr, cap: int) -> tuple[Clause, ...] | None:
    """``expr`` as a conjunction of disjunctions, or ``None`` if that takes more than ``cap`` of them.

    TRUE has no clause; FALSE has one that is empty.
    """
    return _form(push_not_inward(expr), Or, cap)


def _size(expr: Expr, inner: type[And] | type[Or], cap: int) -> int:
    """Clauses multiply at nodes of the clause's own kind and add up at the others."""

    def count(node: Expr, sizes: list[int]) -> int:
        if not isinstance(node, And | Or):
            return 1
        if not isinstance(node, inner):
            return min(sum(sizes), cap + 1)
        product = 1
        for size in sizes:
            product = min(product * size, cap + 1)
        return 0 if 0 in sizes else product

    return fold_up(expr, count)


def _form(expr: Expr, inner: type[And] | type[Or], cap: int) -> tuple[Clause, ...] | None:
    if _size(expr, inner, cap) > cap:
        return None
    return simplified(inner, expand(expr, inner))


def expand(expr: Expr, inner: type[And] | type[Or]) -> list[Clause]:
    """Return the clauses of an expression in negation normal form, as the tree multiplies out."""

    def step(node: Expr, parts: list[list[Clause]]) -> list[Clause]:
        if not isinstance(node, And | Or):
            return [(node,)]
        if not isinstance(node, inner):
            return [clause for part in parts for clause in part]
        # An empty part makes the product empty; seeing it first keeps the work within the estimate.
        return product(parts) if all(parts) else []

    return fold_up(expr, step)


def product(parts: list[list[Clause]]) -> list[Clause]:
    """Return every choice of one clause from each part, joined."""
    clauses: list[Clause] = [()]
    for part in parts:
        clauses = [clause + other for clause in clauses for other in part]
    return clauses


def simplified(inner: type[And] | type[Or], clauses: list[Clause]) -> tuple[Clause, ...]:
    """Clauses without literals that repeat, clauses that say nothing, and clauses that others cover."""
    pointless = FALSE if inner is And else TRUE
    distinct: dict[tuple[str, ...], Clause] = {}
    for clause in clauses:
        literals = _simplified(inner, clause)
        if pointless in literals:
            continue
        if not literals:  # TRUE among alternatives, or FALSE among demands, decides the whole
            return ((),)
        keyed = dict(sorted((key_of(literal), literal) for literal in literals))
        distinct[tuple(keyed)] = tuple(keyed.values())  # type: ignore[arg-type]
    return _absorbed(distinct)


def _simplified(inner: type[And] | type[Or], clause: Clause) -> list[Expr]:
    """Return the literals of one clause. TRUE in an AND and FALSE in an OR say nothing; the opposite settles
    it."""
    neutral, absorbing = (TRUE, FALSE) if inner is And else (FALSE, TRUE)
    literals = [literal for literal in merge_literals(inner, clause) if literal != neutral]
    return [absorbing] if absorbing in literals else literals


def _absorbed(distinct: dict[tuple[str, ...], Clause]) -> tuple[Clause, ...]:
    if not 1 < len(distinct) <= _ABSORB:
        return tuple(distinct.values())
    kept: list[frozenset[str]] = []
    for keys in sorted(distinct, key=len):
        if not any(smaller <= frozenset(keys) for smaller in kept):
            kept.append(frozenset(keys))
    alive = set(kept)
    return tuple(clause for keys, clause in distinct.items() if frozenset(keys) in alive)
