"""The ``pstbloom`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.index.arena import Arena
from tamis.index.invariants import LAYOUT, check_levels, check_lists
from tamis.index.output import collect
from tamis.index.parameters import Declared, Whole, chosen
from tamis.index.proof import Proof
from tamis.index.protocol import Candidates
from tamis.index.pstbloom._kernels import match_events
from tamis.index.pstbloom.layout import build
from tamis.index.scratch import Scratch
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
    "engine.signature",
)


class PSTBloom:
    """See the package's page."""

    name: ClassVar[str] = "pstbloom"
    parameters: ClassVar[Declared] = {
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access predicates, post the clauses in their leaves and sign the postings."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        words = arena.words32 if wide else arena.words16
        self._arrays = arena.words32, words, arena.words64, arena.places(*ARRAYS)
        layout = arena["engine.layout"].tolist()
        Proof(self.name).ensure(len(layout) == LAYOUT, "the layout has another length")
        self._scratch = Scratch(len(arena["clauses.cells"]), layout[5], 0, rounded=False)

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
        proof = Proof(self.name)
        check_lists(proof, arrays, len(self._arena["clauses.start"]) - 1, int(arrays["layout"][4]))
        check_levels(proof, arrays, self._arena["clauses.cells"].astype(np.int64))
        proof.ensure(len(arrays["signature"]) == len(arrays["posting"]), "signatures do not fit the postings")
        proof.below("a grain", (arrays["heads"][:, 0] >> 8) & 255, 63)
