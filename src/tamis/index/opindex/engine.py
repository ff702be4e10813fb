"""The ``opindex`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.index.arena import Arena
from tamis.index.opindex._kernels import match_events
from tamis.index.opindex.build import build
from tamis.index.opindex.predicates import OPERATORS
from tamis.index.output import collect
from tamis.index.parameters import Declared, Whole, chosen
from tamis.index.proof import Proof
from tamis.index.protocol import Candidates
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses
from tamis.space.located import Located

ARRAYS = (
    "clauses.start",
    "clauses.literal",
    "clauses.set_lo",
    "clauses.set_hi",
    "engine.pivot_start",
    "engine.directory_start",
    "engine.list_start",
    "engine.signature",
    "engine.record",
    "engine.cell_base",
    "engine.top",
    "engine.needed",
    "engine.undecided",
    "engine.layout",
)


LEAST_VISITS = 1 << 10
"""Room for this many segments to visit lets the pivots of a usual event be searched together."""


class OpIndex:
    """See the package's page."""

    name: ClassVar[str] = "opindex"
    parameters: ClassVar[Declared] = {
        "optimised": Whole(1, 0, 1),  # 0: lists without directories and signatures
        "segment_bits": Whole(5, 0, 8),  # a directory has up to 2 ** segment_bits segments
        "fill": Whole(2, 0, 1 << 20),  # and so few that its lists hold this many predicates on average
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose pivots and lay out the predicate lists."""
        return build(clauses, statistics, **chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        words = arena.words32 if arena["clauses.literal"].dtype == np.uint32 else arena.words16
        records = arena.words32 if arena["engine.record"].dtype == np.uint32 else arena.words64
        self._arrays = (
            arena.block, arena.words32, arena.words64, words, records, arena.places(*ARRAYS)
        )  # fmt: skip
        self._free: deque[Buffers] = deque()

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(3, np.int64)
        buffers = self._take(events)

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            done: tuple[int, int] = match_events(
                begin, events.count, *events, *buffers, *self._arrays, out_event, out_clause, work
            )
            return done

        event, clause = collect(events.count, run)
        self._free.append(buffers)
        return Candidates(event, clause, *work.tolist())

    def _take(self, events: Located) -> Buffers:
        """Buffers of no other thread, with room for the probes of each event."""
        entries = len(events.dimension) if events.count == 1 else int(np.diff(events.start).max(initial=0))
        if not self._free:
            return _buffers(self._arena, entries)
        taken = self._free.pop()
        return taken if len(taken.probe) >= OPERATORS * entries else taken.with_probes(entries)

    def check(self) -> None:
        """Every clause has a counter in its pivot's array, and every number points inside its array."""
        arrays, proof = self._arena.group("engine."), Proof(self.name)
        cells = self._arena["clauses.cells"].astype(np.int64)
        clauses = len(self._arena["clauses.start"]) - 1
        directory, pivots = arrays["directory_start"], arrays["pivot_start"]
        for name, start, end in (
            ("pivot_start", pivots, min(int(pivots[-1]), clauses) if len(pivots) else 0),
            ("directory_start", directory, (len(arrays["list_start"]) - 1) // OPERATORS),
            ("cell_base", arrays["cell_base"], int((cells + 1).sum())),
        ):
            proof.starts(name, start, end, len(cells))
        proof.starts(
            "list_start", arrays["list_start"], len(arrays["record"]), OPERATORS * int(directory[-1])
        )
        for name, length in (("needed", clauses), ("undecided", clauses), ("top", len(cells)), ("layout", 1)):
            proof.ensure(arrays[name].shape == (length,), f"{name} has the wrong length")
        signatures = len(arrays["signature"])
        proof.ensure(signatures in (0, len(arrays["list_start"]) - 1), "the signatures do not fit the lists")
        segments = directory[1:] - directory[:-1]
        proof.ensure(
            not np.any(segments & (np.maximum(segments, 1) - 1)), "the size of a directory is no power of two"
        )
        proof.ensure(_pointing_inside(arrays), "a record points at no counter of its pivot")


def _pointing_inside(arrays: dict[str, npt.NDArray[Any]]) -> bool:
    names = ("pivot_start", "directory_start", "list_start", "layout")
    pivots, directory, lists, layout = (arrays[name].astype(np.int64) for name in names)
    pivot = np.repeat(np.arange(len(pivots) - 1), np.diff(lists[OPERATORS * directory]))
    bits = int(layout[0])
    pointer = arrays["record"].astype(np.int64) & ((1 << min(bits, 62)) - 1)
    return bits < np.iinfo(np.int64).bits and bool(np.all(pointer < np.diff(pivots)[pivot]))


class Buffers(NamedTuple):
    """Scratch memory of one thread: the event's cells, the counters of one pivot, and the probes."""

    cell: npt.NDArray[np.uint32]  # kernels leave it zeroed
    counter: npt.NDArray[np.uint8]
    hits: npt.NDArray[np.int64]
    probe: npt.NDArray[np.int64]
    sign: npt.NDArray[np.uint64]
    visits: npt.NDArray[np.int64]
    turns: npt.NDArray[np.int64]

    def with_probes(self, entries: int) -> Buffers:
        """The same with room for events of more entries."""
        return Buffers(*self[:3], *_probes(entries))


def _buffers(arena: Arena, entries: int) -> Buffers:
    most = int(np.diff(arena["engine.pivot_start"].astype(np.int64)).max(initial=0))
    return Buffers(
        np.zeros(max(len(arena["clauses.cells"]), 1), np.uint32),
        np.empty(most, np.uint8),
        np.empty(most + 1, np.int64),
        *_probes(entries),
    )


def _probes(entries: int) -> tuple[npt.NDArray[Any], ...]:
    count = OPERATORS * entries
    room = max(count, LEAST_VISITS) + 1
    return (
        np.empty((count, 2), np.int64),
        np.empty(count, np.uint64),
        np.empty((room, 3), np.int64),
        np.empty((entries, 2), np.int64),
    )
