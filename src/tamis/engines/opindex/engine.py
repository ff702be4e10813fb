"""The ``opindex`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.forms import BYTE, LONG, RECORDS, WORD, Forms
from tamis.engines.opindex._kernels import match_events
from tamis.engines.opindex.layout.build import build
from tamis.engines.opindex.structures._kernels import BITMAP, COLUMNS, OPERATORS
from tamis.engines.opindex.structures.trie import Stored, check_trie
from tamis.engines.output import run_kernel
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.proof import Proof
from tamis.engines.protocol import Candidates
from tamis.engines.scratch import most_entries
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

Directory = npt.NDArray[np.uint32]

CLAUSES = ("clauses.start", "clauses.literal", "clauses.set_lo", "clauses.set_hi")


_MOST_BITS = 63  # of a record, which kernels read as a signed number
PROBED = OPERATORS + 1  # the lists of an entry and a pivot: one for each operator, and a trie
LEAST_VISITS = 1 << 10
"""With room for this many segments to visit, the pivots of a usual event are searched together."""


class OpIndex:
    """The OpIndex engine, described in the package's docstring and README.md."""

    name: ClassVar[str] = "opindex"
    takes_cnf: ClassVar[bool] = True
    parameters: ClassVar[Declared] = {
        "optimised": Whole(1, 0, 1),  # 0: lists without directories and signatures
        "segment_bits": Whole(5, 0, 8),  # a directory has up to 2 ** segment_bits segments
        "fill": Whole(2, 0, 1 << 20),  # and so few that its lists hold this many predicates on average
        "trie": Whole(8, 0, 1 << 20),  # a trie has this many ranges or more; 0: ranges are two halves each
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
        "has_trie": BYTE,
        "trie_directory_start": WORD,
        "trie": WORD.wide(COLUMNS),
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
        buffers = self._take(events)
        found = run_kernel(match_events, events, (*buffers, *self._arrays))
        self._free.append(buffers)
        return found

    def _take(self, events: Located) -> Buffers:
        """Return buffers that no other thread uses, with room for the probes of each event."""
        entries = most_entries(events)
        if not self._free:
            return _buffers(self._arena, entries)
        taken = self._free.pop()
        return taken if len(taken.probe) >= OPERATORS * entries else taken.with_probes(entries)

    def check(self) -> None:
        """Raise unless every clause has a counter or bitmaps and every number points inside its array."""
        arrays, proof = self._arena.group("engine."), Proof(self.name)
        cells = self._arena["clauses.cells"].astype(np.int64)
        clauses = len(self._arena["clauses.start"]) - 1
        members = len(arrays["cnf_member"])
        for name, length in (
            ("needed", clauses), ("verdict", clauses), ("top", len(cells)), ("layout", 2),
            ("has_trie", len(cells)),
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
        _check_lists(proof, arrays, "", arrays["trie_directory_start"], bits, 1)
        _check_lists(proof, arrays, "cnf_", np.zeros(len(base), np.uint32), bits, BITMAP)
        lists = arrays["list_start"][OPERATORS * int(arrays["directory_start"][-1]) :]
        stored = Stored(lists, arrays["record"][lists[0] :], arrays["trie"], arrays["has_trie"])
        check_trie(proof, stored, base, bits)


def _check_lists(
    proof: Proof, arrays: dict[str, npt.NDArray[Any]], prefix: str, tries: Directory, bits: int, pointers: int
) -> None:
    """Check the directories and lists of the pivots; ``pointers`` belong to each counter or bitmap."""
    names = ("directory_start", "list_start", "signature", "record", "pivot_start")
    directory, lists, signature, record, pivots = (arrays[prefix + name] for name in names)
    count = len(pivots) - 1
    _check_directory(proof, f"{prefix}directory_start", directory, count)
    _check_directory(proof, "trie_directory_start", tries, count)
    number = OPERATORS * int(directory[-1]) + int(tries[-1])
    proof.starts(f"{prefix}list_start", lists, len(record), number)
    proof.ensure(len(signature) in (0, number), "the signatures do not fit the lists")
    owned = np.append(OPERATORS * _lengths(directory), _lengths(tries))
    of_list = np.tile(np.arange(count), 2).repeat(owned)
    pivot, room = of_list.repeat(_lengths(lists)), pointers * _lengths(pivots)
    inside = (record.astype(np.int64) & ((1 << bits) - 1)) < room[pivot]
    proof.ensure(inside.all(), "a record points at no counter of its pivot")


def _check_directory(proof: Proof, name: str, directory: Directory, pivots: int) -> None:
    proof.starts(name, directory, int(directory[-1]) if len(directory) else 0, pivots)
    segments = directory[1:] - directory[:-1]
    powers = not np.any(segments & (np.maximum(segments, 1) - 1))
    proof.ensure(powers, "the size of a directory is no power of two")


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
    climbing: npt.NDArray[np.int64]

    def with_probes(self, entries: int) -> Buffers:
        """Return the same buffers with room for events of more entries."""
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
    return int(_lengths(start).max(initial=0))


def _lengths(start: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    wide = start.astype(np.int64)
    return np.asarray(wide[1:] - wide[:-1])


def _probes(entries: int) -> tuple[npt.NDArray[Any], ...]:
    count = OPERATORS * entries
    room = max(PROBED * entries, LEAST_VISITS) + 1
    return (
        np.empty((count, 2), np.int64),
        np.empty(count, np.uint64),
        np.empty((room, 3), np.int64),
        np.empty((entries, 2), np.int64),
        np.empty(entries + 1, np.int64),
    )
