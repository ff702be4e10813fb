"""Find the k best-scoring matches, ties broken by id: the same result as sorting all matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.protocol import Agenda, Candidates, Wanted
from tamis.expression.truth import score
from tamis.head import HeadView
from tamis.index.bounds import greatest_weight
from tamis.index.display import table
from tamis.index.match import match_layer, owners_in_force, quick_match
from tamis.index.scores import Combine, Scores, Subject
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.work import WorkReport
from tamis.segment import Segment
from tamis.space.located import Located

GROWTH = 8  # of the portions of matches that are scored together
FEW = 64  # matches that are scored at once, since their bounds would cost as much

Ints = npt.NDArray[np.int64]
Scored = tuple[str, float]


class TopMatches(list[Scored]):
    """The best matches of an event as (id, score); ``work`` reports the work of finding them."""

    def __init__(self, scored: list[Scored], work: WorkReport) -> None:
        super().__init__(scored)
        self.work = work

    def _repr_html_(self) -> str:
        return table(("subscription", "score"), self, f"the best {len(self):,}")


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
        self.kept = sorted([*self.kept, *scored], key=lambda pair: (-pair[1], pair[0]))[: self._k]


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
        if not self._snapshot.parts:
            self._subject.event(0)  # an empty index still refuses bad events
        for view in self._snapshot.heads:
            self._head(view)
        for layer in self._snapshot.layers:
            self._layer(layer, scores_of(layer.segment))
        return TopMatches(self._best.kept, self.work)

    def run_known(self, scores_of: Callable[[Segment], Scores], known: Sequence[Ints]) -> TopMatches:
        """Return the best of matches that are known already, for each part of the snapshot."""
        greatest = greatest_weight(self._subject.weights) if self._bounded else None
        for part, ordinals in zip(self._snapshot.parts, known, strict=True):
            if isinstance(part, Layer):
                self._by_ceilings(part.segment, scores_of(part.segment), ordinals, greatest)
            else:
                self._score_in_head(part, ordinals)
        return TopMatches(self._best.kept, self.work)

    def _head(self, view: HeadView) -> None:
        located = view.encoder.one(self._subject.source)
        found, report = match_layer(view, self._snapshot.sequence, located, self._subject.event)
        self._score_in_head(view, found.ordinal)
        self.work = self.work.plus(report)

    def _score_in_head(self, view: HeadView, ordinals: Ints) -> None:
        """Score all matches in a head by their trees."""
        subject = self._subject
        slots, ids = ordinals.tolist(), view.head.ids
        held = [view.get(slot) for slot in slots if ids[slot].startswith(self._prefix)]
        self._best.add(
            (one.id, score(one.expression, subject.event(0), self._combine) + one.priority) for one in held
        )

    def _layer(self, layer: Layer, scores: Scores) -> None:
        greatest = greatest_weight(self._subject.weights) if self._bounded else None
        if greatest is not None and scores.ranking is not None:
            located = layer.segment.encoder.one(self._subject.source)
            agenda = self._agenda(layer.segment, scores, located, greatest)
            if agenda is not None:
                self._by_bounds(layer, scores, located, agenda)
                return
        self._by_ceilings(layer.segment, scores, self._all(layer), greatest)

    def _all(self, layer: Layer) -> Ints:
        """Return all matches of one layer."""
        quick = quick_match(layer, self._snapshot.sequence, self._subject.source)
        if quick is not None:
            self.work = self.work.plus(quick[1]._replace(events=0))
            return np.array(quick[0], np.int64)
        located = layer.segment.encoder.one(self._subject.source)
        found, report = match_layer(layer, self._snapshot.sequence, located, self._subject.event)
        self.work = self.work.plus(report)
        return found.ordinal

    def _agenda(self, segment: Segment, scores: Scores, located: Located, greatest: float) -> Agenda | None:
        """Return the engine's agenda, if it can find the best matches without finding all."""
        segment.ensure_whole()
        engine: Any = segment.engine
        weights = partial(scores.weights_of, self._subject)
        agenda: Agenda | None = engine.best(
            located, scores.ranking, Wanted(bool(self._subject.weights), greatest, weights)
        )
        return agenda

    def _by_ceilings(self, segment: Segment, scores: Scores, ordinals: Ints, greatest: float | None) -> None:
        """Score the matches with the k highest ceilings, then the others that can reach the k-th score."""
        portion = max(FEW, self._k)
        if len(ordinals) <= portion or greatest is None or scores.ceilings is None:
            self._score(segment, scores, ordinals)
            return
        ceiling = scores.ceilings.above(ordinals, greatest)
        first = ceiling >= np.partition(ceiling, -self._k)[-self._k]
        self._score(segment, scores, ordinals[first])
        left = (ceiling >= self._best.threshold) & ~first
        ordinals, ceiling = ordinals[left], ceiling[left]
        order = np.argsort(-ceiling, kind="stable")
        begin = 0
        while begin < len(order) and ceiling[order[begin]] >= self._best.threshold:
            self._score(segment, scores, ordinals[order[begin : begin + portion]])
            begin, portion = begin + portion, GROWTH * portion

    def _by_bounds(self, layer: Layer, scores: Scores, located: Located, agenda: Agenda) -> None:
        """Request more candidates from the engine until no bound reaches the k-th score."""
        segment = layer.segment
        seen: set[int] = set()
        count, revised, portion = 0, 0, self._k
        while len(clauses := agenda.more(self._best.threshold, portion)):
            pairs = Candidates(np.zeros(len(clauses), np.int64), clauses, 0, 0)
            _, ordinals, trees = owners_in_force(
                layer, self._snapshot.sequence, pairs, located, self._subject.event
            )
            if not segment.single:  # another clause may have found the same subscription before
                ordinals = np.array([n for n in ordinals.tolist() if n not in seen], np.int64)
                seen.update(ordinals.tolist())
            self._score(segment, scores, ordinals)
            count, revised, portion = count + len(ordinals), revised + trees, GROWTH * portion
        probed, verified, visited = agenda.work
        report = WorkReport(0, len(located.dimension), probed, verified, revised, count, visited)
        self.work = self.work.plus(report)

    def _score(self, segment: Segment, scores: Scores, ordinals: Ints) -> None:
        if self._prefix:
            names = segment.ids_of(ordinals)
            ordinals = ordinals[np.array([name.startswith(self._prefix) for name in names], np.bool_)]
        found = scores.of(ordinals, self._subject, self._combine)
        if len(ordinals) > self._k:
            best = np.lexsort((scores.place[ordinals], -found))[: self._k]
            ordinals, found = ordinals[best], found[best]
        self._best.add(zip(segment.ids_of(ordinals), found.tolist(), strict=True))
