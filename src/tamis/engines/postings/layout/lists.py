"""Lists of postings: levels of blocks, pairs of zones, inline records, and the order of checks.

**Levels** are lists for blocks of 1, 2, 4, … cells of a dimension. A condition on one cell is posted in one
list, a range in the few blocks that cover it. A dimension with few clauses has one level, so coarse that a
list holds a handful of them: visiting one short list costs less than visiting several empty ones. A crowded
dimension has several levels where they pay.

**Pairs** are two access conditions for clauses that have no rare one. One event in a hundred meets a clause
of ranges under its best range, one in thousands under its best two. Every dimension that takes part is
divided into the same number of *zones*. A clause is posted under each pair of zones that its two ranges
touch. An event visits all pairs of its own zones. The lists of pairs stand in a triangle, addressed by plain
arithmetic.

**Records** are (dimension, lowest cell, width) in one word, beside a posting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import (
    choose_levels,
    order_for_checks,
    post,
    sort_postings,
    weigh_levels,
)
from tamis.engines.units import Ints, Units
from tamis.space.space import Clauses


class Pairs(NamedTuple):
    """Which clauses are posted under pairs, and the zones of the dimensions that take part."""

    chosen: npt.NDArray[np.bool_]
    slot: Ints  # per dimension: its number among those that take part, or -1
    zones: int
    width: int  # zones of all dimensions together

    @property
    def lists(self) -> int:
        """How many lists the triangle has."""
        return self.width * (self.width - 1) // 2


NARROW_DIMENSIONS = 20  # bits; beyond, too few would be left for cells in a word of 32


class Records:
    """Where the parts of a record lie; cells are rounded where they would not fit."""

    def __init__(self, clauses: Clauses) -> None:
        self.dimension_bits = max(clauses.dimensions - 1, 1).bit_length()
        self.word = np.dtype(np.uint32 if self.dimension_bits <= NARROW_DIMENSIONS else np.uint64)
        self.cell_bits = min((8 * self.word.itemsize - self.dimension_bits) // 2, 16)
        widths = np.ceil(np.log2(clauses.cells.astype(np.float64) + 1)).astype(np.int64)
        self.rounding = np.maximum(widths - self.cell_bits, 0)

    def bits(self) -> npt.NDArray[np.uint32]:
        """What the kernels need to take records apart."""
        return np.array([self.dimension_bits, self.cell_bits], np.uint32)

    def pack(self, units: Units, chosen: Ints) -> npt.NDArray[Any]:
        """Return the chosen conditions as records; NONE becomes a record that always holds."""
        has, at = chosen >= 0, np.maximum(chosen, 0)
        shift = self.rounding[units.dimension[at]]
        low = units.lo[at] >> shift
        span = (units.hi[at] >> shift) - low
        record = units.dimension[at] | (low << self.dimension_bits)
        record |= span << (self.dimension_bits + self.cell_bits)
        anything = ((1 << self.cell_bits) - 1) << (self.dimension_bits + self.cell_bits)
        return np.where(has, record, anything).astype(self.word)


def check_order(
    clauses: Clauses,
    units: Units,
    late: npt.NDArray[Any],
    clause_order: Ints,
    share: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.uint32]:
    """Return all literals in their new order: per clause those of ``late`` conditions last, else by share.

    Conditions are late that the way to the clause has looked at; ``share`` is that of the units unless the
    engine knows better.
    """
    start = clauses.start.astype(np.int64)
    size = start[1:] - start[:-1]
    place = np.empty(clauses.count, np.int64)
    place[clause_order] = np.cumsum(size[clause_order]) - size[clause_order]
    order = np.empty(len(clauses.literal), np.uint32)
    order_for_checks(start, place, units.of_literal, late, units.share if share is None else share, order)
    return order


HANDFUL = 3
VISIT = 16.0  # looking up a list costs as much as so many postings: it is a cache miss, they stand in a row
HEAD = 4  # words per dimension: see Levels.heads


class Levels:
    """The level of every clause, the levels in use, and the list of every posting."""

    def __init__(
        self, clauses: Clauses, units: Units, access: Ints, second: Ints, pairs: Pairs, most: int, crowd: int
    ) -> None:
        cells = clauses.cells.astype(np.int64)
        single = np.flatnonzero((access >= 0) & ~pairs.chosen)
        posted = np.bincount(units.dimension[access[single]], minlength=len(cells))
        level, count = np.zeros(clauses.count, np.int64), np.zeros(clauses.count, np.int64)
        sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
        ranges = units.dimension, units.lo, units.hi, *sets
        bottom, top = _spans(cells, posted, partial(weigh_levels, access, pairs.chosen, *ranges), most, crowd)
        choose_levels(access, pairs.chosen, *ranges, bottom, top, most, level, count)
        in_use = np.zeros((len(cells), int(top.max(initial=0)) + 1), np.bool_)
        in_use[units.dimension[access[single]], level[single]] = True
        self.dimension, self.shift = np.nonzero(in_use)
        width = (cells[self.dimension] >> self.shift) + 1
        self.base = np.cumsum(width) - width
        self.singles = int(width.sum())
        self.cells, self.pairs, self.level = cells, pairs, level
        table = np.zeros(in_use.shape, np.int64)
        table[self.dimension, self.shift] = self.base
        zoning = pairs.chosen, second, pairs.slot, pairs.zones, pairs.width, self.singles, cells
        self.start = np.zeros(clauses.count + 1, np.int64)
        post(access, *ranges, level, table, *zoning, self.start, np.zeros(0, np.int64), count)
        np.cumsum(count, out=self.start[1:])
        self.lists = np.empty(self.start[-1], np.int64)
        post(access, *ranges, level, table, *zoning, self.start, self.lists, count)

    def sorted(self) -> tuple[Ints, Ints]:
        """Where each list begins, and the clauses of all lists in order."""
        lists = self.singles + self.pairs.lists
        list_start = np.zeros(lists + 1, np.int64)
        list_start[1:] = np.bincount(self.lists, minlength=lists)
        owner = np.empty(len(self.lists), np.int64)
        sort_postings(self.start, self.lists, list_start, owner)
        return list_start, owner

    def heads(self, rounding: Ints) -> npt.NDArray[np.uint32]:
        """Four words per dimension, on one cache line: what a kernel needs to know about it.

        Levels in use, rounding and the shift of the first level (a byte each); the first list of the
        first level; where further levels stand in ``levels``; the number among pairs plus one.
        """
        start = np.searchsorted(self.dimension, np.arange(len(self.cells) + 1))
        count = np.diff(start)
        has = count > 0
        first = np.minimum(start[:-1], max(len(self.shift) - 1, 0))
        shift = (
            np.where(has, self.shift[first], 0) if len(self.shift) else np.zeros(len(self.cells), np.int64)
        )
        base = np.where(has, self.base[first], 0) if len(self.base) else np.zeros(len(self.cells), np.int64)
        heads = np.empty((len(self.cells), HEAD), np.uint32)
        heads[:, 0] = count | (rounding << 8) | (shift << 16)
        heads[:, 1] = base
        heads[:, 2] = start[:-1]
        heads[:, 3] = self.pairs.slot + 1
        return heads

    def most(self) -> int:
        """Most levels that a dimension has."""
        return int(np.bincount(self.dimension, minlength=1).max())

    def levels(self) -> npt.NDArray[Any]:
        """(shift, first list) of every level in use."""
        return np.stack([self.shift, self.base], axis=1).astype(np.uint32)


def _spans(cells: Ints, posted: Ints, weigh: Callable[..., Any], most: int, crowd: int) -> tuple[Ints, Ints]:
    """Return the lowest and the highest level of every dimension: one level, or several where they pay.

    Several levels suit each range, but each of them is one more list to visit. With ``crowd`` 0 they always
    pay, else at most where more than ``crowd`` clauses are posted.
    """
    highest = np.ceil(np.log2(cells + 1)).astype(np.int64)
    fine, coarse = (_lowest(cells, posted / share, highest) for share in (1, HANDFUL))
    if crowd == 0:
        return fine, highest
    crowded = posted > crowd
    if not crowded.any():
        return coarse, coarse
    shift = np.arange(int(highest.max()) + 1)
    lists = (cells[:, None] >> shift) + 1
    touched, several = np.zeros(lists.shape), np.zeros((2, len(cells)))
    weigh(crowded, fine, highest, most, lists, touched, several)
    known = (shift >= coarse[:, None]) & (shift <= highest[:, None])
    affordable = (touched <= most * posted[:, None]) | (shift == highest[:, None])
    one = np.where(known & affordable, touched / lists, np.inf)
    best = np.where(crowded, one.argmin(axis=1), coarse)
    pays = crowded & (several[0] * VISIT + several[1] < VISIT + one.min(axis=1))
    return np.where(pays, fine, best), np.where(pays, highest, best)


def _lowest(cells: Ints, lists: npt.NDArray[Any], highest: Ints) -> Ints:
    """Return the level that has about as many lists."""
    level = np.log2(np.maximum(cells / np.maximum(lists, 1), 1)).astype(np.int64)
    return np.asarray(np.minimum(level, highest))
