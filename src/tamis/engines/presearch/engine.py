"""The ``presearch`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.forms import BYTE, WORD, Forms
from tamis.engines.output import Room, run_growing
from tamis.engines.parameters import Declared, Real, Whole, chosen
from tamis.engines.presearch._kernels import match_events
from tamis.engines.presearch.check import MOST_BATCH, check_arrays
from tamis.engines.presearch.layers._kernels import DEPTH, NEVER, NODE, TERM, TOP
from tamis.engines.presearch.layout import build
from tamis.engines.protocol import Candidates
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

CLAUSES = ("clauses.start", "clauses.literal", "clauses.set_lo", "clauses.set_hi", "clauses.owner_start")
FIRST_HITS = 1 << 16
CHILDREN = 1 << 10  # of roots, searched together


class Buffers(NamedTuple):
    """Scratch of one call: an event's cells, the bit map, partial queries, and the hits of a batch."""

    cell: npt.NDArray[np.uint32]
    slot: npt.NDArray[np.uint32]
    row_place: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    partial: npt.NDArray[np.uint64]
    words: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.int64]

    def with_terms(self, room: int) -> Buffers:
        """Return the same buffers with room for the terms of an event."""
        return self if len(self.terms) >= room else self._replace(terms=np.empty(room, np.int64))

    def with_hits(self, room: int) -> Buffers:
        """Return the same buffers with room for more hits."""
        return self._replace(hits=np.empty(room, np.int64), ordered=np.empty(room, np.int64))


class Presearch:
    """The pre-search engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "presearch"
    trains: ClassVar[bool] = True
    parameters: ClassVar[Declared] = {
        "way": Whole(2, 0, 3),  # 0: plain Luwak, 1: duplicates once, 2: pre-search, 3: all terms indexed
        "batch": Whole(1_024, 1, MOST_BATCH),
        "pair_documents": Whole(200, 1, 1 << 30),
        "frequent": Real(0.0067, 0.0, 1.0),
        "greedy": Whole(1, 0, 1),
        "time_check": Real(0.0, 0.0, 1e9),  # nanoseconds; 0: measure it
        "time_and": Real(0.0, 0.0, 1e9),
        "time_avoid": Real(0.0, 0.0, 1e9),
    }

    forms: ClassVar[Forms] = {
        "heads": WORD.wide(4),
        "levels": WORD.wide(2),
        "hull": WORD,
        "top": WORD.wide(TOP),
        "child": WORD.wide(2),
        "node": WORD.wide(NODE),
        "layout": WORD,
        "decided": BYTE,
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose the representative and the extra terms of every clause and lay out the nodes."""
        return build(clauses, statistics, chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        words = arena.words32 if wide else arena.words16
        self._arrays = (
            arena.block,
            arena.words32,
            words,
            arena.places(*CLAUSES, *(f"engine.{name}" for name in self.forms)),
        )
        self._free: deque[Buffers] = deque()
        # A cell lies in two blocks of a level.
        self._most_terms = 2 * int(arena["engine.heads"][:, 0].max(initial=0))
        self._room = Room()

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        scratch = (self._free.pop() if self._free else self._new_buffers()).with_terms(
            self._most_terms * int(np.diff(events.start).max(initial=0))
        )
        found, scratch = run_growing(match_events, events, scratch, self._arrays, self._room)
        self._free.append(scratch)
        return found

    def _new_buffers(self) -> Buffers:
        node, layout = self._arena["engine.node"], self._arena["engine.layout"]
        slot = np.full(max(len(self._arena["engine.top"]), 1), NEVER, np.uint32)
        slot[node[:-1, TERM]] = 0
        rows = int(np.count_nonzero(slot == 0)) + 1
        batch = int(layout[0])
        width, depth = -(-batch // 64), int(node[:, DEPTH].max(initial=0)) + 1
        return Buffers(
            np.zeros(max(len(self._arena["clauses.cells"]), 1), np.uint32),
            slot,
            np.empty(rows, np.int64),
            np.empty(rows * width, np.uint64),
            np.empty(depth * width, np.uint64),
            np.empty(width, np.int64),
            np.empty(batch + 2, np.int64),
            np.empty(3 * CHILDREN, np.int64),
            np.empty(0, np.int64),
            np.empty(FIRST_HITS, np.int64),
            np.empty(FIRST_HITS, np.int64),
        )

    def check(self) -> None:
        """Raise unless every clause stands under one node or is residual and all numbers are in range."""
        clauses = len(self._arena["clauses.start"]) - 1
        check_arrays(self._arena.group("engine."), clauses, self._arena["clauses.cells"].astype(np.int64))
