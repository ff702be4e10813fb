"""Hold the predicate lists of one head, which one writer extends and many readers search."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.engines.scratch import FIRST_HITS
from tamis.head.keys import ABSENT
from tamis.head.opindex._kernels import (
    DIM_WIDTH,
    FIRST_CLAUSE,
    LIST_WIDTH,
    PARTITION,
    PARTITIONS_USED,
    PER_PARTITION,
    RECORD,
    RESIDUAL,
    WANTED_RECORDS,
)
from tamis.head.opindex.insertion._kernels import insert_run
from tamis.head.opindex.search._kernels import match_events
from tamis.head.store import ClauseStore

FIRST_ROOM = 256

Ints = npt.NDArray[np.int64]


class ListArrays(NamedTuple):
    """The arrays as kernels read them."""

    dims: Ints
    lists: Ints
    records: Ints
    needed: Ints  # per clause, the predicates that an event must meet
    after: Ints
    meta: Ints


class ListBuffers(NamedTuple):
    """The keys of an event by dimension, its entries; counters by clause, those in use, the hits."""

    cell: Ints
    entry: Ints
    counter: Ints
    touched: Ints
    hits: Ints

    def fits(self, dimensions: int, lists: int) -> bool:
        """Return whether events on so many dimensions may use the buffers."""
        return len(self.cell) >= dimensions

    def with_hits(self, room: int) -> Self:
        """Return the same buffers for more clauses."""
        return self._replace(**_by_clause(2 * room))


class PredicateLists:
    """The lists of an OpIndex over the clauses of a head."""

    kernel: ClassVar[Any] = staticmethod(match_events)

    def __init__(self) -> None:
        self.count = 0  # clauses in the lists
        meta = np.zeros(4, np.int64)
        meta[RESIDUAL] = -1
        empty: Ints = np.zeros(0, np.int64)
        self.arrays = ListArrays(_dims(16, empty), empty, empty, empty, empty, meta)

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(array.nbytes for array in self.arrays)

    def copy(self) -> PredicateLists:
        """Return independent lists with the same content."""
        other = PredicateLists()
        other.count = self.count
        other.arrays = ListArrays(*(array.copy() for array in self.arrays))
        return other

    @staticmethod
    def buffers(dimensions: int, lists: int) -> ListBuffers:
        """Return scratch memory for events on so many dimensions."""
        cell, entry = np.full(2 * dimensions, ABSENT, np.int64), np.zeros(2 * dimensions, np.int64)
        return ListBuffers(cell, entry, **_by_clause(FIRST_HITS))

    def waiting(self, dead: Ints) -> int:
        """Return 0: removed clauses stay in their lists until a merge."""
        return 0

    def catch_up(self, store: ClauseStore, dimensions: int, dead: Ints) -> None:
        """Insert the clauses that the store has received since the last call."""
        dims, _, _, needed, after, _ = self.arrays
        if DIM_WIDTH * dimensions > len(dims):
            dims = _dims(2 * dimensions, dims)
        needed, after = _longer(needed, store.count), _longer(after, store.count)
        self.arrays = self.arrays._replace(dims=dims, needed=needed, after=after)
        while self.count < store.count:
            self.count = insert_run(self.count, store.count, *store.arrays(), *self.arrays)
            if self.count < store.count:
                self._grow()

    def _grow(self) -> None:
        """Enlarge the arrays that the next clause does not fit into."""
        lists, records, meta = self.arrays.lists, self.arrays.records, self.arrays.meta
        lists = _longer(lists, LIST_WIDTH * PER_PARTITION * (int(meta[PARTITIONS_USED]) + 1))
        records = _longer(records, RECORD * int(meta[WANTED_RECORDS]))
        self.arrays = self.arrays._replace(lists=lists, records=records)


def _by_clause(room: int) -> dict[str, Ints]:
    counter, (touched, hits) = np.zeros(room, np.int64), np.empty((2, room), np.int64)
    return {"counter": counter, "touched": touched, "hits": hits}


def _dims(count: int, old: Ints) -> Ints:
    dims = np.zeros(DIM_WIDTH * count, np.int64)
    dims[PARTITION::DIM_WIDTH] = dims[FIRST_CLAUSE::DIM_WIDTH] = -1
    dims[: len(old)] = old
    return dims


def _longer(array: Ints, least: int) -> Ints:
    if least <= len(array):
        return array
    larger = np.zeros(max(2 * len(array), least, FIRST_ROOM), np.int64)
    larger[: len(array)] = array
    return larger
