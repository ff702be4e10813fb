"""The ``bestar`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.index.arena import Arena
from tamis.index.bestar._kernels import match_events
from tamis.index.bestar.build import build
from tamis.index.bestar.check import check_tree
from tamis.index.bestar.nodes import EXHAUSTIVE
from tamis.index.output import collect
from tamis.index.parameters import Declared, Real, Whole, chosen
from tamis.index.protocol import Candidates
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses
from tamis.space.located import Located

ARRAYS = (
    "clauses.start",
    "clauses.literal",
    "clauses.set_lo",
    "clauses.set_hi",
    "engine.c_node",
    "engine.p_node",
)


class BEStar:
    """See the package's page."""

    name: ClassVar[str] = "bestar"
    parameters: ClassVar[Declared] = {
        "leaf": Whole(0, 0, 1 << 20),  # capacity of an l-node (the paper's A); 0: by match probability
        "alpha": Real(0.1, 0.0, 0.5),
        "beta": Real(4.0, 1.0, 1e9),  # incremental only: growth beyond this raises a new bucket
        "split": Whole(EXHAUSTIVE, 0, 2),  # rigid (as a BE-Tree), approximate, exhaustive
        "selectivity": Whole(1, 0, 1),  # rank attributes by gain minus loss, or by popularity alone
        "incremental": Whole(0, 0, 1),  # insert one by one instead of all at once
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Partition and cluster all clauses at once."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        words = arena.words32 if wide else arena.words16
        self._arrays = arena.words32, words, arena.places(*ARRAYS), arena["engine.hull"]
        self._free: deque[npt.NDArray[np.uint32]] = deque()

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(3, np.int64)
        cell = self._take()

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            done: tuple[int, int] = match_events(
                begin, events.count, *events, cell, *self._arrays, out_event, out_clause, work
            )
            return done

        event, clause = collect(events.count, run)
        self._free.append(cell)
        return Candidates(event, clause, int(work[0]), int(work[1]), int(work[2]))

    def _take(self) -> npt.NDArray[np.uint32]:
        """A table of cells, all zero, as kernels leave it; one per thread that matches."""
        if self._free:
            return self._free.pop()
        return np.zeros(max(len(self._arena["clauses.cells"]), 1), np.uint32)

    def check(self) -> None:
        """The nodes form one tree, every clause lies in one l-node, inside the bounds on its way."""
        check_tree(self._arena)
