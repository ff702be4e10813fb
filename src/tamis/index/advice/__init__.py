"""Advise on an expression: its kind, its cost, the share of events that match, and probable mistakes.

>>> found = advise("price < 5 AND price IS NULL")
>>> found.warnings[0].code
'never-matches'

Advice never refuses an expression that the language allows. It reports "never" and "everything" only when
they are certain. Shares are counted in sample events if there are any, and guessed otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from tamis.expression.predicates import Predicate
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.index.advice import cautions
from tamis.index.advice.cautions import CODES, Caution, percent
from tamis.index.advice.cost import Access, Cost, cost_of
from tamis.index.advice.likelihood import Counted, guessed
from tamis.index.advice.parts import OPERANDS, idle_parts
from tamis.index.advice.sample import typical_events
from tamis.index.advice.suspects import of_operands
from tamis.index.display import pairs, table
from tamis.language import Span, expression_from, span_of, to_json, to_text
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.normal import Clauses, clauses_of, is_always, is_never
from tamis.values.event import Event

__all__ = ["CODES", "Access", "Advice", "Caution", "Cost", "Selectivity", "advise"]

Kind = Literal["never", "always", "clauses", "cover"]


class Selectivity(msgspec.Struct, frozen=True):
    """The share of events that match: ``matched`` of ``events`` looked at, or a guess if there were none."""

    share: float
    events: int
    matched: int
    measured: bool


class Advice(msgspec.Struct, frozen=True):
    """Everything known about an expression before it is registered; plain data for ``msgspec`` and JSON.

    ``kind`` names the form that an index holds: ``never`` (nothing), ``always`` (all events), ``clauses``
    that decide the expression, or ``cover``. An expression too large to expand has a cover: the index holds
    necessary clauses, and the tree decides.
    """

    text: str
    tree: dict[str, Any]
    predicates: int
    attributes: tuple[str, ...]
    kind: Kind
    clauses: int
    cost: Cost
    selectivity: Selectivity
    warnings: tuple[Caution, ...]

    def __repr__(self) -> str:
        share = (
            f"{'' if self.selectivity.measured else 'a guess of '}{self.selectivity.share:.3g} of all events"
        )
        codes = f"; {', '.join(warning.code for warning in self.warnings)}" if self.warnings else ""
        return f"<Advice on {cautions.shortened(self.text)!r}: {self.kind}, matches {share}{codes}>"

    def _repr_html_(self) -> str:
        fields = {"kind": self.kind, "clauses": self.clauses, "share": self.selectivity.share}
        rows = [(warning.code, warning.text) for warning in self.warnings]
        return pairs(fields, cautions.shortened(self.text)) + table(("warning", ""), rows)


def advise(expression: Any, sample: Any = None, limits: Limits = DEFAULT_LIMITS) -> Advice:
    """Return advice on an expression (a tree, text or JSON form).

    ``sample`` is an :class:`~tamis.index.index.Index`, whose recent events are taken, or typical events in
    any form that ``match_batches`` takes.
    """
    tree = expression_from(expression, limits)
    span = span_of(tree)
    leaves = list(_leaves(tree, span))
    operands = sum(predicate.comparisons for predicate, _ in leaves)
    events = typical_events(sample, operands, limits)
    found = clauses_of(tree, limits)
    kind = _kind(tree, found, limits) if operands <= OPERANDS else _held(found)
    counted = Counted(events)
    cost = cost_of(found, counted.share if events else guessed)
    selectivity = _selectivity(tree, kind, len(events), int(counted.truth(tree).sum()))
    idle = idle_parts(tree, span, kind in ("never", "always")) if operands <= OPERANDS else []
    warnings = [
        *_of_whole(tree, kind, cost, selectivity, limits),
        *cautions.of_parts(idle),
        *cautions.of_types(tree),
        *cautions.of_sample(leaves, events),
        *cautions.of_patterns(leaves),
        *of_operands(leaves),
    ]
    return Advice(
        to_text(tree),
        to_json(tree),
        len(leaves),
        tuple(sorted({predicate.attribute for predicate, _ in leaves})),
        kind,
        len(found.clauses),
        cost,
        selectivity,
        tuple(warnings),
    )


def _leaves(tree: Expr, span: Span) -> Iterator[tuple[Predicate, Span]]:
    """Yield every predicate and its place, from left to right."""
    stack: list[tuple[Any, Span]] = [(tree, span)]
    while stack:
        node, place = stack.pop()
        if hasattr(node, "attribute"):
            yield node, place
        stack.extend(reversed(list(zip(node.children, place.children, strict=True))))


def _held(found: Clauses) -> Kind:
    return found.kind if found.kind != "clauses" else "clauses" if found.exact else "cover"


def _kind(tree: Expr, found: Clauses, limits: Limits) -> Kind:
    """Return the kind that the index holds, or the certain verdict if the index cannot see it."""
    if is_never(tree, limits.dnf_clauses):
        return "never"
    return "always" if is_always(tree, limits.dnf_clauses) else _held(found)


def _selectivity(tree: Expr, kind: Kind, events: int, matched: int) -> Selectivity:
    if kind in ("never", "always"):
        share = 0.0 if kind == "never" else 1.0
    else:
        share = matched / events if events else guessed(tree)
    return Selectivity(share, events, matched, events > 0)


def _of_whole(
    tree: Expr, kind: Kind, cost: Cost, selectivity: Selectivity, limits: Limits
) -> Iterator[Caution]:
    """Yield the warnings about the expression as a whole."""
    if kind == "never":
        yield Caution("never-matches", "no event can match")
        return
    if kind == "always":
        yield Caution("matches-everything", "every event matches")
        return
    if matches(tree, Event({})):
        yield Caution(
            "matches-absent",
            "an event with none of these attributes matches; a negative form such as != asks for presence",
        )
    if selectivity.share > cautions.BROAD:
        how = (
            f"{selectivity.matched} of {selectivity.events} events" if selectivity.measured else "by its form"
        )
        yield Caution("broad", f"about {selectivity.share:.0%} of all events match ({how})")
    if kind == "cover":
        text = f"it has more than dnf_clauses = {limits.dnf_clauses} clauses, so its tree decides for"
        yield Caution("cover", f"{text} {percent(cost.revised)} of all events")
    if any(access.condition is None for access in cost.accesses):
        yield Caution(
            "every-event",
            "a part of it has no condition that asks for a value, so it is looked at for every event",
        )
