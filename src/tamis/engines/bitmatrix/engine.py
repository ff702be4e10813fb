"""The ``bitmatrix`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.bitmatrix._kernels import match_events
from tamis.engines.bitmatrix.layout import build
from tamis.engines.bitmatrix.layout._kernels import CHUNK, FIELDS, FIXED, ROW, SLAB, TOGETHER
from tamis.engines.bitmatrix.rows._kernels import FETCHED
from tamis.engines.forms import LONG, WORD, Forms
from tamis.engines.output import Room, collect
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.postings.engine import CLAUSES
from tamis.engines.proof import Proof
from tamis.engines.protocol import Candidates
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

MOST_EVENTS = 4_096  # of a block
TABLE = 1 << 18  # cells in the table of a block, unless one event has more


class Scratch(NamedTuple):
    """The cells of a block of events, and what a chunk needs.

    That is the events that it may match, their slabs, the events that visit one slab, two rows, and the
    places of rows.
    """

    table: npt.NDArray[np.uint32]
    live: npt.NDArray[np.int64]
    left: npt.NDArray[np.uint64]
    picked: npt.NDArray[np.int64]
    own: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.uint64]

    @classmethod
    def new(cls, events: int, dimensions: int) -> Self:
        """Return scratch memory for blocks of so many events; kernels leave the table zeroed."""
        table = np.zeros(events * max(dimensions, 1), np.uint32)
        live, picked = np.empty((2, events), np.int64)
        left, own = np.empty(events, np.uint64), np.empty(2 * ROW, np.uint64)
        return cls(table, live, left, picked, own, np.empty(FETCHED, np.uint64))


class BitMatrix:
    """The bit matrix engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "bitmatrix"
    forms: ClassVar[Forms] = {
        "slab_start": WORD,
        "column": WORD.wide(FIELDS),
        "chunk_start": WORD,
        "summary_column": WORD.wide(FIELDS),
        "doubtful": LONG,
        "summary": LONG,
        "matrix": LONG,
    }
    parameters: ClassVar[Declared] = {
        "cells": Whole(256, 1, 65_536),
        "bytes_each": Whole(512, 16, 65_536),
        "summary_cells": Whole(1_024, 1, 65_536),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Order the clauses and write their bits."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        words = {2: arena.words16, 4: arena.words32}[arena["clauses.literal"].dtype.itemsize]
        places = arena.places(*CLAUSES, *(f"engine.{name}" for name in self.forms))
        self.arrays = arena.words32, words, arena.words64, places
        self.dimensions = len(arena["clauses.cells"])
        self._room = Room()
        self._free: deque[Scratch] = deque()

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        scratch = self._taken(min(events.count, self._block))
        work = np.zeros(4, np.int64)

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            done: tuple[int, int] = match_events(
                begin, events.count, *events, *scratch, *self.arrays, out_event, out_clause, work
            )
            return done

        event, clause = collect(events.count, run, self._room.each)
        self._room.learn(events.count, len(event))
        self._free.append(scratch)
        return Candidates(event, clause, *work[:3].tolist())

    @property
    def _block(self) -> int:
        """The number of events in a block."""
        return max(1, min(MOST_EVENTS, TABLE // max(self.dimensions, 1)))

    def _taken(self, events: int) -> Scratch:
        """Return scratch memory for blocks of at least so many events; kept memory may be larger."""
        taken = self._free.pop() if self._free else None
        if taken is None or len(taken.live) < events:
            return Scratch.new(events, self.dimensions)
        return taken

    def check(self) -> None:
        """Raise unless every number points inside its array and every clause has its bits."""
        arrays, proof = self._arena.group("engine."), Proof(self.name)
        cells = self._arena["clauses.cells"].astype(np.int64)
        slabs = -(-(len(self._arena["clauses.start"]) - 1) // SLAB)
        column, summary_column = arrays["column"].astype(np.int64), arrays["summary_column"].astype(np.int64)
        proof.starts("slab_start", arrays["slab_start"], len(column), slabs)
        proof.starts("chunk_start", arrays["chunk_start"], len(summary_column), -(-slabs // CHUNK))
        together = np.all(arrays["slab_start"] % TOGETHER == 0)
        proof.ensure(together, f"the columns of a slab are no multiple of {TOGETHER}")
        proof.ensure(len(arrays["doubtful"]) == ROW * slabs, "doubtful does not fit the slabs")
        proof.ensure(len(arrays["matrix"]) % ROW == 0, "the matrix ends within a row")
        _check_columns(proof, column, cells, len(arrays["matrix"]) // ROW)
        _check_columns(proof, summary_column, cells, len(arrays["summary"]))


def _check_columns(
    proof: Proof, column: npt.NDArray[np.int64], cells: npt.NDArray[np.int64], rows: int
) -> None:
    """Raise unless every column belongs to a dimension and all its rows exist."""
    dimension, first, grain = column.T
    proof.below("a column", dimension, len(cells))
    proof.below("a grain", grain, 32)
    blocks = (cells[dimension] + (np.int64(1) << grain) - 1) >> grain
    proof.below("a row", first + blocks + FIXED - 1, rows)
