"""Score subscriptions that match an event, and hold the bounds by which a search prunes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from weakref import proxy

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import STRUCTURAL
from tamis.engines.protocol import Ranked
from tamis.expression.truth import score
from tamis.index.bounds import Ceilings, ceilings_of, weights_by_attribute, weights_of
from tamis.index.match import EventAt
from tamis.segment import Segment
from tamis.values.event import EventLike

_SCALARS = frozenset((int, float, str, bool))

Combine = Callable[[Iterable[float]], float]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Subject(NamedTuple):
    """The event of a search: in its original form, and as an object, which is made only if needed."""

    source: EventLike
    event: EventAt
    weights: Mapping[str, float]

    def attributes(self) -> Iterable[str]:
        """Return the names of its attributes; a flat dictionary's names are its keys."""
        source = self.source
        if type(source) is dict and all(
            type(name) is str and name.isascii() and type(value) in _SCALARS for name, value in source.items()
        ):
            return source
        return self.event(0).attributes


class Scores:
    """Scores of one segment's subscriptions, and the bounds on them; computed when first needed."""

    def __init__(self, segment: Segment) -> None:
        columns = segment.columns
        structural = np.zeros(len(columns.op) + 1, np.int64)
        np.cumsum(columns.op >= STRUCTURAL, out=structural[1:])
        self._plain = structural[columns.row_start[1:]] == structural[columns.row_start[:-1]]
        # Scores are cached by segment; a reference to the segment here would keep both for ever.
        self._segment: Segment = proxy(segment)

    def weights_of(self, subject: Subject) -> tuple[Ints, Floats]:
        """Return the attributes of an event by number, and their weights."""
        return weights_by_attribute(self._names, subject.attributes(), subject.weights)

    @cached_property
    def _names(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._segment.columns.names)}

    @cached_property
    def ceilings(self) -> Ceilings | None:
        """The greatest score of each subscription; ``None`` if there is no bound."""
        return ceilings_of(self._segment)

    @cached_property
    def ranking(self) -> Any:
        """The engine's data for pruning; ``None`` if the engine cannot prune, or not by these weights."""
        engine: Any = self._segment.engine
        owned = np.all(self._segment.owner_start[1:] > self._segment.owner_start[:-1])
        if self.ceilings is None or not owned or not isinstance(engine, Ranked):
            return None
        return engine.ranking(weights_of(self._segment, self.ceilings))

    @cached_property
    def place(self) -> Ints:
        """The place of each subscription in the order of ids."""
        order = self._segment.arena["ids.order"].astype(np.int64)
        place = np.zeros(len(order), np.int64)
        place[order] = np.arange(len(order))
        return place

    @cached_property
    def _sums(self) -> Floats:
        """The scores that do not depend on the event, as far as they were computed; NaN for the others.

        Several threads may write the same number to the same place.
        """
        return np.full(self._segment.count, np.nan)

    def of(self, ordinals: Ints, subject: Subject, combine: Combine) -> Floats:
        """Return the scores of some matching subscriptions."""
        if subject.weights or combine is not sum:
            return np.array([self._one(number, subject, combine) for number in ordinals.tolist()])
        found = self._sums[ordinals]
        unknown = np.isnan(found)
        if unknown.any():
            found[unknown] = [self._one(number, subject, combine) for number in ordinals[unknown].tolist()]
            self._sums[ordinals] = np.where(self._plain[ordinals], found, np.nan)
        return found

    def _one(self, ordinal: int, subject: Subject, combine: Combine) -> float:
        segment, priority, weights = self._segment, self._segment.priority(ordinal), subject.weights
        if not self._plain[ordinal]:
            return score(segment.expression(ordinal), subject.event(0), combine) + priority
        # A plain conjunction is scored from its row of weights, as its tree would be.
        columns = segment.columns
        first, last = int(columns.row_start[ordinal]), int(columns.row_start[ordinal + 1])
        parts = columns.weight[first:last].tolist() if len(columns.weight) else [1.0] * (last - first)
        if weights:
            names, numbers = columns.names, columns.attribute[first:last].tolist()
            factors = [weights.get(names[number], 1.0) for number in numbers]
            parts = [part * weight for part, weight in zip(parts, factors, strict=True)]
        return float((combine(parts) if parts else 0.0) + priority)
