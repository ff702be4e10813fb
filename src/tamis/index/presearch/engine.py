"""The ``presearch`` engine."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt
from tamis.index.arena import Arena
from tamis.index.output import collect
from tamis.index.parameters import Declared, Real, Whole, chosen
from tamis.index.presearch._kernels import CLAUSE, DEPTH, END, NEVER, TERM, match_events
from tamis.index.presearch.layout import build
from tamis.index.protocol import Candidates
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses
from tamis.space.located import Located

ARRAYS = (
    "clauses.start",
    "clauses.literal",
    "clauses.set_lo",
    "clauses.set_hi",
    "clauses.owner_start",
    "engine.heads",
    "engine.levels",
    "engine.hull",
    "engine.root",
    "engine.node",
    "engine.layout",
    "engine.decided",
)
MOST_BATCH = 4_096
FIRST_HITS = 1 << 16
MOST_EACH = 1 << 12


class Buffers(NamedTuple):
    """Scratch of one call: an event's cells, the bit map, partial queries, and the hits of a batch."""

    cell: npt.NDArray[np.uint32]
    slot: npt.NDArray[np.uint32]
    row_place: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    partial: npt.NDArray[np.uint64]
    words: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.int64]

    def with_hits(self, room: int) -> Buffers:
        """The same with room for more hits."""
        return self._replace(hits=np.empty(room, np.int64), ordered=np.empty(room, np.int64))


class Presearch:
    """See the package's page."""

    name: ClassVar[str] = "presearch"
    parameters: ClassVar[Declared] = {
        "way": Whole(2, 0, 3),  # plain Luwak, duplicates once, pre-search, all terms indexed
        "batch": Whole(1_024, 1, MOST_BATCH),
        "pair_documents": Whole(200, 1, 1 << 30),
        "frequent": Real(0.0067, 0.0, 1.0),
        "greedy": Whole(1, 0, 1),
        "time_check": Real(0.0, 0.0, 1e9),  # nanoseconds; 0 is measured
        "time_and": Real(0.0, 0.0, 1e9),
        "time_avoid": Real(0.0, 0.0, 1e9),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Choose the representative and the extra terms of every clause and lay out the nodes."""
        return build(clauses, statistics, chosen(cls.name, cls.parameters, parameters))

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        wide = arena["clauses.literal"].dtype == np.uint32
        words = arena.words32 if wide else arena.words16
        self._arrays = arena.block, arena.words32, words, arena.places(*ARRAYS)
        self._free: deque[Buffers] = deque()
        self._each = 16  # matches that an event is expected to have

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        work = np.zeros(4, np.int64)
        scratch = self._free.pop() if self._free else self._new_buffers()

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            nonlocal scratch
            if work[2]:
                scratch, work[2] = scratch.with_hits(int(work[2])), 0
            done: tuple[int, int] = match_events(
                begin, events.count, *events, *scratch, *self._arrays, out_event, out_clause, work
            )
            return done

        event, clause = collect(events.count, run, self._each)
        if events.count >= 64:  # few events say little
            self._each = min(max(self._each, 5 * len(event) // (4 * events.count)), MOST_EACH)
        self._free.append(scratch)
        return Candidates(event, clause, int(work[0]), int(work[1]), int(work[3]))

    def _new_buffers(self) -> Buffers:
        node, layout = self._arena["engine.node"], self._arena["engine.layout"]
        slot = np.full(max(len(self._arena["engine.root"]), 1), NEVER, np.uint32)
        slot[node[:-1, TERM]] = 0
        rows = int(np.count_nonzero(slot == 0)) + 1
        batch = int(layout[0])
        width, depth = -(-batch // 64), int(node[:, DEPTH].max(initial=0)) + 1
        return Buffers(
            np.zeros(max(len(self._arena["clauses.cells"]), 1), np.uint32),
            slot,
            np.empty(rows, np.int64),
            np.empty(rows * width, np.uint64),
            np.empty(depth * width, np.uint64),
            np.empty(width, np.int64),
            np.empty(batch + 2, np.int64),
            np.empty(FIRST_HITS, np.int64),
            np.empty(FIRST_HITS, np.int64),
        )

    def check(self) -> None:
        """Every clause stands under one node or is residual, and every number points inside its array."""
        arrays, cells = self._arena.group("engine."), self._arena["clauses.cells"].astype(np.int64)
        layout, node = arrays["layout"], arrays["node"].astype(np.int64)
        sound = layout.shape == (2,) and 1 <= int(layout[0]) <= MOST_BATCH and int(layout[1]) <= 3
        _ensure(sound, "the layout is no batch size and way")
        clauses = len(self._arena["clauses.start"]) - 1
        _ensure(len(arrays["decided"]) == clauses, "decided does not fit the clauses")
        _ensure(int(arrays["decided"].max(initial=0)) <= 1, "decided is neither yes nor no")
        _ensure(node.ndim == 2 and node.shape[1] == 4 and len(node) > 0, "nodes have the wrong shape")
        _check_nodes(node, clauses)
        places = len(arrays["root"])
        _ensure(int(node[:-1, TERM].max(initial=-1)) < places, "a node names no term")
        _ensure(int(arrays["root"].max(initial=0)) < len(node), "a term leads to no node")
        tops = arrays["root"].astype(np.int64)[arrays["root"] > 0] - 1
        _ensure(not node[tops, DEPTH].any(), "a representative term leads below the first layer")
        _check_levels(arrays, cells, places)


def _check_nodes(node: npt.NDArray[np.int64], clauses: int) -> None:
    """Nodes stand in preorder, each before all that lies below it, and so do their clauses."""
    count = len(node) - 1
    at, end, depth = np.arange(count), node[:-1, END], node[:-1, DEPTH]
    _ensure(bool(np.all(end > at) and np.all(end <= count)), "a node ends outside the nodes")
    first = np.diff(depth, prepend=-1) if count else depth
    _ensure(not count or (int(depth[0]) == 0 and int(first.max()) <= 1), "a node has no parent")
    beyond = np.append(depth, 0)
    _ensure(bool(np.all(beyond[end] <= depth)), "a node ends below itself")
    start = node[:, CLAUSE]
    sound = start[0] == 0 and start[-1] <= clauses and not np.any(np.diff(start) < 0)
    _ensure(bool(sound), "the clauses of nodes are not in order")


def _check_levels(
    arrays: dict[str, npt.NDArray[Any]], cells: npt.NDArray[np.int64], places: int
) -> None:
    """Every level of every dimension leads to places that exist."""
    heads, levels = arrays["heads"].astype(np.int64), arrays["levels"].astype(np.int64)
    fitting = heads.shape == (len(cells), 4) and levels.shape == (len(levels), 2)
    _ensure(fitting and len(arrays["hull"]) == len(cells), "heads, levels and hull do not fit the dimensions")
    count, first = heads[:, 0], heads[:, 3]
    used = np.flatnonzero(count)
    _ensure(bool(np.all(first[used] + count[used] <= len(levels))), "a dimension has levels beyond the last")
    _ensure(np.array_equal(heads[used, 1:3], levels[first[used]]), "a head differs from its first level")
    _ensure(int(count.sum()) == len(levels), "levels belong to several dimensions")
    owner = np.repeat(used, count[used])
    place = np.repeat(first[used] - (np.cumsum(count[used]) - count[used]), count[used]) + np.arange(len(owner))
    level, base = levels[place, 0], levels[place, 1]
    inside = np.all(level < 63) and np.all(base + (cells[owner] >> np.clip(level - 1, 0, 62)) < places)
    _ensure(bool(inside), "a level leads beyond its places")


def _ensure(true: bool, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the presearch index is damaged: {what}")
