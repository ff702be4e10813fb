"""Hold the lists of one head, which one writer extends and many readers search."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.engines.scratch import FIRST_HITS
from tamis.head.keys import ABSENT
from tamis.head.leaves._kernels import (
    DIM_WIDTH,
    FIRST_LIST,
    LEAVES,
    LIST_WIDTH,
    LISTS_USED,
    POSTINGS_USED,
    SEED,
    TABLE_USED,
    WANTED_LISTS,
    WANTED_POSTINGS,
)
from tamis.head.leaves.insertion._kernels import insert_run, operand_ends, rehash, remove_run
from tamis.head.leaves.search._kernels import match_events
from tamis.head.store import ClauseStore

MOST_LEAVES = 32  # of a dimension
LEAST_CUT = 64  # clauses before the leaves are cut for the first time
GROWTH = 4  # clauses have become so many times more when the leaves are cut again
ENDS_EACH = 8  # ends of ranges that a leaf is worth

Ints = npt.NDArray[np.int64]


class PostingArrays(NamedTuple):
    """The arrays as kernels read them."""

    table: Ints
    lists: Ints
    postings: Ints
    leaves: Ints
    dims: Ints
    meta: Ints


class LeafBuffers(NamedTuple):
    """The keys and leaves of an event by dimension, its first entries, its lists, their bounds, the hits."""

    cell: Ints
    leaf: npt.NDArray[np.uint8]
    first: Ints
    visits: Ints
    begins: Ints
    hits: Ints

    def fits(self, dimensions: int, lists: int) -> bool:
        """Return whether events on so many dimensions, which visit so many lists, may use the buffers."""
        return len(self.cell) >= dimensions and len(self.visits) >= lists

    def with_hits(self, room: int) -> Self:
        """Return the same buffers with room for more hits; for more lists if ``room`` is -1."""
        if room < 0:
            visits, begins = np.empty((2, 4 * len(self.visits)), np.int64)
            return self._replace(visits=visits, begins=begins)
        return self._replace(hits=np.empty(2 * room, np.int64))


class Leaves:
    """Postings under the keys and leaves of each dimension."""

    kernel: ClassVar[Any] = staticmethod(match_events)

    def __init__(self) -> None:
        self.count = 0  # clauses posted
        self._removals = 0  # slots whose clauses were taken out
        self._cut_at = LEAST_CUT
        self._access: Ints = np.zeros(0, np.int64)  # for the writer: readers do not need it
        self.arrays = _empty(1, np.zeros(0, np.int64), np.zeros((0, 2), np.int64))

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return self._access.nbytes + sum(array.nbytes for array in self.arrays)

    def copy(self) -> Leaves:
        """Return independent postings with the same content."""
        other = Leaves()
        other.count, other._removals, other._cut_at = self.count, self._removals, self._cut_at
        other._access = self._access.copy()
        other.arrays = PostingArrays(*(array.copy() for array in self.arrays))
        return other

    @staticmethod
    def buffers(dimensions: int, lists: int) -> LeafBuffers:
        """Return scratch memory for events on so many dimensions, which visit so many lists."""
        cell, leaf = np.full(2 * dimensions, ABSENT, np.int64), np.zeros(2 * dimensions, np.uint8)
        visits, begins = np.empty((2, max(lists, 64)), np.int64)
        first = np.zeros(2 * dimensions, np.int64)
        return LeafBuffers(cell, leaf, first, visits, begins, np.empty(FIRST_HITS, np.int64))

    def waiting(self, dead: Ints) -> int:
        """Return the number of removals whose clauses are still posted."""
        return len(dead) - self._removals

    def catch_up(self, store: ClauseStore, dimensions: int, dead: Ints) -> None:
        """Post the clauses that the store has received since the last call, without the ``dead`` ones."""
        if len(self._access) < store.count:
            self._access = _longer(self._access, store.count)
        clauses = store.arrays()
        gone = store.clauses_of(dead[self._removals :])
        self._removals = len(dead)
        remove_run(gone, self.count, *clauses, *self.arrays, self._access)
        if store.count >= self._cut_at:
            while self._cut_at <= store.count:
                self._cut_at *= GROWTH
            self._cut(store, dimensions)
        self._add_dimensions(dimensions)
        while self.count < store.count:
            self.count = insert_run(self.count, store.count, *clauses, *self.arrays, self._access)
            if self.count < store.count:
                self._grow()

    def _add_dimensions(self, dimensions: int) -> None:
        dims = self.arrays.dims
        if DIM_WIDTH * dimensions > len(dims):
            self.arrays = self.arrays._replace(dims=_dims(max(dimensions, len(dims) // DIM_WIDTH * 2), dims))

    def _grow(self) -> None:
        """Enlarge the arrays that the next clause does not fit into."""
        table, lists, postings, _, _, meta = self.arrays
        if LIST_WIDTH * meta[WANTED_LISTS] > len(lists):
            lists = _longer(lists, LIST_WIDTH * int(meta[WANTED_LISTS]))
        if 2 * meta[WANTED_POSTINGS] > len(postings):
            postings = _longer(postings, 2 * int(meta[WANTED_POSTINGS]))
        new = int(meta[WANTED_LISTS] - meta[LISTS_USED])
        rows = len(table) // 3
        if 2 * (int(meta[TABLE_USED]) + new) > rows:
            while 2 * (int(meta[TABLE_USED]) + new) > rows:
                rows *= 2
            larger = np.zeros(3 * rows, np.int64)
            rehash(table, larger, meta[SEED])
            table = larger
        self.arrays = self.arrays._replace(table=table, lists=lists, postings=postings)

    def _cut(self, store: ClauseStore, dimensions: int) -> None:
        """Cut every dimension at the ends of its ranges, evenly, and begin again with empty lists."""
        clauses = store.arrays()
        most = 2 * int(clauses.start[store.count])
        dimension, ends = np.empty((2, most), np.int64)
        count = operand_ends(store.count, *clauses, dimension, ends)
        self.arrays = _empty(dimensions, *_even_cuts(dimension[:count], ends[:count]))
        self.count = 0


def _even_cuts(dimension: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the dimensions that are cut, and (place in them, lowest key) of each leaf, in order."""
    order = np.lexsort((ends, dimension))
    dimension, ends = dimension[order], ends[order]
    cut, first, count = np.unique(dimension, return_index=True, return_counts=True)
    rows: list[tuple[int, int]] = []
    for place, (begin, number) in enumerate(zip(first.tolist(), count.tolist(), strict=True)):
        leaves = min(MOST_LEAVES, max(number // ENDS_EACH, 1))
        inner = ends[begin + np.arange(1, leaves) * number // leaves]
        rows.append((place, -(2**63)))
        rows.extend((place, key) for key in np.unique(inner).tolist())
    return cut, np.array(rows, np.int64).reshape(-1, 2)


def _empty(dimensions: int, cut: Ints, leaf: Ints) -> PostingArrays:
    """Return arrays without postings: a list for residual clauses, and one for each leaf."""
    dims = _dims(max(dimensions, 16))
    rows = dims.reshape(-1, DIM_WIDTH)
    count = np.bincount(leaf[:, 0], minlength=len(cut))
    rows[cut, LEAVES], rows[cut, LEAVES - 1] = count, np.cumsum(count) - count
    leaves = np.stack([leaf[:, 1], 1 + np.arange(len(leaf))], axis=1).reshape(-1)
    lists = np.zeros(LIST_WIDTH * (len(leaf) + 256), np.int64)
    meta = np.zeros(6, np.int64)
    meta[LISTS_USED], meta[POSTINGS_USED], meta[SEED] = 1 + len(leaf), 0, secrets.randbits(62)
    return PostingArrays(np.zeros(3 * 512, np.int64), lists, np.zeros(2 * 1024, np.int64), leaves, dims, meta)


def _dims(count: int, old: Any = ()) -> Ints:
    dims = np.zeros(DIM_WIDTH * count, np.int64)
    dims[FIRST_LIST::DIM_WIDTH] = -1
    dims[: len(old)] = old
    return dims


def _longer(array: Ints, least: int) -> Ints:
    larger = np.zeros(max(2 * len(array), least), array.dtype)
    larger[: len(array)] = array
    return larger
