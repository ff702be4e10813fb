"""Write the warnings for the author of an expression: the codes never change, the words may improve."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import msgspec

from tamis.expression.predicates import Predicate
from tamis.expression.tree import Expr, predicates_of
from tamis.index.advice.parts import Fault, Part
from tamis.language import Span, to_text
from tamis.values.event import NULLS, Event
from tamis.values.value import comparable_family

CODES = (
    "never-matches",
    "matches-everything",
    "matches-absent",
    "contradiction",
    "tautology",
    "redundant",
    "mixed-types",
    "type-not-seen",
    "attribute-not-seen",
    "literal-wildcard",
    "quoted-value",
    "broad",
    "every-event",
    "regex",
    "cover",
)
BROAD = 0.25  # of all events
SEEN = 10  # values of an attribute from which their types count as evidence
NAMES = 4_096  # that a misspelt name is compared with
SUGGESTED = 8  # warnings after which no more names are compared
SHOWN = 80


class Caution(msgspec.Struct, frozen=True):
    """A warning; ``start`` and ``end`` are the place in the canonical text, if it is about a part of it."""

    code: str
    text: str
    start: int | None = None
    end: int | None = None


def of_parts(parts: list[Part]) -> Iterator[Caution]:
    """Yield a warning for every part that changes nothing."""
    for part in parts:
        shown = shortened(to_text(part.expr))
        yield Caution(part.fault, f"{shown} {_FAULTS[part.fault]}", part.span.start, part.span.end)


_FAULTS: dict[Fault, str] = {
    "contradiction": "is never true",
    "tautology": "is always true: it can add to the score, but it excludes nothing",
    "redundant": "changes nothing about what matches: the conditions beside it say it already",
}


def of_types(expr: Expr) -> Iterator[Caution]:
    """Yield a warning for every attribute compared with operands that no single value compares with."""
    families: dict[str, set[str]] = {}
    for predicate in predicates_of(expr):
        families.setdefault(predicate.attribute, set()).update(predicate.families)
    for name, found in families.items():
        if len(found) > 1:
            kinds = " and with a ".join(sorted(found))
            text = f"{name} is compared with a {kinds}; a value is only ever compared with its own type"
            yield Caution("mixed-types", text)


def of_patterns(leaves: list[tuple[Predicate, Span]]) -> Iterator[Caution]:
    """Yield a warning for every pattern that needs an automaton."""
    for predicate, span in leaves:
        if predicate.needs_automaton:
            text = f"{shortened(to_text(predicate))} is tried on every value of {predicate.attribute}"
            yield Caution("regex", f"{text}; a prefix, a suffix or terms are looked up", span.start, span.end)


def of_sample(leaves: list[tuple[Predicate, Span]], events: list[Event]) -> Iterator[Caution]:
    """Yield a warning for each attribute that no sample event has, and for each type that no value has."""
    if not events:
        return
    seen: dict[str, list[str]] = {}
    for event in events:
        for name, values in event.attributes.items():
            seen.setdefault(name, []).extend(map(comparable_family, values))
    warned: set[tuple[str, str]] = set()
    for predicate, span in leaves:
        near = list(seen)[:NAMES] if len(warned) < SUGGESTED else []
        caution = _not_seen(predicate, seen, len(events), near)
        if caution is not None and (caution.code, predicate.attribute) not in warned:
            warned.add((caution.code, predicate.attribute))
            yield msgspec.structs.replace(caution, start=span.start, end=span.end)


def _not_seen(
    predicate: Predicate, seen: dict[str, list[str]], count: int, names: list[str]
) -> Caution | None:
    name, families = predicate.attribute, predicate.families
    if name == NULLS:
        return None
    if name not in seen:
        near = _nearest(name, names)
        suggestion = f"; did you mean {near}?" if near else ""
        return Caution("attribute-not-seen", f"none of {count} events looked at has {name}{suggestion}")
    kinds = set(seen[name])
    if len(seen[name]) < SEEN or not families or not families.isdisjoint(kinds):
        return None
    found, expected = (" or a ".join(sorted(some)) for some in (kinds, families))
    return Caution("type-not-seen", f"{name} is a {found} in the events looked at, never a {expected}")


def _nearest(name: str, names: list[str]) -> str | None:
    names = [other for other in names if other != NULLS]
    folded = {other.casefold(): other for other in names}
    if name.casefold() in folded:
        return folded[name.casefold()]
    found = get_close_matches(name, names, 1, 0.7)
    return found[0] if found else None


def percent(share: float) -> str:
    """Return a share as a percentage with three digits."""
    return f"{100.0 * share:.3g}%"


def shortened(text: str) -> str:
    """Return a text, cut to its beginning if it is long."""
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
