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
    "engine.residual",
    "engine.hull",
    "engine.rounding",
    "engine.bits",
    "engine.inline",
    "engine.second",
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
        words = arena.words32 if wide else arena.words16
        wide = arena["engine.inline"].dtype == np.uint64
        inlines = arena.words64 if wide else arena.words32
        self._arrays = arena.words32, words, inlines, arena.places(*ARRAYS)
        self._scratch = Scratch(arena["clauses.cells"].shape[0], *self._most_work())

    def _most_work(self) -> tuple[int, int]:
        """Most lists that one entry of an event can visit, and most postings that one event can meet.

        A plain event visits one list per level of each of its dimensions.
        """
        levels = np.diff(self._arena["engine.level_start"].astype(np.int64))
        base = self._arena["engine.level_base"].astype(np.int64)
        lengths = np.diff(self._arena["engine.list_start"].astype(np.int64))
        longest = np.maximum.reduceat(lengths, base) if len(base) else np.zeros(1, np.int64)
        return int(levels.max(initial=0)), int(longest.sum()) + 1

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(2, np.int64)
        scratch = self._scratch.take(events)

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            done: tuple[int, int] = match_events(
                begin, events.count, *events, *scratch, *self._arrays, out_event, out_clause, work
            )
            return done

        event, clause = collect(events.count, run)
        self._scratch.give_back(scratch)
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
        dimensions = max(len(self._arena["clauses.cells"]), 1)
        mask = (1 << int(arrays["bits"][0])) - 1
        for name in ("inline", "second"):
            _ensure(len(arrays[name]) == len(posting), f"{name} does not fit the postings")
            inside = not len(posting) or int((arrays[name] & mask).max()) < dimensions
            _ensure(inside, f"an {name} record names no dimension")


def _ensure(true: bool, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the hybrid index is damaged: {what}")
