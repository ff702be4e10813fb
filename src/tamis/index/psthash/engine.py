"""The ``psthash`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.index.arena import Arena
from tamis.index.invariants import check_levels, check_lists, check_records
from tamis.index.output import collect
from tamis.index.parameters import Declared, Whole, chosen
from tamis.index.proof import Proof
from tamis.index.protocol import Candidates
from tamis.index.psthash._kernels import match_events
from tamis.index.psthash.layout import build
from tamis.index.psthash.scratch import HashScratch
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses
from tamis.space.located import Located

ARRAYS = (
    "clauses.start",
    "clauses.literal",
    "clauses.set_lo",
    "clauses.set_hi",
    "clauses.cells",
    "engine.heads",
    "engine.levels",
    "engine.list_start",
    "engine.posting",
    "engine.residual",
    "engine.hull",
    "engine.layout",
    "engine.spaces",
    "engine.used",
    "engine.parts",
    "engine.inline",
    "engine.second",
)

LAYOUT = 10  # see layout/build.py


class PSTHash:
    """See the package's page."""

    name: ClassVar[str] = "psthash"
    parameters: ClassVar[Declared] = {
        "access": Whole(2, 2, 4),
        "combinations": Whole(32, 1, 4096),
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access predicates and hash the clauses by their spaces."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        words = arena.words32 if wide else arena.words16
        wide = arena["engine.inline"].dtype == np.uint64
        inlines = arena.words64 if wide else arena.words32
        self._arrays = arena.words32, words, inlines, arena.places(*ARRAYS)
        layout = arena["engine.layout"].tolist()
        Proof(self.name).ensure(len(layout) == LAYOUT, "the layout has another length")
        self._scratch = HashScratch(len(arena["clauses.cells"]), layout)

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(5, np.int64)
        scratch = self._scratch.take(events)

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            nonlocal scratch
            if work[2]:
                scratch, work[2] = scratch.with_hits(int(work[2])), 0
            done: tuple[int, int] = match_events(
                begin, events.count, *events, *scratch, *self._arrays, out_event, out_clause, work
            )
            return done

        event, clause = collect(events.count, run)
        self._scratch.give_back(scratch)
        return Candidates(event, clause, int(work[0]), int(work[1]), int(work[3]))

    def check(self) -> None:
        """Every clause is posted or residual, and every number points inside its array."""
        arrays = self._arena.group("engine.")
        cells = self._arena["clauses.cells"].astype(np.int64)
        clauses = len(self._arena["clauses.start"]) - 1
        proof = Proof(self.name)
        *_, singles, _, bits, access, low, high = arrays["layout"].tolist()
        proof.ensure(0 < bits < 40 and 2 <= access <= 4 and low <= high <= clauses, "the layout cannot be")
        check_lists(proof, arrays, clauses, singles + (1 << bits))
        check_levels(proof, arrays, cells)
        for name in ("inline", "second"):
            check_records(proof, arrays, name, len(cells))
        _check_spaces(proof, arrays, cells)


def _check_spaces(proof: Proof, arrays: dict[str, npt.NDArray[Any]], cells: npt.NDArray[np.int64]) -> None:
    """Every cell leads to a space that has its bit, and every key to a part."""
    spaces = arrays["spaces"].astype(np.int64)
    proof.ensure(spaces.shape == (len(cells), 2), "the spaces do not fit the dimensions")
    proof.below("a grain", spaces[:, 0], 63)
    last = np.where(spaces[:, 1] > 0, spaces[:, 1] - 1 + (cells >> spaces[:, 0]), 0)
    proof.below("a dimension", last, 32 * len(arrays["used"]))
    parts = len(arrays["parts"])
    proof.ensure(parts > 0 and parts & (parts - 1) == 0, "the table of parts is not a power of two")
