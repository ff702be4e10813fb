"""Estimate the cost of an expression: where its clauses are posted, and how many events reach them."""

from __future__ import annotations

import math

import msgspec

from tamis.expression.tree import And, Expr, Or
from tamis.index.advice.likelihood import Share
from tamis.language import to_text
from tamis.normal import Clause, Clauses, attribute_of, needs_presence

LISTED = 16


class Access(msgspec.Struct, frozen=True):
    """The condition under which an index finds a clause, and the share of events that meet it.

    If ``condition`` is ``None``, the clause has no such condition and is looked at for every event.
    """

    condition: str | None
    share: float


class Cost(msgspec.Struct, frozen=True):
    """The estimated work for one event, as shares and counts (not seconds).

    ``share`` is the share of events for which some clause is looked at. ``candidates`` is the number of
    clauses looked at per event. ``revised`` is the number of trees evaluated per event if the index holds
    only a cover.
    """

    share: float
    candidates: float
    revised: float
    accesses: tuple[Access, ...]  # the widest first; a long list is cut


def cost_of(found: Clauses, share: Share) -> Cost:
    """Return the cost of the clauses of an expression."""
    conditions = [_access(clause, share) for clause in found.clauses]
    widths = [1.0 if condition is None else share(condition) for condition in conditions]
    accesses = [
        Access(None if condition is None else to_text(condition), width)
        for condition, width in zip(conditions, widths, strict=True)
    ]
    meeting = [condition for condition in conditions if condition is not None]
    looked = 1.0 if len(meeting) < len(conditions) else share(Or(tuple(meeting)))
    revised = 0.0 if found.exact else share(Or(tuple([And(clause) for clause in found.clauses])))
    accesses.sort(key=lambda access: -access.share)
    return Cost(looked, math.fsum(widths), revised, tuple(accesses[:LISTED]))


def _access(clause: Clause, share: Share) -> Expr | None:
    """Return the clause's narrowest condition on one attribute; only present attributes can be looked up."""
    groups: dict[str, list[Expr]] = {}
    for literal in clause:
        if needs_presence(literal):
            groups.setdefault(attribute_of(literal), []).append(literal)
    candidates = [some[0] if len(some) == 1 else And(tuple(some)) for some in groups.values()]
    return min(candidates, key=share, default=None)
