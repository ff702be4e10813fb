"""Keep scratch memory for single events in one head."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.head.encode import KeyEncoder
from tamis.head.leaves.postings import LeafBuffers, Leaves
from tamis.head.one._kernels import LOCATED, match_one
from tamis.segment.one import Quick
from tamis.segment.one._kernels import MORE_ROOM
from tamis.segment.one.entering import FIRST_ENTRIES, Entering

if TYPE_CHECKING:
    from tamis.head.head import HeadView

FIRST_FOUND = 4_096
PROBED, VERIFIED, WANTED, VISITED = range(4)  # the counts of the search

Ints = npt.NDArray[np.int64]


class Memory(NamedTuple):
    """The scratch memory of one call."""

    values: npt.NDArray[np.float64]
    bits: Ints  # the same memory
    mixed: Any  # a plan of known entries, as an array
    entries: Ints
    buffers: LeafBuffers
    event: Ints
    clause: Ints
    work: Ints

    @classmethod
    def new(cls, entries: int, dimensions: int, found: int) -> Self:
        """Return memory for so many entries and clauses of an event."""
        values, work = np.empty(entries, np.float64), np.zeros(5, np.int64)
        mixed, written = np.zeros(2 + 2 * entries, np.int64), np.empty(2 * entries, np.int64)
        event, clause = np.empty((2, found), np.int64)
        buffers = _buffers(dimensions, entries)
        return cls(values, values.view(np.int64), mixed, written, buffers, event, clause, work)

    def with_dimensions(self, dimensions: int) -> Self:
        """Return the same memory with tables of so many dimensions."""
        return self._replace(buffers=_buffers(dimensions, len(self.values)))


def _buffers(dimensions: int, entries: int) -> LeafBuffers:
    """Return tables for an event of so many entries: each visits a list of its key and one of its leaf."""
    return Leaves.buffers(dimensions, 2 * entries + 1)


class OneEventInHead:
    """The quick way of single events through a head that keeps its clauses in ``Leaves``."""

    def __init__(self, encoder: KeyEncoder) -> None:
        self._attributes = encoder.locators
        self._entering = Entering(encoder)
        self._free: deque[Memory] = deque()
        self._entries, self._found = FIRST_ENTRIES, FIRST_FOUND

    def find(self, view: HeadView, sequence: int, event: dict[str, Any]) -> Quick | None:
        """Return the matches of a plain event; ``None`` if the event needs more care."""
        try:
            memory = self._free.pop()
        except IndexError:  # another thread has it
            memory = Memory.new(self._entries, self._attributes.count, self._found)
        plan, entries = self._entering.enter(event, memory.values, memory.mixed)
        if entries > len(memory.values):
            self._entries = max(self._entries, 2 * entries)
            memory = Memory.new(self._entries, self._attributes.count, self._found)
            plan, _ = self._entering.enter(event, memory.values, memory.mixed)
        if plan is None:
            self._free.append(memory)
            return None
        if not memory.buffers.fits(self._attributes.count, 0):  # counted now: the plan has no later ones
            memory = memory.with_dimensions(self._attributes.count)
        memory.work[:] = 0
        count = self._run(plan, memory, view, sequence)
        while count == MORE_ROOM:
            memory = self._larger(memory)
            count = self._run(plan, memory, view, sequence)
        self._free.append(memory)
        if count < 0:
            return None
        work = memory.work.tolist()
        return memory.clause[:count].tolist(), work[LOCATED], work[PROBED], work[VERIFIED], work[VISITED]

    def _larger(self, memory: Memory) -> Memory:
        """Return the same memory with the room that the search asked for."""
        wanted, memory.work[:] = int(memory.work[WANTED]), 0
        if wanted:
            return memory._replace(buffers=memory.buffers.with_hits(wanted))
        self._found = max(self._found, 4 * len(memory.clause))
        event, clause = np.empty((2, self._found), np.int64)
        return memory._replace(event=event, clause=clause)

    @staticmethod
    def _run(plan: Ints, memory: Memory, view: HeadView, sequence: int) -> int:
        number: int = match_one(
            plan, memory.bits, memory.entries, *memory.buffers, memory.event, memory.clause, memory.work,
            *view.store, *view.arrays, view.posted, view.clauses, view.owner, view.revise, view.died,
            sequence,
        )  # fmt: skip
        return number
