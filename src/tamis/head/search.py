"""Search the structure of a head."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tamis.engines.output import Room, run_growing
from tamis.engines.protocol import Candidates
from tamis.engines.scratch import most_entries
from tamis.head.structures import Scratch, Structure
from tamis.space.located import Located

if TYPE_CHECKING:
    from tamis.head.head import HeadView


class Searcher:
    """A pool of scratch memory for the threads that search one head."""

    def __init__(self, structure: type[Structure]) -> None:
        self._structure = structure
        self._free: deque[Scratch] = deque()
        self._room = Room()

    def candidates(self, view: HeadView, events: Located) -> Candidates:
        """Return all pairs (event, clause) of a batch."""
        scratch = self._take(view, events)
        arrays = (*view.store, *view.arrays, view.posted, view.clauses)
        found, scratch = run_growing(self._structure.kernel, events, scratch, arrays, self._room)
        self._free.append(scratch)
        return found

    def _take(self, view: HeadView, events: Located) -> Scratch:
        # A newer writer may have given the events dimensions that this snapshot does not know.
        dimensions = max(view.dimensions, int(events.dimension.max(initial=0)) + 1)
        lists = 2 * most_entries(events) + 1
        taken = self._free.pop() if self._free else None
        if taken is not None and taken.fits(dimensions, lists):
            return taken
        return self._structure.buffers(dimensions, lists)
