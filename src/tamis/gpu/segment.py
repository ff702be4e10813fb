"""A segment on a card: the arrays of its engine, its clauses and their owners."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.errors import DeviceUnsupported
from tamis.gpu.batch import DeviceBatch
from tamis.gpu.columns.locate import DeviceSpace
from tamis.gpu.cuda import cuda, types
from tamis.gpu.search._kernels import CROWDED, LEFT, gather, search_kernel
from tamis.gpu.workspace import Workspace
from tamis.segment import Segment

ENGINE = "hybrid"
_CLAUSES = ("start", "literal", "set_lo", "set_hi", "cells")
_ENGINE = ("heads", "levels", "list_start", "residual", "until", "inline", "rows")
MOST_TABLE = 24 << 10  # bytes of shared memory for the cells of an event; with more, they are hashed
MOST_SLOTS = 2_048  # of the hash table
MOST_ENTRIES = MOST_SLOTS // 2  # of an event; events with more are left to the processor
MOST_NUMBER = 1 << 30  # subscriptions of a segment: two bits beside their numbers are taken
FOUND, MOST_FOUND = 512, 2_048  # subscriptions of an event that shared memory has room for
LEAST_ROOM = 1 << 14  # subscriptions that the first output of a batch has room for
LISTS = 1_024
_LONG, _SHORT = 24.0, 8.0  # postings of a list

Ints = npt.NDArray[np.int64]


class Found(NamedTuple):
    """What a search found: event ``e`` has the subscriptions ``number[start[e]:start[e + 1]]``.

    A number has the bit ``DOUBTFUL`` if the tree must decide. ``may_repeat`` says that an event may have a
    number twice.
    """

    start: Ints
    number: Any  # on the card
    probed: int
    verified: int
    visited: int
    may_repeat: bool
    left: Ints  # events that the processor must match: they visit too many lists


class DeviceSegment:
    """The arrays of a segment on a card, and the search in them."""

    def __init__(self, segment: Segment, blocks: int, threads: int) -> None:
        if segment.engine_name != ENGINE:
            raise DeviceUnsupported(
                f"a card matches segments of the engine {ENGINE!r}, and this one has {segment.engine_name!r};"
                f" build the index with engine={ENGINE!r}, or pass device='cpu'",
                engine=segment.engine_name,
            )
        if segment.count > MOST_NUMBER:
            raise DeviceUnsupported(f"a card matches segments of at most {MOST_NUMBER:,} subscriptions")
        self._blocks, self._threads = blocks, threads
        arena = segment.arena
        layout = arena["engine.layout"].tolist()
        self._bits, self._zones, self._levels = layout[:2], layout[2:5], layout[5]
        self._stride = layout[6]
        self._single = segment.single
        owners = arena["clauses.owner_start"]
        self._arrays = [
            *(_flat(arena[f"clauses.{name}"]) for name in _CLAUSES),
            *(_flat(arena[f"engine.{name}"]) for name in _ENGINE),
            _flat(owners[:0] if segment.one_to_one else owners),
            _flat(arena["clauses.owner"]),
            _flat(segment.revise if segment.any_revise else segment.revise[:0]),
        ]
        self._shape_tables(arena["clauses.cells"], arena["engine.heads"])
        self._is_wide = arena["engine.rows"].dtype.itemsize == 8
        starts = arena["engine.list_start"].astype(np.int64)
        self._lane_bits = _lane_bits(starts[1:] - starts[:-1], threads)
        self.found_room = FOUND
        self.space = DeviceSpace(segment.encoder.locators, blocks, threads)
        self.most_entries = MOST_ENTRIES if self.is_hashed else len(arena["clauses.cells"])
        self._nothing_dead = cuda.to_device(np.zeros(0, np.uint8))
        self._dead: tuple[Any, int, Any] = (None, 0, None)

    def _shape_tables(self, cells: npt.NDArray[Any], heads: npt.NDArray[Any]) -> None:
        """Choose the words of the cells, and whether there is a place for each dimension or a hash table."""
        self._dimensions = len(cells)
        self._is_rounded = bool(((heads[:, 0] >> 8) & 255).any())
        most = int(cells.max(initial=0))
        if self._is_rounded:
            self._words = (types.uint32, types.uint16), (4, 2)
        elif most <= np.iinfo(np.uint8).max:
            self._words = (types.uint8, types.uint8), (1, 1)
        elif most <= np.iinfo(np.uint16).max:
            self._words = (types.uint16, types.uint16), (2, 2)
        else:
            self._words = (types.uint32, types.uint32), (4, 4)
        self.is_hashed = self._dimensions * sum(self._words[1]) > MOST_TABLE
        if self.is_hashed:
            self._words = (types.uint32, types.uint32), (4, 4)

    @property
    def nbytes(self) -> int:
        """The bytes that the segment takes on the card."""
        return sum(array.nbytes for array in self._arrays)

    @cached_property
    def _search(self) -> Any:
        make: Any = search_kernel
        return make(*self._words[0], self.is_hashed, self._is_wide)

    def dead(self, died: npt.NDArray[np.int64] | None, count: int, sequence: int) -> Any:
        """Return which subscriptions are no longer in force; it is uploaded when one more was removed."""
        if died is None:
            return self._nothing_dead
        known, number, mask = self._dead
        if known is not died or number != count:
            mask = cuda.to_device((died <= sequence).astype(np.uint8))
            self._dead = died, count, mask
        return mask

    def search(self, workspace: Workspace, batch: DeviceBatch, dead: Any) -> Found:
        """Return the subscriptions of every event of a batch."""
        events = batch.events
        count = workspace.device("count", events, np.int32)
        source = workspace.device("source", events, np.int64)
        room = max(self.found_room * events // 8, LEAST_ROOM)
        while True:
            out = workspace.device("out", room, np.uint32)
            total = workspace.send("total", np.zeros(1, np.int64))
            work = workspace.send("work", np.zeros(4, np.int64))
            self._launch(workspace, batch, dead, out, total, source, count, work)
            found, report = workspace.fetch("total back", total), workspace.fetch("work back", work)
            counts = workspace.fetch("count back", count)
            workspace.wait()
            if found[0] <= room:
                break
            room = int(found[0])  # nothing is lost: the batch is searched again, with room for all
        left = np.flatnonzero(counts == LEFT)
        counts[left] = 0
        start = np.zeros(events + 1, np.int64)
        np.cumsum(counts, out=start[1:])
        self._learn(events, int(start[-1]))
        number = workspace.device("number", int(start[-1]), np.uint32)
        if len(number):
            begin = workspace.send("start", start)
            threads = min(self._threads, 64)
            gather[min(self._blocks, events), threads, workspace.stream](
                events, count, source, begin, out, number
            )
        probed, verified, visited = report[:CROWDED].tolist()
        return Found(start, number, probed, verified, visited, bool(report[CROWDED]), left)

    def _learn(self, events: int, pairs: int) -> None:
        """Make room for twice the matches that an event has on average."""
        if events:
            wanted = 1 << max(2 * pairs // events, 1).bit_length()
            self.found_room = min(max(self.found_room, wanted), MOST_FOUND)

    def _launch(
        self,
        workspace: Workspace,
        batch: DeviceBatch,
        dead: Any,
        out: Any,
        total: Any,
        source: Any,
        count: Any,
        work: Any,
    ) -> None:
        size = batch.slots if self.is_hashed else self._dimensions
        paired = self._zones[1] // max(self._zones[0], 1)
        zones = min(paired, batch.most_entries)
        lists = min(LISTS, batch.most_entries * self._levels + zones * zones // 2 + 1)
        exact, table = self._words[1]
        words = self.found_room + 2 * lists + zones + (size if self.is_hashed else 0)
        at = 4 * words  # bytes; a multiple of every word
        beside = -(-(at + exact * size) // 4) * 4 if self._is_rounded else at
        rooms = self.found_room, lists, zones, self._lane_bits, at // exact, beside // table
        shape = *self._bits, *self._zones, self._stride, size, int(self._is_rounded), int(not self._single)
        shared = beside + table * size
        blocks = max(min(self._blocks, batch.events), 1)
        self._search[blocks, self._threads, workspace.stream, -(-shared // 8) * 8](
            batch.events, *batch.arrays, *self._arrays, dead, shape, rooms, out, total, source, count, work
        )


def _flat(array: npt.NDArray[Any]) -> Any:
    return cuda.to_device(np.ascontiguousarray(array).reshape(-1))


def _lane_bits(lengths: Ints, threads: int) -> int:
    """Return how many threads (as a power of two) share a list: as many as its postings keep busy."""
    mean = float((lengths**2).sum() / max(lengths.sum(), 1))
    wanted = 5 if mean >= _LONG * 8 else 3 if mean >= _SHORT else 2
    return min(wanted, max(threads.bit_length() - 1, 0))
