"""The scratch memory of one call of ``presearch``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.presearch.layers._kernels import DEPTH, NEVER, TERM
from tamis.engines.presearch.leapfrog._kernels import ask_terms
from tamis.space.located import Located

FIRST_HITS = 1 << 16
CHILDREN = 1 << 10  # of roots, searched together


class Buffers(NamedTuple):
    """Scratch of one call: an event's cells, the bit map or the posting lists, partial queries, and hits."""

    cell: npt.NDArray[np.uint32]
    slot: npt.NDArray[np.uint32]
    row_place: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    partial: npt.NDArray[np.uint64]
    words: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    entry: npt.NDArray[np.uint32]
    first: npt.NDArray[np.int64]
    posts: npt.NDArray[np.uint16]
    lists: npt.NDArray[np.int64]
    path: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.int64]

    def with_terms(self, room: int) -> Buffers:
        """Return the same buffers with room for the terms of an event."""
        return self if len(self.terms) >= room else self._replace(terms=np.empty(room, np.int64))

    def with_lists(self, room: int, batch: int) -> Buffers:
        """Return the same buffers with room for the posting lists of a batch.

        Behind them is room for the promising documents of every depth, and for those of a clause.
        """
        if len(self.entry) >= room and len(self.posts):
            return self
        beside = (len(self.path) // 3 + 1) * batch
        return self._replace(entry=np.empty(room, np.uint32), posts=np.empty(room + beside, np.uint16))

    def with_hits(self, room: int) -> Buffers:
        """Return the same buffers with room for more hits."""
        return self._replace(hits=np.empty(room, np.int64), ordered=np.empty(room, np.int64))


def new_buffers(arena: Arena, leaps: bool) -> Buffers:
    """Return buffers for an engine: with ``leaps`` for posting lists, otherwise for the bit map."""
    node = arena["engine.node"]
    slot = np.full(max(len(arena["engine.top"]), 1), NEVER, np.uint32)
    slot[node[:-1, TERM]] = 0
    if leaps:
        ask_terms(arena["clauses.literal"].reshape(-1), arena["engine.heads"].reshape(-1), slot)
    rows = int(np.count_nonzero(slot == 0)) + 1
    batch, depth = int(arena["engine.layout"][0]), int(node[:, DEPTH].max(initial=0)) + 1
    width = 0 if leaps else -(-batch // 64)
    literals = int(np.diff(arena["clauses.start"].astype(np.int64)).max(initial=0)) if leaps else 0
    return Buffers(
        np.zeros(max(len(arena["clauses.cells"]), 1), np.uint32),
        slot,
        np.empty(rows, np.int64),
        np.empty(rows * width, np.uint64),
        np.empty(depth * width, np.uint64),
        np.empty(width, np.int64),
        np.empty(batch + 2, np.int64),
        np.empty(3 * CHILDREN, np.int64),
        np.empty(0, np.int64),
        np.empty(0, np.uint32),
        np.empty(rows + 2 if leaps else 0, np.int64),
        np.empty(0, np.uint16),
        np.empty(2 * max(literals + 1, 2), np.int64),
        np.empty(3 * depth, np.int64),
        np.empty(FIRST_HITS, np.int64),
        np.empty(FIRST_HITS, np.int64),
    )


def most_terms(heads: npt.NDArray[Any]) -> int:
    """Return the most terms that one cell has: a block of one cell, and two blocks of every other level."""
    count = heads[:, 0].astype(np.int64)
    return int((2 * count - ((count > 0) & (heads[:, 1] == 0))).max(initial=0))


def longest_batch(events: Located, batch: int) -> int:
    """Return the most cells that ``batch`` consecutive documents have."""
    ahead = min(batch, events.count)
    return int((events.start[ahead:] - events.start[: len(events.start) - ahead]).max(initial=0))
