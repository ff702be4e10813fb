"""The ``hybrid`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt
from tamis.index.arena import Arena
from tamis.index.hybrid._kernels import match_events
from tamis.index.hybrid.layout import build
from tamis.index.output import collect
from tamis.index.parameters import Declared, Whole, chosen
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
    "clauses.cells",
    "engine.heads",
    "engine.levels",
    "engine.list_start",
    "engine.posting",
    "engine.residual",
    "engine.hull",
    "engine.layout",
    "engine.inline",
    "engine.second",
)


class Hybrid:
    """See the package's page."""

    name: ClassVar[str] = "hybrid"
    parameters: ClassVar[Declared] = {
        "most_blocks": Whole(4, 1, 64),
        "crowd": Whole(64, 0, 1 << 30),
        "pairs": Whole(1, 0, 2),  # never, where they pay, wherever there are two conditions
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
        self._scratch = Scratch(len(heads), int(layout[5]), paired, rounded)

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(4, np.int64)
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
        clauses = len(self._arena["clauses.start"]) - 1
        posting, residual, lists = arrays["posting"], arrays["residual"], arrays["list_start"]
        _ensure(bool(np.all(np.diff(lists.astype(np.int64)) >= 0)), "list_start is not sorted")
        _ensure(int(lists[-1]) == len(posting), "list_start does not end at the last posting")
        seen = np.zeros(clauses, np.bool_)
        for numbers in (posting, residual):
            _ensure(not len(numbers) or int(numbers.max()) < clauses, "a posting names no clause")
            seen[numbers] = True
        _ensure(bool(seen.all()), "a clause is posted nowhere")
        layout = arrays["layout"].astype(np.int64)
        triangle = int(layout[3]) * (int(layout[3]) - 1) // 2
        _ensure(len(lists) == int(layout[4]) + triangle + 1, "list_start does not fit the layout")
        _check_heads(arrays, self._arena["clauses.cells"].astype(np.int64))
        dimensions = max(len(self._arena["clauses.cells"]), 1)
        mask = (1 << int(layout[0])) - 1
        for name in ("inline", "second"):
            _ensure(len(arrays[name]) == len(posting), f"{name} does not fit the postings")
            inside = not len(posting) or int((arrays[name] & mask).max()) < dimensions
            _ensure(inside, f"an {name} record names no dimension")


def _check_heads(arrays: dict[str, npt.NDArray[Any]], cells: npt.NDArray[np.int64]) -> None:
    """Every level of every dimension leads to lists that exist, and so do its zones."""
    heads, levels = arrays["heads"].astype(np.int64), arrays["levels"].astype(np.int64)
    _, _, zones, width, singles, most = arrays["layout"].tolist()
    fitting = heads.shape == (len(cells), 4) and levels.shape == (len(levels), 2)
    _ensure(fitting and len(arrays["hull"]) == len(cells), "heads, levels and hull do not fit the dimensions")
    count, first = heads[:, 0] & 255, heads[:, 2]
    used = np.flatnonzero(count)
    _ensure(bool(np.all(first[used] + count[used] <= len(levels))), "a dimension has levels beyond the last")
    _ensure(int(count.max(initial=0)) == most, "the layout has another number of levels")
    shift, base = levels[first[used], 0], levels[first[used], 1]
    same = np.array_equal(heads[used, 0] >> 16, shift) and np.array_equal(heads[used, 1], base)
    _ensure(same, "a head differs from its first level")
    owner = np.repeat(used, count[used])
    skipped = first[used] - (np.cumsum(count[used]) - count[used])
    place = np.repeat(skipped, count[used]) + np.arange(len(owner))
    shift, base = levels[place, 0], levels[place, 1]
    inside = np.all(shift < 63) and np.all(base + (cells[owner] >> np.minimum(shift, 62)) < singles)
    _ensure(bool(inside), "a level leads beyond its lists")
    _ensure(int(heads[:, 3].max(initial=0)) * zones <= width, "a dimension has zones beyond the last")


def _ensure(true: bool, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the hybrid index is damaged: {what}")
