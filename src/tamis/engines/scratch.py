"""Provide scratch memory for kernels, one set per matching thread, reused between calls."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.space.located import Located

FIRST_HITS = 1 << 14

Cells = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]


class Buffers(NamedTuple):
    """The cells of an event, exact and rounded; the lists it visits, their bounds, and the hits."""

    cell: Cells
    table: npt.NDArray[Any]
    visits: Places
    begins: Places
    ends: Places
    hits: Places

    def with_hits(self, room: int) -> Self:
        """Return the same buffers with room for more hits."""
        return self._replace(hits=np.empty(2 * room, np.int64))

    def with_visits(self, room: int) -> Self:
        """Return the same buffers with room for more lists."""
        visits, begins, ends = np.empty((3, room), np.int64)
        return self._replace(visits=visits, begins=begins, ends=ends)


def most_entries(events: Located) -> int:
    """Return the greatest number of entries of an event."""
    return len(events.dimension) if events.count == 1 else int(np.diff(events.start).max(initial=0))


class Scratch:
    """A pool of buffers; kernels leave the cells zeroed."""

    def __init__(self, dimensions: int, levels: int, paired: int, rounded: bool) -> None:
        self.dimensions, self._levels, self._paired = max(dimensions, 1), levels, paired
        self.is_rounded = rounded  # whether the table of rounded cells differs from that of exact ones
        self._free: deque[Buffers] = deque()

    def take(self, events: Located) -> Buffers:
        """Return buffers that are large enough for ``events``; give them back unless the call failed."""
        room = self.room(most_entries(events))
        taken = self._free.pop() if self._free else self._new(room)
        return taken if len(taken.visits) >= room else taken.with_visits(room)

    def room(self, entries: int) -> int:
        """Return the number of lists that an event with so many entries may visit."""
        zones = min(entries, self._paired)
        return entries * self._levels + zones * zones // 2 + zones + 1

    def give_back(self, buffers: Buffers) -> None:
        """Keep buffers for the next call."""
        self._free.append(buffers)

    def _new(self, room: int) -> Buffers:
        cell = np.zeros(self.dimensions, np.uint32)
        table = np.zeros(self.dimensions, np.uint32) if self.is_rounded else cell
        visits, begins, ends = np.empty((3, room), np.int64)
        return Buffers(cell, table, visits, begins, ends, np.empty(FIRST_HITS, np.int64))
