"""The ``hybrid`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.errors import EngineParameter, IndexCorrupt
from tamis.index.arena import Arena
from tamis.index.hybrid._kernels import match_events
from tamis.index.hybrid.build import build
from tamis.index.output import collect
from tamis.index.protocol import Candidates
from tamis.index.scratch import Scratch
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses
from tamis.space.located import Located

ARRAYS = (
    "clauses.start",
    "clauses.literal",
    "clauses.set_lo",
    "clauses.set_hi",
    "engine.level_start",
    "engine.level_shift",
    "engine.level_base",
    "engine.list_start",
    "engine.posting",
    "engine.inline_dimension",
    "engine.inline_lo",
    "engine.inline_span",
    "engine.residual",
    "engine.hull",
)
PARAMETERS = {"most_blocks": (4, 1, 64), "crowd": (32, 0, 1 << 30)}
"""name: (default, least, greatest)."""


class Hybrid:
    """See the package's page."""

    name: ClassVar[str] = "hybrid"

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose access and inline conditions and lay out the postings."""
        chosen = {name: default for name, (default, _, _) in PARAMETERS.items()}
        for name, value in parameters.items():
            if name not in PARAMETERS:
                raise EngineParameter(f"hybrid has no parameter {name!r}; it has {', '.join(PARAMETERS)}")
            _, least, greatest = PARAMETERS[name]
            if type(value) is not int or not least <= value <= greatest:
                raise EngineParameter(f"{name} must lie between {least} and {greatest}, not {value!r}")
            chosen[name] = value
        return build(clauses, statistics, **chosen)

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        self._words = arena.words32 if wide else arena.words16
        self._places = arena.places(*ARRAYS)
        lists = arena["engine.list_start"]
        self._longest = int(np.diff(lists.astype(np.int64)).max(initial=0)) + 1
        self._scratch = Scratch(arena["clauses.cells"].shape[0], self._longest)

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(2, np.int64)
        with self._scratch.borrow() as (cell, hits):

            def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
                done: tuple[int, int] = match_events(
                    begin,
                    events.count,
                    *events,
                    cell,
                    hits,
                    self._arena.words32,
                    self._words,
                    self._places,
                    out_event,
                    out_clause,
                    work,
                )
                return done

            event, clause = collect(events.count, run)
        return Candidates(event, clause, int(work[0]), int(work[1]))

    def check(self) -> None:
        """Every clause is posted or residual, and every number points inside its array."""
        arrays = self._arena.group("engine.")
        clauses = len(self._arena["clauses.start"]) - 1
        posting, residual, lists = arrays["posting"], arrays["residual"], arrays["list_start"]
        _ensure(bool(np.all(np.diff(lists.astype(np.int64)) >= 0)), "list_start is not sorted")
        _ensure(int(lists[-1]) == len(posting), "list_start does not end at the last posting")
        seen = np.zeros(clauses, np.bool_)
        for numbers in (posting, residual):
            _ensure(not len(numbers) or int(numbers.max()) < clauses, "a posting names no clause")
            seen[numbers] = True
        _ensure(bool(seen.all()), "a clause is posted nowhere")
        for name in ("inline_dimension", "inline_lo", "inline_span"):
            _ensure(len(arrays[name]) == len(posting), f"{name} does not fit the postings")
        dimensions = len(self._arena["clauses.cells"])
        inside = not len(posting) or int(arrays["inline_dimension"].max()) < max(dimensions, 1)
        _ensure(inside, "an inline condition names no dimension")


def _ensure(true: bool, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the hybrid index is damaged: {what}")
