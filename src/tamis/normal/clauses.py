"""Turn a subscription's tree into the clauses that an index holds: its DNF, or a necessary cover.

Normal forms are estimated first and expanded only below a cap.

A cover is a few clauses, at least one of which is true whenever the expression is. An expression too large
for DNF is indexed by its cover and decided by its own tree. A cover may be wider than the expression, never
narrower: under AND any part may be left out, under OR none may.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal as OneOf
from typing import NamedTuple

from tamis.expression.predicates import PREDICATES, Exists, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.normal.passes import (
    Clause,
    Literal,
    attribute_of,
    flatten,
    fold_constants,
    fold_up,
    is_denial,
    is_literal,
    key_of,
    merge_literals,
    needs_presence,
    normalise,
    push_not_inward,
)

# Comparing all pairs of clauses is quadratic; beyond this it costs more than it saves.
_ABSORB = 64


def dnf_size(expr: Expr, cap: int) -> int:
    """Return how many clauses the unsimplified DNF of ``expr`` has; ``cap + 1`` means more than ``cap``."""
    return _size(push_not_inward(expr), And, cap)


def cnf_size(expr: Expr, cap: int) -> int:
    """Return how many clauses the unsimplified CNF of ``expr`` has; ``cap + 1`` means more than ``cap``."""
    return _size(push_not_inward(expr), Or, cap)


def to_dnf(expr: Expr, cap: int) -> tuple[Clause, ...] | None:
    """Return ``expr`` as a disjunction of at most ``cap`` conjunctions, or ``None`` if it needs more.

    FALSE has no clause; TRUE has one that is empty.
    """
    return _form(push_not_inward(expr), And, cap)


def to_cnf(expr: Expr, cap: int) -> tuple[Clause, ...] | None:
    """Return ``expr`` as a conjunction of at most ``cap`` disjunctions, or ``None`` if it needs more.

    TRUE has no clause; FALSE has one that is empty.
    """
    return _form(push_not_inward(expr), Or, cap)


def _size(expr: Expr, inner: type[And] | type[Or], cap: int) -> int:
    """Count clauses: they multiply at nodes of the clause's own kind and add up at the others."""

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
    """Return the clauses of an expression in negation normal form by multiplying the tree out."""

    def step(node: Expr, parts: list[list[Clause]]) -> list[Clause]:
        if not isinstance(node, And | Or):
            return [(node,)]
        if not isinstance(node, inner):
            return [clause for part in parts for clause in part]
        # An empty part makes the product empty; testing for it first keeps the work within the estimate.
        return product(parts) if all(parts) else []

    return fold_up(expr, step)


def product(parts: list[list[Clause]]) -> list[Clause]:
    """Return every choice of one clause from each part, joined."""
    clauses: list[Clause] = [()]
    for part in parts:
        clauses = [clause + other for clause in clauses for other in part]
    return clauses


def simplified(inner: type[And] | type[Or], clauses: list[Clause]) -> tuple[Clause, ...]:
    """Return clauses without repeated literals, idle clauses and clauses that others cover."""
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
    """Return the literals of one clause, reduced to a constant if one decides it.

    TRUE in an AND and FALSE in an OR are dropped; the opposite constant decides the clause.
    """
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


_ALWAYS: list[Clause] = [()]


def cover(expr: Expr, cap: int) -> tuple[Clause, ...]:
    """Return at most ``cap`` clauses, one of which is true whenever ``expr`` is; ``()`` is always true."""
    folded = fold_constants(flatten(push_not_inward(expr)))
    return simplified(And, _cover(folded, max(cap, 1)))


def _cover(node: Expr, budget: int) -> list[Clause]:
    if isinstance(node, Or):
        return _cover_or(node, budget)
    return _cover_and(node, budget) if isinstance(node, And) else [(node,)]


def _cover_and(node: And, budget: int) -> list[Clause]:
    """Return all literals times the alternatives that fit the budget.

    An alternative that does not fit is covered only if the clauses so far are not narrow.
    """
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
    """Return a cover of every child within the budget; one weak clause for all if they are too many."""
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
    """Return one literal of each clause, united by attribute.

    If there are more than the budget, test only for presence; if that is not possible, accept every event.
    """
    if not all(clauses):
        return _ALWAYS
    common = Counter(attribute for clause in clauses for attribute in set(map(attribute_of, clause)))
    chosen: list[Literal] = [
        max(clause, key=lambda literal: (common[attribute_of(literal)], _strength(literal)))
        for clause in clauses
    ]
    merged = _simplified(Or, tuple(chosen))
    if merged == [TRUE]:  # such as "a = 1 OR NOT a = 1"
        return _ALWAYS
    united: list[Clause] = [(literal,) for literal in merged]  # type: ignore[misc]
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


REMEMBERED = 4_096  # expressions
_LEAVES = frozenset(PREDICATES)
_lately: dict[tuple[str, Limits], Clauses] = {}


class Clauses(NamedTuple):
    """The clauses to index for one expression.

    If ``kind`` is ``never``, there is no clause, and no event matches. If it is ``always``, there is one
    empty clause. Otherwise the expression is true only if some clause is. If ``exact``, it is also true
    whenever some clause is.
    """

    clauses: tuple[Clause, ...]
    exact: bool
    kind: OneOf["never", "always", "clauses"]


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
        else:  # a plain conjunction, the common case, is its own clause
            return Clauses((expr.children,), True, "clauses")  # type: ignore[arg-type]
    return _remembered(expr, limits)


def _remembered(expr: Expr, limits: Limits) -> Clauses:
    """Return the remembered result for the same text: merges and indexes that follow a store ask again."""
    key = key_of(expr), limits  # not the tree: in Python, 1, 1.0 and True are equal
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
    """Return the CNF of ``expr`` if it has at most ``most`` clauses and fewer than its DNF, else ``None``.

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
