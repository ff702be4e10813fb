"""Define the tables of a growing tree; their rows begin like those of the frozen tree (``nodes.py``).

The clauses of an l-node and the p-nodes of a p-directory are linked lists. BEGIN and P_FIRST are their heads,
NONE if they are empty. A bucket at the k-th level of the tree has k rows of bounds from BOX on, one per
dimension that partitions the path to it. The last row is active, the others are the inactive dimensions. Each
row bounds the bucket's own clauses, and everything in the bucket.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar.keys import Keys
from tamis.engines.bestar.nodes import BEGIN, C_WIDTH, P_FIRST, P_WIDTH, ROOT

Ints = npt.NDArray[np.int64]
NONE = -1

TOTAL, LEVEL, BOX, LIMIT, LOST = range(C_WIDTH, C_WIDTH + 5)
GROWING_C = C_WIDTH + 5
P_NEXT, P_RANK, P_LOST = range(P_WIDTH, P_WIDTH + 3)
GROWING_P = P_WIDTH + 3
BOX_DIM, BOX_OWN_LO, BOX_OWN_HI, BOX_LO, BOX_HI = range(5)
BOX_WIDTH = 5
C_USED, P_USED, BOX_USED, P_FREE, FULLEST, MARK = range(6)  # the counters in ``meta``

# Kernels receive the tuples below as plain tuples and use these positions. Code compiled for a class of ours
# could not be loaded from the cache after the class has moved.
C, P, BOXES, AFTER, BEFORE, HOME, META, FREE = range(8)  # Nodes
START, CLAUSE, DIMENSION, KEY_LO, KEY_HI, GAIN = range(6)  # Keys
USED, HELD, RANK, SEEN, FIRST, LAST, LISTS, KEY, RUN_LO, RUN_HI, MOVED = range(11)  # Spare
CAPACITY, ALPHA, BETA, MODE = range(4)  # Rules


class Nodes(NamedTuple):
    """The tree."""

    c: Any
    p: Any
    box: Any
    after: Ints  # per clause, the next one in its l-node
    before: Ints
    home: Ints  # per clause, its c-node; NONE if it is not in the tree
    meta: Ints
    free: Ints  # per level, the first c-node that was given up; others follow by PARENT


class Spare(NamedTuple):
    """Memory in which partitioning and splitting work."""

    used: Ints
    held: Ints
    rank: Ints
    seen: Ints
    first: Ints
    last: Ints
    lists: Ints
    key: Ints
    key_lo: Ints
    key_hi: Ints
    moved: Ints

    def fits(self, clauses: int, units: int, dimensions: int) -> bool:
        """Return whether the memory suffices."""
        return len(self.moved) >= clauses and len(self.lists) >= units and len(self.used) >= dimensions


class Rules(NamedTuple):
    """Capacity of an l-node, α, β, and the way to split."""

    capacity: int
    alpha: float
    beta: float
    mode: int


def empty_nodes(clauses: int, levels: int, capacity: int, room: int) -> Nodes:
    """Return a tree with an empty root."""
    c, p = np.zeros((room, GROWING_C), np.int64), np.zeros((room, GROWING_P), np.int64)
    after, before, home = np.full((3, clauses), NONE, np.int64)
    meta = np.array([1, 0, 0, NONE, 0, 0], np.int64)
    box = np.zeros((room, BOX_WIDTH), np.int64)
    c[ROOT, [BEGIN, P_FIRST]] = NONE
    c[ROOT, LIMIT] = capacity
    return Nodes(c, p, box, after, before, home, meta, np.full(levels + 1, NONE, np.int64))


def wider_nodes(nodes: Nodes, clauses: int, levels: int) -> Nodes:
    """Return the same tree with room for more clauses, and for more conditions of a clause."""
    after, before, home = (wider(column, clauses, NONE) for column in (nodes.after, nodes.before, nodes.home))
    return nodes._replace(after=after, before=before, home=home, free=wider(nodes.free, levels + 1, NONE))


def wider(column: Ints, length: int, value: int) -> Ints:
    """Return the column with at least ``length`` places, the new ones with ``value``."""
    if length <= len(column):
        return column
    larger = np.full(length, value, np.int64)
    larger[: len(column)] = column
    return larger


def spare_for(keys: Keys, dimensions: int) -> Spare:
    """Return scratch memory for the clauses of ``keys``."""
    clauses = len(keys.start) - 1
    by_dimension = np.zeros((6, max(dimensions, 1)), np.int64)
    by_clause = np.zeros((4, clauses), np.int64)
    return Spare._make([*by_dimension, np.empty(len(keys.clause), np.int64), *by_clause])
