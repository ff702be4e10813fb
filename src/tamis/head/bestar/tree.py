"""Hold the growing tree of one head, which one writer changes and many readers search."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar.growth import Rules, Tree
from tamis.engines.bestar.keys import Keys
from tamis.engines.bestar.nodes import EXHAUSTIVE
from tamis.engines.scratch import FIRST_HITS
from tamis.head.bestar._kernels import write_units
from tamis.head.bestar.search._kernels import match_events
from tamis.head.keys import ABSENT
from tamis.head.store import ClauseStore

RULES = Rules(capacity=20, alpha=0.1, beta=4.0, mode=EXHAUSTIVE)
WINDOW = 1_000  # events after which partitions are ranked anew
GAIN = 1 << 16  # of a condition before events have been seen
FIRST_STACK = 256  # nodes that a search has still to visit

Ints = npt.NDArray[np.int64]


class TreeArrays(NamedTuple):
    """The tree as the search reads it, and the number of events that searched it."""

    c_node: Ints
    p_node: Ints
    after: Ints
    seen: Ints


class TreeBuffers(NamedTuple):
    """The keys of an event by dimension, its entries, its positions; nodes to visit, hits, their nodes."""

    cell: Ints
    entry: Ints
    first: Ints
    last: Ints
    todo: Ints
    hits: Ints
    homes: Ints

    def fits(self, dimensions: int, lists: int) -> bool:
        """Return whether events on so many dimensions may use the buffers."""
        return len(self.cell) >= dimensions

    def with_hits(self, room: int) -> Self:
        """Return the same buffers with room for more hits; for more nodes if ``room`` is -1."""
        if room < 0:
            return self._replace(todo=np.empty(4 * len(self.todo), np.int64))
        hits, homes = np.empty((2, 2 * room), np.int64)
        return self._replace(hits=hits, homes=homes)


class GrowingTree:
    """A BE*-Tree over the clauses of a head."""

    kernel: ClassVar[Any] = staticmethod(match_events)

    def __init__(self) -> None:
        self.count = 0  # clauses that the tree knows
        self._deaths = 0  # removals that the tree knows
        self._seen = np.zeros(1, np.int64)
        self.recycled = 0  # partitions that were dissolved
        self._tree = Tree(_no_keys(), np.zeros(1, np.uint32), RULES)

    @property
    def arrays(self) -> TreeArrays:
        """The arrays as kernels read them."""
        nodes = self._tree.nodes
        return TreeArrays(nodes.c, nodes.p, nodes.after, self._seen)

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return self._tree.nbytes

    def copy(self) -> GrowingTree:
        """Return an independent tree with the same content."""
        other = GrowingTree()
        other.count, other._deaths, other.recycled = self.count, self._deaths, self.recycled
        other._tree = self._tree.copy()
        return other

    @staticmethod
    def buffers(dimensions: int, lists: int) -> TreeBuffers:
        """Return scratch memory for events on so many dimensions."""
        cell, entry, first, last = (np.full(2 * dimensions, value, np.int64) for value in (ABSENT, 0, 0, -1))
        todo, hits, homes = (np.empty(room, np.int64) for room in (FIRST_STACK, FIRST_HITS, FIRST_HITS))
        return TreeBuffers(cell, entry, first, last, todo, hits, homes)

    def waiting(self, dead: Ints) -> int:
        """Return the number of removals that the tree has not seen."""
        return len(dead) - self._deaths

    def catch_up(self, store: ClauseStore, dimensions: int, dead: Ints) -> None:
        """Insert the clauses that the store has received since the last call, and delete the ``dead`` ones.

        If enough events have searched this tree since, rank its partitions and recycle useless ones.
        """
        if self._seen[0] >= WINDOW:
            self._tree.learn(int(self._seen[0]))
            self.recycled += self._tree.recycle()
            self._seen = np.zeros(1, np.int64)
        first, self.count = self.count, store.count
        self._know(store, first, dimensions)
        gone = dead[self._deaths :]
        self._deaths = len(dead)
        stays = ~np.isin(store.owner[first : self.count], gone)
        self._tree.insert((first + np.flatnonzero(stays)).tolist())
        for clause in store.clauses_of(gone).tolist():
            if clause < first:
                self._tree.delete(clause)

    def _know(self, store: ClauseStore, first: int, dimensions: int) -> None:
        """Write the conditions of new clauses."""
        clauses, tree = store.arrays(), self._tree
        begin = int(tree.keys.start[first])
        most = begin + int(clauses.start[self.count] - clauses.start[first])
        cells = tree.cells if dimensions <= len(tree.cells) else np.zeros(2 * dimensions, np.uint32)
        tree.reserve(self.count, most, 0, cells)
        keys = tree.keys
        levels = write_units(
            first, self.count, *clauses, keys.start, keys.clause, keys.dimension, keys.lo, keys.hi
        )
        tree.reserve(self.count, most, int(levels), cells)
        tree.set_gain(begin, int(keys.start[self.count]), GAIN)


def _no_keys() -> Keys:
    return Keys(np.zeros(1, np.int64), *(np.zeros(0, np.int64) for _ in range(6)))
