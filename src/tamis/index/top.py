"""Find the k best-scoring matches, ties broken by id: the same result as sorting all matches."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from weakref import proxy

import numpy as np

from tamis.columns.codes import STRUCTURAL
from tamis.engines.protocol import Candidates, Ranked, Wanted
from tamis.expression.truth import score
from tamis.head import HeadView
from tamis.index.bounds import Ceilings, ceilings_of, event_weights, weights_of
from tamis.index.display import table
from tamis.index.match import EventAt, match_layer, owners_in_force
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.work import WorkReport
from tamis.segment import Segment
from tamis.space.located import Located
from tamis.values.event import EventLike

FIRST_PORTION = 8  # candidates requested at a time; portions grow

_SCALARS = frozenset((int, float, str, bool))

Combine = Callable[[Iterable[float]], float]
Scored = tuple[str, float]


class TopMatches(list[Scored]):
    """The best matches of an event as (id, score); ``work`` reports the work of finding them."""

    def __init__(self, scored: list[Scored], work: WorkReport) -> None:
        super().__init__(scored)
        self.work = work

    def _repr_html_(self) -> str:
        return table(("subscription", "score"), self, f"the best {len(self):,}")


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

    @cached_property
    def names(self) -> dict[str, int]:
        """The attributes of the book by number."""
        return {name: number for number, name in enumerate(self._segment.columns.names)}

    @cached_property
    def ceilings(self) -> Ceilings | None:
        """The greatest score of each subscription; ``None`` if there is no bound."""
        return ceilings_of(self._segment)

    @cached_property
    def ranking(self) -> Any:
        """The engine's data for pruning; ``None`` if the engine cannot prune."""
        engine: Any = self._segment.engine
        owned = np.all(self._segment.owner_start[1:] > self._segment.owner_start[:-1])
        if self.ceilings is None or not owned or not isinstance(engine, Ranked):
            return None
        return engine.ranking(weights_of(self._segment, self.ceilings))

    def of(self, ordinal: int, subject: Subject, combine: Combine) -> float:
        """Return the score of one matching subscription."""
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


class Best:
    """The best matches so far, and the score that a further match must reach."""

    def __init__(self, k: int) -> None:
        self._k = k
        self.kept: list[Scored] = []

    @property
    def threshold(self) -> float:
        """The k-th score; a match with a lower score is dropped."""
        return self.kept[-1][1] if len(self.kept) == self._k else -np.inf

    def add(self, scored: Iterable[Scored]) -> None:
        """Keep the highest scores, the smaller id first among equals."""
        self.kept = heapq.nsmallest(self._k, [*self.kept, *scored], key=lambda pair: (-pair[1], pair[0]))


class TopK:
    """One search for the best matches of an event."""

    def __init__(
        self, snapshot: Snapshot, subject: Subject, k: int, combine: Combine, bounded: bool, prefix: str
    ) -> None:
        self._snapshot, self._subject, self._combine = snapshot, subject, combine
        self._bounded, self._k, self._prefix = bounded, k, prefix
        self._best = Best(k)
        self.work = WorkReport(1)

    def run(self, scores_of: Callable[[Segment], Scores]) -> TopMatches:
        """Search the subscriptions outside segments, then every layer; return the best matches."""
        for view in self._snapshot.heads:
            self._head(view)
        for layer in self._snapshot.layers:
            self._layer(layer, scores_of(layer.segment))
        return TopMatches(self._best.kept, self.work)

    def _head(self, view: HeadView) -> None:
        """Score all matches in a head by their trees."""
        subject = self._subject
        located = view.encoder.one(subject.source)
        found, report = match_layer(view, self._snapshot.sequence, located, subject.event)
        slots, ids = found.ordinal.tolist(), view.head.ids
        held = [view.get(slot) for slot in slots if ids[slot].startswith(self._prefix)]
        self._best.add(
            (one.id, score(one.expression, subject.event(0), self._combine) + one.priority) for one in held
        )
        self.work = self.work.plus(report)

    def _layer(self, layer: Layer, scores: Scores) -> None:
        subject = self._subject
        located = layer.segment.encoder.one(subject.source)
        weights = (
            event_weights(scores.names, subject.attributes(), subject.weights) if self._bounded else None
        )
        if weights is not None and scores.ranking is not None:
            self._by_bounds(layer, scores, located, weights)
            return
        found, report = match_layer(layer, self._snapshot.sequence, located, subject.event)
        self._by_ceilings(layer.segment, scores, found.ordinal, weights)
        self.work = self.work.plus(report)

    def _by_ceilings(self, segment: Segment, scores: Scores, ordinals: Any, weights: Wanted | None) -> None:
        """Score all matches, the highest ceilings first, as long as a ceiling reaches the k-th score."""
        if weights is None or scores.ceilings is None or len(ordinals) <= self._k:
            self._score(segment, scores, ordinals.tolist())
            return
        ceiling = scores.ceilings.above(ordinals, weights.greatest)
        order = np.argsort(-ceiling, kind="stable")
        ordinals, ceiling = ordinals[order], ceiling[order]
        begin, portion = 0, max(FIRST_PORTION, self._k)
        while begin < len(ordinals) and ceiling[begin] >= self._best.threshold:
            self._score(segment, scores, ordinals[begin : begin + portion].tolist())
            begin, portion = begin + portion, 2 * portion

    def _by_bounds(self, layer: Layer, scores: Scores, located: Located, weights: Wanted) -> None:
        """Request more candidates from the engine until no bound reaches the k-th score."""
        layer.segment.ensure_whole()
        engine: Any = layer.segment.engine
        agenda = engine.best(located, scores.ranking, weights)
        seen: set[int] = set()
        revised, portion = 0, max(FIRST_PORTION, self._k)
        while len(clauses := agenda.more(self._best.threshold, portion)):
            pairs = Candidates(np.zeros(len(clauses), np.int64), clauses, 0, 0)
            _, ordinal, trees = owners_in_force(
                layer, self._snapshot.sequence, pairs, located, self._subject.event
            )
            fresh = [number for number in ordinal.tolist() if number not in seen]
            seen.update(fresh)
            self._score(layer.segment, scores, fresh)
            revised, portion = revised + trees, 2 * portion
        probed, verified, visited = agenda.work
        report = WorkReport(0, len(located.dimension), probed, verified, revised, len(seen), visited)
        self.work = self.work.plus(report)

    def _score(self, segment: Segment, scores: Scores, ordinals: list[int]) -> None:
        names = segment.ids_of(np.array(ordinals, np.int64))
        self._best.add(
            (name, scores.of(number, self._subject, self._combine))
            for name, number in zip(names, ordinals, strict=True)
            if name.startswith(self._prefix)
        )
