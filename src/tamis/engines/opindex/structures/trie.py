"""Lay out nested ranges as tries: section 6.2 of the paper, in cells.

The ranges of prefixes, and of address blocks, are nested: two of them are disjoint, or one contains the
other. Then a node is a range, and its parent is the smallest range around it. A trie over letters has the
same nodes, and a chain of letters between two of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.opindex.structures._kernels import COLUMNS, LAST, UP, keep_nested, link_nested
from tamis.engines.opindex.structures.structure import (
    Flags,
    Grid,
    Inserted,
    Ints,
    Items,
    divide,
    signatures,
    starts_of,
)
from tamis.engines.proof import Proof


class Trie:
    """The structure of ranges: an event's cell finds the innermost range around it and climbs.

    A segment has one list, sorted by (dimension, first cell), the longer range first. Beside each record
    stand the last cell and the distance to the node around it.
    """

    def insert(self, items: Items, grid: Grid) -> Inserted:
        """Return the tries; ``items`` are nested for each pivot and dimension."""
        directory, number = divide(items, grid, 1)
        first = grid.base[items.dimension] + items.operand
        order = np.lexsort((items.pointer, -items.last, first, number))
        up = np.empty(len(order), np.int64)
        link_nested(number[order], first[order], (first - items.operand + items.last)[order], up)
        columns = np.empty((len(order), COLUMNS), np.uint32)
        columns[:, LAST], columns[:, UP] = items.last[order], up
        count = int(directory[-1])
        record, signature = grid.narrow(grid.records(items)[order]), signatures(items, number, count, grid)
        return Inserted(directory, starts_of(number, count), signature, record, columns)


def nested(pivot: Ints, dimension: Ints, lo: Ints, hi: Ints, least: int) -> Flags:
    """Return which ranges the trie of their pivot and dimension takes: those that cross no other in it.

    There is no trie of fewer than ``least`` ranges, or of less than half of a family.
    """
    order = np.lexsort((-hi, lo, dimension, pivot))
    kept = np.empty(len(order), np.bool_)
    keep_nested(pivot[order], dimension[order], lo[order], hi[order], least, kept)
    taken = np.empty(len(order), np.bool_)
    taken[order] = kept
    return taken


class Stored(NamedTuple):
    """The arrays of the tries as a file holds them, to be checked."""

    start: npt.NDArray[Any]  # of the lists, from the first trie on
    record: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    marked: npt.NDArray[Any]  # for each dimension, whether a trie has ranges of it


def check_trie(proof: Proof, stored: Stored, base: Ints, bits: int) -> None:
    """Raise unless every range lies in its dimension, and every way up leads to a range around it."""
    start = stored.start.astype(np.int64) - int(stored.start[0])
    proof.ensure(len(stored.columns) == start[-1], "the tries do not fit their lists")
    cell = stored.record.astype(np.int64) >> bits
    dimension = np.searchsorted(base, cell, side="right") - 1
    proof.below("a range of a trie", dimension, len(base) - 1)
    marks = np.bincount(dimension, minlength=len(base) - 1) > 0
    proof.ensure(np.array_equal(stored.marked, marks), "the dimensions of the tries are not marked")
    last = base[dimension] + stored.columns[:, LAST]
    inside = (cell <= last) & (last < base[dimension + 1])
    proof.ensure(inside.all(), "a range of a trie leaves its dimension")
    place = np.arange(len(cell))
    up = stored.columns[:, UP].astype(np.int64)
    room = place - np.repeat(start[:-1], np.diff(start))
    proof.ensure(np.all(up <= room), "a trie leads out of its list")
    around = place - up
    encloses = (cell[around] <= cell) & (last <= last[around])
    proof.ensure(encloses.all(), "a trie leads to a range that does not enclose")
