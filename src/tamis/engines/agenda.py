"""Agendas that engines share: one over matches that are known, one over the parts of an index."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tamis.engines._kernels import clause_bounds
from tamis.engines.protocol import Agenda, Candidates, Floats, Wanted, Weights

Ints = npt.NDArray[np.int64]


def bounds_of(clauses: Ints, weights: Weights, wanted: Wanted) -> Floats:
    """Return the most that each clause can score for an event."""
    if not wanted.weighted:
        return weights.total[clauses]
    parts = weights.start, weights.attribute, weights.share, weights.rest, weights.priority
    return np.asarray(clause_bounds(clauses, *parts, *wanted.by_attribute, wanted.greatest))


class FoundAgenda:
    """An :class:`~tamis.engines.protocol.Agenda` over all matches of an event, best bounds first."""

    def __init__(self, found: Candidates, weights: Weights, wanted: Wanted) -> None:
        clauses = np.unique(found.clause)  # an event with several values may meet a clause twice
        bound = bounds_of(clauses, weights, wanted)
        order = np.argsort(-bound, kind="stable")
        self._clauses, self._falling = clauses[order], -bound[order]
        self._at = 0
        self.work = found.probed, found.verified, found.visited

    def more(self, threshold: float, most: int) -> Ints:
        """Return the next clauses whose bound reaches ``threshold``."""
        end = int(np.searchsorted(self._falling, -threshold, "right"))
        begin, self._at = self._at, max(self._at, min(self._at + most, end))
        return self._clauses[begin : self._at]


class JoinedAgenda:
    """An :class:`~tamis.engines.protocol.Agenda` over several others, each with its first clause."""

    def __init__(self, parts: Iterable[tuple[int, Agenda]]) -> None:
        self._parts = list(parts)
        self._waiting = self._parts[::-1]

    @property
    def work(self) -> tuple[int, int, int]:
        """The work of all parts."""
        done = [agenda.work for _, agenda in self._parts]
        probed, verified, visited = map(sum, zip(*done, strict=True))
        return probed, verified, visited

    def more(self, threshold: float, most: int) -> Ints:
        """Return further clauses of the first part that has any left."""
        while self._waiting:
            first, agenda = self._waiting[-1]
            if len(found := agenda.more(threshold, most)):
                return found + first
            self._waiting.pop()
        return np.empty(0, np.int64)
