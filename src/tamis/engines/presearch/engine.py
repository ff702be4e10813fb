"""The ``presearch`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.forms import BYTE, WORD, Forms
from tamis.engines.output import Room, run_growing
from tamis.engines.parameters import Declared, Real, Whole, chosen
from tamis.engines.presearch._kernels import match_events
from tamis.engines.presearch.buffers import Buffers, longest_batch, most_terms, new_buffers
from tamis.engines.presearch.check import MOST_BATCH, check_arrays
from tamis.engines.presearch.layers._kernels import LEAPFROG, NODE, TOP
from tamis.engines.presearch.layout import build
from tamis.engines.protocol import Candidates
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

CLAUSES = ("clauses.start", "clauses.literal", "clauses.set_lo", "clauses.set_hi", "clauses.owner_start")


class Presearch:
    """The pre-search engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "presearch"
    trains: ClassVar[bool] = True
    parameters: ClassVar[Declared] = {
        "way": Whole(2, 0, 3),  # 0: plain Luwak, 1: duplicates once, 2: pre-search, 3: all terms indexed
        "leapfrog": Whole(0, 0, 1),  # 1: posting lists and leapfrog in place of bits and cells
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
        self._terms = most_terms(arena["engine.heads"])
        layout = arena["engine.layout"]
        self._batch = int(layout[0])
        self._leaps = bool(layout[LEAPFROG:].any())  # older files lack the field
        self._room = Room()

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        scratch = self._free.pop() if self._free else new_buffers(self._arena, self._leaps)
        scratch = scratch.with_terms(self._terms * int(np.diff(events.start).max(initial=0)))
        if self._leaps:
            scratch = scratch.with_lists(self._terms * longest_batch(events, self._batch), self._batch)
        found, scratch = run_growing(match_events, events, scratch, self._arrays, self._room)
        self._free.append(scratch)
        return found

    def check(self) -> None:
        """Raise unless every clause stands under one node or is residual and all numbers are in range."""
        clauses = len(self._arena["clauses.start"]) - 1
        check_arrays(self._arena.group("engine."), clauses, self._arena["clauses.cells"].astype(np.int64))
