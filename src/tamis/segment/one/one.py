"""Prepare everything that a single event needs, once for each segment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

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


class Search(NamedTuple):
    """A kernel for single events, and the scratch memory that its engine needs."""

    kernel: Any
    visits: Callable[[int], int]  # lists that an event with so many entries may visit
    hits: int
    dimensions: int
    is_rounded: bool

    @classmethod
    def of(cls, engine: Any) -> Search | None:
        """Return the search of an engine; ``None`` if it has no kernel for single events."""
        if engine.name == "hybrid":
            scratch = engine.scratch
            return cls(match_one, scratch.room, FIRST_HITS, scratch.dimensions, scratch.is_rounded)
        if engine.name == "bitmatrix":
            from tamis.segment.one.bits._kernels import match_one as match_bits

            return cls(match_bits, _no_lists, 0, max(engine.dimensions, 1), False)
        return None


def _no_lists(entries: int) -> int:
    return 0


class OneEvent:
    """The quick way of single events through a segment of the engine ``hybrid`` or ``bitmatrix``."""

    def __init__(self, segment: Any, encoder: Encoder, engine: Any, search: Search) -> None:
        self._entering, self._search = Entering(encoder), search
        arena = segment.arena
        *words, places = engine.arrays
        owners = arena.places("clauses.owner_start", "clauses.owner", "clauses.revise")
        self._cuts, sections = _sections(encoder.locators.space)
        static = [[len(places)], places, owners, [segment.single], sections]
        self._static = np.concatenate(static).astype(np.int64)
        self._words = (*words, arena.block)
        self._free: deque[Memory] = deque()
        _, visits, hits, dimensions, is_rounded = search
        self._rooms = Rooms(FIRST_ENTRIES, visits(FIRST_ENTRIES), hits, FIRST_FOUND, dimensions, is_rounded)

    @classmethod
    def of(cls, segment: Any) -> OneEvent | None:
        """Return the quick way through a segment; ``None`` if its engine or its numbers do not allow one."""
        engine, encoder = getattr(segment.engine, "only", segment.engine), segment.encoder
        search = Search.of(engine)
        if search is None or len(encoder.locators.space.number_rest):
            return None
        return cls(segment, encoder, engine, search)

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
        number: int = self._search.kernel(
            plan, values, self._cuts, self._static, work, cells, entries, *self._words
        )
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
        room = max(old.visits, self._search.visits(entries))
        self._rooms = Rooms(entries, room, max(hits, old.hits), max(found, old.found), *old[4:])
        return Memory.new(self._rooms)


def _sections(space: Space) -> tuple[npt.NDArray[np.float64], Ints]:
    """Return all cuts of numbers, and for each attribute its first cut, last cut, base and other cell."""
    count = space.attributes
    sections = np.empty((count, SECTION), np.int64)
    sections[:, 0], sections[:, 1] = space.number_start[:count], space.number_start[1 : count + 1]
    sections[:, 2], sections[:, 3] = space.number_base[:count], space.ordered_cells[:count]
    return space.number_values[space.number_cut], sections.ravel()
