"""Prepare everything that a single event needs, once for each segment."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.engines.hybrid import Hybrid
from tamis.engines.scratch import FIRST_HITS
from tamis.segment.one._kernels import (
    CAREFUL,
    COUNTS,
    FOUND,
    LOCATED,
    MORE_ROOM,
    PROBED,
    SECTION,
    VERIFIED,
    VISITED,
    WANTED,
    match_one,
)
from tamis.segment.one.entering import FIRST_ENTRIES, Entering
from tamis.space.encode import Encoder
from tamis.space.space import Space

FIRST_FOUND = 4_096

Ints = npt.NDArray[np.int64]

# The sorted subscriptions that an event matches; located, probed, verified and visited, as in a work report.
Quick = tuple[list[int], int, int, int, int]


class Rooms(NamedTuple):
    """The sizes of scratch memory."""

    entries: int  # of an event
    visits: int  # lists that an event visits
    hits: int  # postings that pass the first filter
    found: int  # clauses, and subscriptions
    dimensions: int
    is_rounded: bool  # whether the table of rounded cells differs from that of exact ones


class Memory(NamedTuple):
    """The scratch memory of one call."""

    values: npt.NDArray[np.float64]
    mixed: Any  # a plan of known entries, as an array
    work: Ints  # the sizes, then the counts and matches, then buffers
    cells: npt.NDArray[np.uint32]
    entries: npt.NDArray[np.int32]

    @classmethod
    def new(cls, rooms: Rooms) -> Self:
        """Return memory of these sizes; the kernel leaves its cells zeroed."""
        entries, visits, hits, found, dimensions, is_rounded = rooms
        work = np.zeros(FOUND + COUNTS + 3 * found + 3 * visits + hits, np.int64)
        work[:FOUND] = visits, hits, found, dimensions, dimensions if is_rounded else 0
        return cls(
            np.empty(entries, np.float64),
            np.zeros(2 + 2 * entries, np.int64),
            work,
            np.zeros(dimensions * (2 if is_rounded else 1), np.uint32),
            np.empty(2 * entries, np.int32),
        )


class OneEvent:
    """The quick way of single events through a segment of the engine ``hybrid``."""

    def __init__(self, segment: Any, encoder: Encoder, engine: Hybrid) -> None:
        self._entering = Entering(encoder)
        arena = segment.arena
        *words, places = engine.arrays
        owners = arena.places("clauses.owner_start", "clauses.owner", "clauses.revise")
        self._cuts, sections = _sections(encoder.locators.space)
        static = [[len(places)], places, owners, [segment.single], sections]
        self._static = np.concatenate(static).astype(np.int64)
        self._words = (*words, arena.block)
        self._scratch = engine.scratch
        self._free: deque[Memory] = deque()
        visits = engine.scratch.room(FIRST_ENTRIES)
        self._rooms = Rooms(
            FIRST_ENTRIES,
            visits,
            FIRST_HITS,
            FIRST_FOUND,
            engine.scratch.dimensions,
            engine.scratch.is_rounded,
        )

    @classmethod
    def of(cls, segment: Any) -> OneEvent | None:
        """Return the quick way through a segment; ``None`` if its engine or its numbers do not allow one."""
        engine, encoder = segment.engine, segment.encoder
        if type(engine) is not Hybrid or len(encoder.locators.space.number_rest):
            return None
        return cls(segment, encoder, engine)

    def find(self, event: dict[str, Any]) -> Quick | None:
        """Return the matches of a plain event; ``None`` if the event needs more care."""
        try:
            memory = self._free.pop()
        except IndexError:  # another thread has it
            memory = Memory.new(self._rooms)
        plan, memory = self._entered(event, memory)
        count = CAREFUL if plan is None else self._run(plan, memory)
        while count == MORE_ROOM:
            wanted = int(memory.work[FOUND + WANTED])
            old = self._rooms
            memory = self._grown(hits=2 * wanted) if wanted else self._grown(found=4 * old.found)
            plan, memory = self._entered(event, memory)
            count = self._run(plan, memory)
        if count < 0:
            self._free.append(memory)
            return None
        found = memory.work[FOUND : FOUND + COUNTS + count].tolist()
        self._free.append(memory)
        return found[COUNTS:], found[LOCATED], found[PROBED], found[VERIFIED], found[VISITED]

    def _run(self, plan: Any, memory: Memory) -> int:
        values, _, work, cells, entries = memory
        number: int = match_one(plan, values, self._cuts, self._static, work, cells, entries, *self._words)
        return number

    def _entered(self, event: dict[str, Any], memory: Memory) -> tuple[Ints | None, Memory]:
        """Write the values of an event into memory; return what the kernel reads, ``None`` to give up."""
        plan, entries = self._entering.enter(event, memory.values, memory.mixed)
        if entries > len(memory.values):
            memory = self._grown(entries=2 * entries)
            plan, _ = self._entering.enter(event, memory.values, memory.mixed)
        return plan, memory

    def _grown(self, entries: int = 0, hits: int = 0, found: int = 0) -> Memory:
        """Return larger memory, and let all new memory be as large."""
        old = self._rooms
        entries = max(entries, old.entries)
        room = max(old.visits, self._scratch.room(entries))
        self._rooms = Rooms(entries, room, max(hits, old.hits), max(found, old.found), *old[4:])
        return Memory.new(self._rooms)


def _sections(space: Space) -> tuple[npt.NDArray[np.float64], Ints]:
    """Return all cuts of numbers, and for each attribute its first cut, last cut, base and other cell."""
    count = space.attributes
    sections = np.empty((count, SECTION), np.int64)
    sections[:, 0], sections[:, 1] = space.number_start[:count], space.number_start[1 : count + 1]
    sections[:, 2], sections[:, 3] = space.number_base[:count], space.ordered_cells[:count]
    return space.number_values[space.number_cut], sections.ravel()
