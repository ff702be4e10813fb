"""Wrap the structures of the comparison, each with the same two methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bench.pstree._kernels import greatest_ends, insert_segments, stab_intervals, stab_segments
from tamis.space.pstree import Frozen, Integers

Ints = npt.NDArray[np.int64]
Pairs = tuple[Ints, Ints]


class FrozenPSTree:
    """A PS-Tree cut by all intervals at once."""

    def __init__(self, low: Ints, high: Ints) -> None:
        self._frozen = Frozen.of_intervals(low, high, Integers())

    def pairs(self, points: Ints) -> Pairs:
        """Return the pairs: the list of one leaf per point."""
        return self._frozen.pairs(points)

    def locate(self, points: Ints) -> Ints:
        """Return the leaves alone."""
        return self._frozen.locate(points)

    def nbytes(self) -> int:
        """Return the bytes of cuts, directory and the lists of all leaves."""
        frozen = self._frozen
        arrays: list[Any] = [*frozen.cuts, frozen.after, frozen.start, frozen.predicate]
        return sum(array.nbytes for array in arrays)


class SegmentTree:
    """A balanced tree over elementary segments; an interval stands in the few nodes that make it up."""

    def __init__(self, low: Ints, high: Ints) -> None:
        self._room = _Room()
        key = np.concatenate([low, high])
        after = np.repeat([0, 1], len(low))
        bounds, place = np.unique(2 * key + after, return_inverse=True)
        self._bound, self._after = bounds >> 1, (bounds & 1).astype(np.bool_)
        first, last = place[: len(low)] + 1, place[len(low) :]
        self._leaves = 1 << len(bounds).bit_length()
        count = np.zeros(2 * self._leaves + 1, np.int64)
        nothing = np.zeros(0, np.int64)
        insert_segments(first, last, self._leaves, count, nothing, True)
        self._start = np.concatenate([[0], np.cumsum(count)[:-1]])
        self._owner = np.empty(int(count.sum()), np.int64)
        insert_segments(first, last, self._leaves, self._start.copy(), self._owner, False)

    def pairs(self, points: Ints) -> Pairs:
        """Return the pairs from the lists on the path from a segment to the root."""
        arrays = self._bound, self._after, self._leaves, self._start, self._owner
        return self._room.collect(lambda *out: stab_segments(points, *arrays, *out))

    def nbytes(self) -> int:
        """Return the bytes of bounds and the lists of all nodes."""
        return sum(array.nbytes for array in (self._bound, self._after, self._start, self._owner))


class IntervalTree:
    """A balanced tree by the begin of the intervals, with the greatest end below every node."""

    def __init__(self, low: Ints, high: Ints) -> None:
        self._room = _Room()
        self._owner = np.argsort(low, kind="stable")
        self._low, self._high = low[self._owner], high[self._owner]
        self._greatest = np.empty(len(low), np.int64)
        greatest_ends(self._high, 0, len(low), self._greatest)

    def pairs(self, points: Ints) -> Pairs:
        """Return the pairs from all nodes whose subtree reaches the point."""
        arrays = self._low, self._high, self._owner, self._greatest
        return self._room.collect(lambda *out: stab_intervals(points, *arrays, *out))

    def nbytes(self) -> int:
        """Return the bytes of four numbers per interval."""
        return 4 * self._low.nbytes


class _Room:
    """Room for as many pairs as the last call found; a call that finds more is repeated."""

    def __init__(self) -> None:
        self._size = 0

    def collect(self, stab: Any) -> Pairs:
        point, interval = np.empty((2, self._size), np.int64)
        found = stab(point, interval)
        if found > self._size:
            self._size = found
            return self.collect(stab)
        return point[:found], interval[:found]
