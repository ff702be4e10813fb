"""Collect predicates that may separate wanted events from others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tamis.expression.predicates import Between, Compare, Exists, In, Predicate, Text, Within
from tamis.values.event import Event
from tamis.values.shape import Box
from tamis.values.text import terms_of
from tamis.values.value import Value, family

VALUES = 8  # equalities for an attribute
WORDS = 12  # words for an attribute
CUTS = 6  # bounds in each direction for an attribute
LONGEST = 60  # characters of a string that stands in an equality
MOST = 400  # predicates in all


class _Values:
    """The values of one attribute in some events."""

    def __init__(self) -> None:
        self.events = 0
        self.by_family: dict[str, Counter[Any]] = defaultdict(Counter)

    def add(self, values: Iterable[Value]) -> None:
        """Count the values of one event, each once."""
        self.events += 1
        for value in dict.fromkeys(values):
            self.by_family[family(value)][value] += 1


def candidates(wanted: list[Event], others: list[Event], ignored: frozenset[str]) -> list[Predicate]:
    """Return predicates that many of the wanted events satisfy, the most promising attributes first."""
    ours, theirs = _collected(wanted, ignored), _collected(others, ignored)
    found: list[Predicate] = []
    for name in sorted(ours, key=lambda name: (-ours[name].events, name)):
        found.extend(_of_attribute(name, ours[name], theirs.get(name, _Values()), len(wanted)))
    return list({repr(one): one for one in found}.values())[:MOST]


def _collected(events: list[Event], ignored: frozenset[str]) -> dict[str, _Values]:
    found: dict[str, _Values] = defaultdict(_Values)
    for event in events:
        for name, values in event.attributes.items():
            if name not in ignored:
                found[name].add(values)
    return found


def _of_attribute(name: str, ours: _Values, theirs: _Values, wanted: int) -> Iterator[Predicate]:
    for kind, values in ours.by_family.items():
        other = theirs.by_family.get(kind, Counter())
        if kind in ("string", "boolean", "number", "time"):
            yield from _equalities(name, values)
        if kind in ("number", "time"):
            yield from _bounds(name, values, other)
        if kind == "string":
            yield from _words(name, values)
        if kind in ("string", "boolean"):  # a number is excluded by a bound
            yield from _denials(name, values, other)
        if kind == "point":
            yield Within(name, _around(values))
    if ours.events == wanted:
        yield Exists(name)


def _equalities(name: str, values: Counter[Any]) -> Iterator[Predicate]:
    """Yield equalities with frequent values, and the list of them."""
    frequent = [value for value, _ in values.most_common(VALUES) if _is_short(value)]
    yield from (Compare(name, "=", value) for value in frequent)
    # A list of values that hardly repeat tells nothing about new events.
    if 1 < len(values) <= VALUES and len(frequent) == len(values) and values.total() >= 2 * len(values):
        yield In(name, tuple(sorted(frequent)))


def _denials(name: str, values: Counter[Any], other: Counter[Any]) -> Iterator[Predicate]:
    """Yield the denial of frequent values that only other events have."""
    foreign = [value for value, _ in other.most_common(VALUES) if value not in values and _is_short(value)]
    yield from (Compare(name, "!=", value) for value in foreign[:2])


def _is_short(value: Any) -> bool:
    return type(value) is not str or len(value) <= LONGEST


def _bounds(name: str, values: Counter[Any], other: Counter[Any]) -> Iterator[Predicate]:
    """Yield bounds: around all wanted values, and those next to values of others."""
    low, high = min(values), max(values)
    for value in dict.fromkeys((low, *_cuts(values))):
        yield Compare(name, ">=", value)
    for value in dict.fromkeys((high, *_cuts(values))):
        yield Compare(name, "<=", value)
    below, above = [v for v in other if v < low], [v for v in other if v > high]
    if below:
        yield Compare(name, ">", max(below))
    if above:
        yield Compare(name, "<", min(above))
    yield Between(name, low, high)


def _cuts(values: Counter[Any]) -> list[Any]:
    """Return values at quantiles, so that a bound may leave out strays."""
    ordered = sorted(values.elements())
    places = np.linspace(0, len(ordered) - 1, CUTS + 2)[1:-1].astype(int)
    return [ordered[at] for at in places.tolist()]


def _words(name: str, values: Counter[Any]) -> Iterator[Predicate]:
    """Yield words that several wanted texts share."""
    counts: Counter[str] = Counter()
    for text, count in values.items():
        for word in dict.fromkeys(terms_of(text)):
            counts[word] += count
    texts = sum(values.values())
    for word, count in counts.most_common(WORDS):
        if count > 1 or texts == 1:
            yield Text(name, "any", (word,))


def _around(points: Iterable[Any]) -> Box:
    """Return the least box around points; one across the antimeridian is not looked for."""
    lons, lats = zip(*((point.lon, point.lat) for point in points), strict=True)
    return Box(min(lons), min(lats), max(lons), max(lats))
