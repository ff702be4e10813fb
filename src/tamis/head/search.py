"""Search the postings of a head."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.engines.output import Room, run_growing
from tamis.engines.protocol import Candidates
from tamis.engines.scratch import FIRST_HITS, most_entries
from tamis.head.keys import ABSENT
from tamis.head.leaves.search._kernels import match_events
from tamis.space.located import Located

if TYPE_CHECKING:
    from tamis.head.head import HeadView

Ints = npt.NDArray[np.int64]


class Buffers(NamedTuple):
    """The keys and leaves of an event by dimension, its first entries, its lists, their bounds, the hits."""

    cell: Ints
    leaf: npt.NDArray[np.uint8]
    first: Ints
    visits: Ints
    begins: Ints
    hits: Ints

    def with_hits(self, room: int) -> Self:
        """Return the same buffers with room for more hits; for more lists if ``room`` is -1."""
        if room < 0:
            return self.with_visits(4 * len(self.visits))
        return self._replace(hits=np.empty(2 * room, np.int64))

    def with_visits(self, room: int) -> Self:
        """Return the same buffers with room for more lists."""
        return self._replace(visits=np.empty(room, np.int64), begins=np.empty(room, np.int64))


class Searcher:
    """A pool of scratch memory for the threads that search one head."""

    def __init__(self) -> None:
        self._free: deque[Buffers] = deque()
        self._room = Room()

    def candidates(self, view: HeadView, events: Located) -> Candidates:
        """Return all pairs (event, clause) of a batch."""
        scratch = self._take(view, events)
        arrays = (*view.store, *view.postings, view.posted, view.clauses)
        found, scratch = run_growing(match_events, events, scratch, arrays, self._room)
        self._free.append(scratch)
        return found

    def _take(self, view: HeadView, events: Located) -> Buffers:
        # A newer writer may have given the events dimensions that this snapshot does not know.
        dimensions = max(view.dimensions, int(events.dimension.max(initial=0)) + 1)
        lists = 2 * most_entries(events) + 1
        taken = self._free.pop() if self._free else None
        if taken is None or len(taken.cell) < dimensions:
            return Buffers(
                np.full(2 * dimensions, ABSENT, np.int64),
                np.zeros(2 * dimensions, np.uint8),
                np.zeros(2 * dimensions, np.int64),
                np.empty(max(lists, 64), np.int64),
                np.empty(max(lists, 64), np.int64),
                np.empty(FIRST_HITS, np.int64),
            )
        return taken if len(taken.visits) >= lists else taken.with_visits(lists)
