"""Search conjunctions, and disjunctions of them, that hold for wanted events and not for others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Marks = npt.NDArray[np.bool_]
Way = tuple[tuple[int, ...], ...]
"""A disjunction of conjunctions; each is the numbers of its predicates."""

Rank = tuple[float, int]
"""Lower is better: how badly a way separates, and the other events that it matches."""

T = TypeVar("T")

BEAM = 24  # conjunctions that are kept for the next round
PARTS = 3  # conjunctions in a disjunction
STRICT = 20.0  # the weight of other events when parts of a disjunction are sought: each must be clean
PRICE = 0.01  # of a predicate: one that separates less is left out


def separation(recall: float, noise: float) -> float:
    """Return how well events are separated, from 0 to 1.

    This is F1 with both kinds of events weighing the same. ``recall`` is the share of the wanted events that
    match, and ``noise`` that of the others.
    """
    return 2 * recall / (1 + recall + noise) if recall else 0.0


class _Found(NamedTuple):
    """A conjunction, the events that it matches, and its rank: lower is better."""

    parts: tuple[int, ...]
    marks: Marks
    rank: Rank


class Search:
    """A beam search over predicates.

    ``marks`` has a row for each predicate and a column for each event, the wanted ones first.
    """

    def __init__(self, marks: Marks, wanted: int, longest: int) -> None:
        self._marks, self._wanted, self._longest = marks, wanted, longest
        self._all = np.ones(marks.shape[1], np.bool_)

    def best(self, most: int) -> list[Way]:
        """Return at most so many ways, best first; no two match the same of these events."""
        found = self._conjunctions(self._all, 1.0)
        ways: list[tuple[Way, Marks]] = [((one.parts,), one.marks) for one in found[: 4 * most]]
        clean = self._conjunctions(self._all, STRICT)
        ways += [way for one in clean[:most] if (way := self._completed(one)) is not None]
        ways.sort(key=lambda way: self._rank(way[1], sum(map(len, way[0]))))
        return [way for way, _ in _distinct(ways)][:most]

    def _rank(self, marks: Marks, predicates: int, weight: float = 1.0) -> Rank:
        hits, wrong = int(marks[: self._wanted].sum()), int(marks[self._wanted :].sum())
        return self._ranked(hits, wrong, predicates, weight)

    def _ranked(self, hits: int, wrong: int, predicates: int, weight: float) -> Rank:
        others = max(1, len(self._all) - self._wanted)
        clean = separation(hits / self._wanted, weight * wrong / others)
        return PRICE * predicates - clean, wrong

    def _conjunctions(self, counted: Marks, weight: float) -> list[_Found]:
        """Return conjunctions by their rank, if only the ``counted`` events count."""
        beam = [_Found((), self._all, (0.0, 0))]
        found: list[_Found] = []
        for _ in range(self._longest):
            ranked = sorted(set(self._grown(beam, counted, weight)))[: 4 * BEAM]
            made = [(parts, np.logical_and.reduce(self._marks[list(parts)]), rank) for rank, parts in ranked]
            beam = [one for one, _ in _distinct((_Found(*one), one[1]) for one in made)][:BEAM]
            found += beam
        return sorted(found, key=lambda one: (one.rank, one.parts))

    def _grown(
        self, beam: Iterable[_Found], counted: Marks, weight: float
    ) -> Iterator[tuple[Rank, tuple[int, ...]]]:
        """Yield each conjunction with one more predicate, behind its rank, if it matches a wanted event."""
        for one in beam:
            both = self._marks & (one.marks & counted)
            hits = both[:, : self._wanted].sum(axis=1).tolist()
            wrong = both[:, self._wanted :].sum(axis=1).tolist()
            for at in range(len(self._marks)):
                if hits[at] and at not in one.parts:
                    rank = self._ranked(hits[at], wrong[at], len(one.parts) + 1, weight)
                    yield rank, tuple(sorted((*one.parts, at)))

    def _completed(self, first: _Found) -> tuple[Way, Marks] | None:
        """Return the conjunction with others, for wanted events that it misses; ``None`` if none helps."""
        parts, marks = [first.parts], first.marks
        while len(parts) < PARTS and not marks[: self._wanted].all():
            more = next(iter(self._conjunctions(~marks, STRICT)), None)
            size = sum(map(len, parts))
            if more is None or self._rank(marks | more.marks, size + len(more.parts)) >= self._rank(
                marks, size
            ):
                break
            parts.append(more.parts)
            marks = marks | more.marks
        return (tuple(parts), marks) if len(parts) > 1 else None


def _distinct(ways: Iterable[tuple[T, Marks]]) -> list[tuple[T, Marks]]:
    """Return the first of all ways that match the same events."""
    kept: dict[bytes, tuple[T, Marks]] = {}
    for way in ways:
        kept.setdefault(way[1].tobytes(), way)
    return list(kept.values())
