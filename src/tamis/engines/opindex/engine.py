"""The ``opindex`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.forms import BYTE, LONG, RECORDS, WORD, Forms
from tamis.engines.opindex._kernels import BITMAP, match_events
from tamis.engines.opindex.build import build
from tamis.engines.opindex.predicates import OPERATORS
from tamis.engines.output import collect
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.proof import Proof
from tamis.engines.protocol import Candidates
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

CLAUSES = ("clauses.start", "clauses.literal", "clauses.set_lo", "clauses.set_hi")


_MOST_BITS = 63  # of a record, which kernels read as a signed number
LEAST_VISITS = 1 << 10
"""Room for this many segments to visit lets the pivots of a usual event be searched together."""


class OpIndex:
    """See the package's page."""

    name: ClassVar[str] = "opindex"
    takes_cnf: ClassVar[bool] = True
    parameters: ClassVar[Declared] = {
        "optimised": Whole(1, 0, 1),  # 0: lists without directories and signatures
        "segment_bits": Whole(5, 0, 8),  # a directory has up to 2 ** segment_bits segments
        "fill": Whole(2, 0, 1 << 20),  # and so few that its lists hold this many predicates on average
    }

    forms: ClassVar[Forms] = {
        "pivot_start": WORD,
        "directory_start": WORD,
        "list_start": WORD,
        "signature": LONG,
        "record": RECORDS,
        "cell_base": LONG,
        "top": WORD,
        "needed": BYTE,
        "verdict": BYTE,
        "layout": WORD,
        "cnf_member": WORD,
        "cnf_pivot_start": WORD,
        "cnf_directory_start": WORD,
        "cnf_list_start": WORD,
        "cnf_signature": LONG,
        "cnf_record": RECORDS,
        "cnf_demand": LONG,
        "cnf_group": BYTE,
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
        places = arena.places(*CLAUSES, *(f"engine.{name}" for name in self.forms))
        self._arrays = arena.block, arena.words32, arena.words64, words, records, places
        self._free: deque[Buffers] = deque()

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
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
        """Every clause has a counter or bitmaps, and every number points inside its array."""
        arrays, proof = self._arena.group("engine."), Proof(self.name)
        cells = self._arena["clauses.cells"].astype(np.int64)
        clauses = len(self._arena["clauses.start"]) - 1
        members = len(arrays["cnf_member"])
        for name, length in (
            ("needed", clauses), ("verdict", clauses), ("top", len(cells)), ("layout", 2),
            ("cnf_demand", members), ("cnf_group", members),
        ):  # fmt: skip
            proof.ensure(arrays[name].shape == (length,), f"{name} has the wrong length")
        bits, residual = arrays["layout"].tolist()
        base = np.concatenate([[0], np.cumsum(cells + 1)])
        proof.ensure(np.array_equal(arrays["cell_base"], base), "cell_base does not fit the cells")
        fits = bits < _MOST_BITS and (int(base[-1]) << bits).bit_length() < _MOST_BITS
        proof.ensure(fits, "a pointer has too many bits")
        same = arrays["record"].dtype == arrays["cnf_record"].dtype
        proof.ensure(same, "the records are of different types")
        counters = arrays["pivot_start"][-1:].tolist() or [0]
        proof.ensure(counters[0] <= residual <= clauses, "a clause is posted nowhere")
        proof.starts("pivot_start", arrays["pivot_start"], counters[0], len(cells))
        proof.starts("cnf_pivot_start", arrays["cnf_pivot_start"], members, len(cells))
        proof.covers(clauses, np.arange(residual), arrays["cnf_member"])
        _check_lists(proof, arrays, "", bits, 1)
        _check_lists(proof, arrays, "cnf_", bits, BITMAP)


def _check_lists(
    proof: Proof, arrays: dict[str, npt.NDArray[Any]], prefix: str, bits: int, pointers: int
) -> None:
    """The directories and lists of the pivots; each of a pivot's counters or bitmaps has ``pointers``."""
    names = ("directory_start", "list_start", "signature", "record", "pivot_start")
    directory, lists, signature, record, pivots = (arrays[prefix + name] for name in names)
    proof.starts(f"{prefix}directory_start", directory, (len(lists) - 1) // OPERATORS, len(pivots) - 1)
    proof.starts(f"{prefix}list_start", lists, len(record), OPERATORS * int(directory[-1]))
    proof.ensure(len(signature) in (0, len(lists) - 1), "the signatures do not fit the lists")
    segments = directory[1:] - directory[:-1]
    powers = not np.any(segments & (np.maximum(segments, 1) - 1))
    proof.ensure(powers, "the size of a directory is no power of two")
    pivot = np.repeat(np.arange(len(pivots) - 1), np.diff(lists[OPERATORS * directory.astype(np.int64)]))
    room = pointers * np.diff(pivots.astype(np.int64))
    inside = (record.astype(np.int64) & ((1 << bits) - 1)) < room[pivot]
    proof.ensure(inside.all(), "a record points at no counter of its pivot")


class Buffers(NamedTuple):
    """Scratch memory of one thread: the event's cells, the counters of one pivot, and the probes."""

    cell: npt.NDArray[np.uint32]  # kernels leave it zeroed
    counter: npt.NDArray[np.uint8]
    bitmap: npt.NDArray[np.uint64]
    hits: npt.NDArray[np.int64]
    probe: npt.NDArray[np.int64]
    sign: npt.NDArray[np.uint64]
    visits: npt.NDArray[np.int64]
    turns: npt.NDArray[np.int64]

    def with_probes(self, entries: int) -> Buffers:
        """Return the same with room for events of more entries."""
        return Buffers(*self[:4], *_probes(entries))


def _buffers(arena: Arena, entries: int) -> Buffers:
    counters, bitmaps = (_longest(arena[f"engine.{name}"]) for name in ("pivot_start", "cnf_pivot_start"))
    return Buffers(
        np.zeros(max(len(arena["clauses.cells"]), 1), np.uint32),
        np.empty(counters, np.uint8),
        np.empty(bitmaps, np.uint64),
        np.empty(max(counters, bitmaps) + 1, np.int64),
        *_probes(entries),
    )


def _longest(start: npt.NDArray[Any]) -> int:
    return int(np.diff(start.astype(np.int64)).max(initial=0))


def _probes(entries: int) -> tuple[npt.NDArray[Any], ...]:
    count = OPERATORS * entries
    room = max(count, LEAST_VISITS) + 1
    return (
        np.empty((count, 2), np.int64),
        np.empty(count, np.uint64),
        np.empty((room, 3), np.int64),
        np.empty((entries, 2), np.int64),
    )
