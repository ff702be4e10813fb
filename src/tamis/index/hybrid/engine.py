"""The ``hybrid`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.index.arena import Arena
from tamis.index.hybrid._kernels import match_events
from tamis.index.hybrid.layout import build
from tamis.index.hybrid.layout.decided import FLAG
from tamis.index.invariants import LAYOUT, check_levels, check_lists, check_records
from tamis.index.output import collect
from tamis.index.parameters import Declared, Whole, chosen
from tamis.index.postings._kernels import CLAUSE
from tamis.index.proof import Proof
from tamis.index.protocol import Candidates
from tamis.index.scratch import Scratch
from tamis.index.statistics import Statistics
from tamis.index.units import Ints
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
    "engine.residual",
    "engine.hull",
    "engine.layout",
    "engine.until",
    "engine.inline",
    "engine.rows",
)
MOST_EACH = 1 << 12
FEW = 64  # events say little about how many matches the next ones have


class Hybrid:
    """See the package's page."""

    name: ClassVar[str] = "hybrid"
    parameters: ClassVar[Declared] = {
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
        "pairs": Whole(1, 0, 2),  # never, where they pay, wherever there are two conditions
        "beside": Whole(0, 0, 8),  # records in the row of a posting; 0: one, or three where they pay
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access and inline conditions and lay out the postings."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        words = arena.words32 if wide else arena.words16
        wide = arena["engine.inline"].dtype == np.uint64
        inlines = arena.words64 if wide else arena.words32
        self._arrays = arena.words32, words, inlines, arena.places(*ARRAYS)
        heads, layout = arena["engine.heads"], arena["engine.layout"]
        rounded = bool(((heads[:, 0] >> 8) & 255).any())
        paired = int(layout[3]) // max(int(layout[2]), 1)
        self._each = 16  # matches that an event is expected to have
        self._scratch = Scratch(len(heads), int(layout[5]), paired, rounded)

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

        event, clause = collect(events.count, run, self._each)
        if events.count >= FEW:
            self._each = min(max(self._each, 5 * len(event) // (4 * events.count)), MOST_EACH)
        self._scratch.give_back(scratch)
        return Candidates(event, clause, int(work[0]), int(work[1]), int(work[3]))

    def check(self) -> None:
        """Every clause is posted or residual, and every number points inside its array."""
        arrays = self._arena.group("engine.")
        cells = self._arena["clauses.cells"].astype(np.int64)
        proof = Proof(self.name)
        proof.ensure(len(arrays["layout"]) == LAYOUT + 1, "the layout has another length")
        _, _, zones, width, singles, _, stride = arrays["layout"].tolist()
        lists = singles + width * (width - 1) // 2
        rows, inline = arrays["rows"], arrays["inline"]
        fitting = stride >= 2 and rows.shape == (len(inline), stride) and rows.dtype == inline.dtype
        proof.ensure(fitting, "the rows do not fit the postings")
        start = self._arena["clauses.start"].astype(np.int64)
        arrays["posting"] = rows[:, 0] & CLAUSE
        check_lists(proof, arrays, len(start) - 1, lists)
        _check_until(proof, start, arrays["until"], arrays["posting"][(rows[:, 0] & FLAG) == 0])
        check_levels(proof, arrays, cells)
        slots = int(arrays["heads"][:, 3].max(initial=0))
        proof.ensure(slots * zones <= width, "a dimension has zones beyond the last")
        for column in (inline, *rows.T[1:]):
            check_records(proof, arrays | {"inline": column}, "inline", len(cells))


def _check_until(proof: Proof, start: Ints, until: npt.NDArray[Any], unsettled: npt.NDArray[Any]) -> None:
    """What is left to check of a clause are literals of its own, at least one unless it is decided."""
    fitting = until.shape == start[1:].shape and np.all((start[:-1] <= until) & (until <= start[1:]))
    proof.ensure(fitting, "until does not fit the clauses")
    proof.ensure(np.all(start[unsettled] < until[unsettled]), "an undecided clause has nothing left to check")
