"""Scratch memory of kernels, one set per thread that matches, reused between calls."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from tamis.space.located import Located

Buffers = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.int64]]


class Scratch:
    """A pool of (cells, rounded cells, lists to visit, hits); kernels leave the cells zeroed."""

    def __init__(self, dimensions: int, lists_per_entry: int, hits: int) -> None:
        self._dimensions, self._lists, self._hits = max(dimensions, 1), lists_per_entry, hits
        self._free: deque[Buffers] = deque()

    def take(self, events: Located) -> Buffers:
        """Buffers that are large enough for ``events``; give them back unless the call failed."""
        entries = len(events.dimension) if events.count == 1 else int(np.diff(events.start).max(initial=0))
        room = 2 * (entries * self._lists + 1)
        taken = self._free.pop() if self._free else self._new(room)
        return taken if len(taken[2]) >= room else (*taken[:2], np.empty(room, np.int64), taken[3])

    def give_back(self, buffers: Buffers) -> None:
        """Keep buffers for the next call."""
        self._free.append(buffers)

    def _new(self, room: int) -> Buffers:
        cells = np.zeros(self._dimensions, np.uint32), np.zeros(self._dimensions, np.uint32)
        return (*cells, np.empty(room, np.int64), np.empty(self._hits, np.int64))
