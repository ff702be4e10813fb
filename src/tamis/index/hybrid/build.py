"""Building ``hybrid``: which condition a clause is posted under, and where."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.index.arrange import arrange
from tamis.index.hybrid._kernels import best_three, choose_levels, order_for_checks, post, sort_postings
from tamis.index.statistics import Statistics
from tamis.space.clauses import ABSENT_OK, MANY, NEGATIVE, Clauses, hulls

Ints = npt.NDArray[np.int64]
Arrays = dict[str, npt.NDArray[Any]]


class Units(NamedTuple):
    """Conditions of clauses: the literals of a clause on one dimension, taken together.

    For a plain event, ``price >= 100`` and ``price <= 200`` are one range, far less likely than
    either. ``joined`` marks such conditions: a multi-valued event may meet them with two values.
    """

    start: Ints
    of_literal: Ints
    dimension: Ints
    lo: Ints
    hi: Ints
    usable: npt.NDArray[np.bool_]
    joined: npt.NDArray[np.bool_]
    set_at: Ints
    set_count: Ints


def units_of(clauses: Clauses) -> Units:
    """Group the literals (sorted by dimension within their clause) into conditions."""
    lo, hi = hulls(clauses)
    dimension, flags = clauses.literal[:, 0].astype(np.int64), clauses.literal[:, 1]
    usable = (flags & ABSENT_OK) == 0
    # A literal that absence satisfies says nothing about present cells that is worth joining.
    lo, hi = np.where(usable, lo, 1), np.where(usable, hi, clauses.cells[dimension])
    clause = np.repeat(np.arange(clauses.count), np.diff(clauses.start))
    fresh = np.ones(len(dimension), np.bool_)
    fresh[1:] = (np.diff(dimension) != 0) | (np.diff(clause) != 0)
    first = np.flatnonzero(fresh)
    of_literal = np.cumsum(fresh) - 1
    size = np.diff(np.append(first, len(dimension)))
    top, bottom = np.maximum.reduceat(lo, first), np.minimum.reduceat(hi, first)
    clash = top > bottom  # only a multi-valued event can satisfy these; its first literal must do
    top, bottom = np.where(clash, lo[first], top), np.where(clash, hi[first], bottom)
    many = ((flags & (MANY | NEGATIVE)) == MANY)[first] & (size == 1)
    start = np.zeros(clauses.count + 1, np.int64)
    np.cumsum(np.bincount(clause[first], minlength=clauses.count), out=start[1:])
    return Units(
        start,
        of_literal,
        dimension[first],
        top,
        bottom,
        np.logical_or.reduceat(usable, first),
        (size > 1) & ~clash,
        np.where(many, clauses.literal[first, 2], 0).astype(np.int64),
        np.where(many, clauses.literal[first, 3], 0).astype(np.int64),
    )


def build(clauses: Clauses, statistics: Statistics, most_blocks: int, crowd: int) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    if clauses.count == 0 or len(clauses.literal) == 0:
        return clauses, _empty(clauses)
    units = units_of(clauses)
    share = _shares(units, clauses, statistics)
    access, inline, second = (np.empty(clauses.count, np.int64) for _ in range(3))
    best_three(units.start, share, units.usable, access, inline, second)
    levels = _Levels(clauses, units, access, most_blocks, crowd)
    list_start, owner = levels.sorted()
    clause_order, rank = _posting_order(owner, clauses.count)
    literal_order = np.empty(len(clauses.literal), np.int64)
    order_for_checks(
        clause_order, clauses.start.astype(np.int64), units.of_literal, access, inline, second,
        share[units.of_literal], literal_order,
    )  # fmt: skip
    arranged = arrange(clauses, clause_order, literal_order)
    arrays = levels.arrays() | {
        "list_start": list_start.astype(np.uint32),
        "posting": rank[owner].astype(np.uint32),
        "residual": rank[np.flatnonzero(access < 0)].astype(np.uint32),
        "hull": _hulled(units, access, clauses.dimensions),
    }
    records = Records(clauses)
    arrays |= records.arrays() | {
        "inline": records.pack(units, inline[owner]),
        "second": records.pack(units, second[owner]),
    }
    return arranged, arrays


def _shares(units: Units, clauses: Clauses, statistics: Statistics) -> npt.NDArray[np.float64]:
    """Estimated share of events that satisfy each condition; a set by the sum of its ranges."""
    share = statistics.share(units.dimension, units.lo, units.hi)
    many = np.flatnonzero(units.set_count)
    if len(many):
        count = units.set_count[many]
        shift = np.repeat(units.set_at[many] - (np.cumsum(count) - count), count)
        place = shift + np.arange(len(shift))
        ranges = statistics.share(
            np.repeat(units.dimension[many], count),
            clauses.set_lo[place].astype(np.int64),
            clauses.set_hi[place].astype(np.int64),
        )
        share[many] = np.add.reduceat(ranges, np.cumsum(count) - count)
    return share


def _posting_order(owner: Ints, clauses: int) -> tuple[Ints, Ints]:
    """Clauses in the order of their first posting (residual ones last), and each clause's rank."""
    first = np.full(clauses, -1, np.int64)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    leads = first[owner] == np.arange(len(owner))
    order = np.concatenate([owner[leads], np.flatnonzero(first < 0)])
    rank = np.empty(clauses, np.int64)
    rank[order] = np.arange(clauses)
    return order, rank


class _Levels:
    """Levels in use per dimension, and the list of every posting."""

    def __init__(self, clauses: Clauses, units: Units, access: Ints, most: int, crowd: int) -> None:
        cells = clauses.cells.astype(np.int64)
        top = np.ceil(np.log2(cells + 1)).astype(np.int64)
        used = access[access >= 0]
        wide = used[(units.lo[used] != units.hi[used]) & (units.set_count[used] == 0)]
        crowded = np.bincount(units.dimension[wide], minlength=len(cells)) > crowd
        # About as many lists as clauses: single cells where there are many, larger blocks elsewhere.
        posted = np.bincount(units.dimension[used], minlength=len(cells))
        bottom = np.log2(np.maximum(cells / np.maximum(posted, 1), 1)).astype(np.int64)
        level, self.count = np.zeros(clauses.count, np.int64), np.zeros(clauses.count, np.int64)
        sets = (units.set_at, units.set_count, clauses.set_lo, clauses.set_hi)
        choose_levels(
            access, units.lo, units.hi, *sets, bottom, top, crowded, units.dimension, most, level, self.count
        )
        placed = np.flatnonzero(access >= 0)
        in_use = np.zeros((len(cells), 64), np.bool_)
        in_use[units.dimension[access[placed]], level[placed]] = True
        self.dimension, self.shift = np.nonzero(in_use)
        width = (cells[self.dimension] >> self.shift) + 1
        self.base = np.cumsum(width) - width
        self.list_count = int(width.sum())
        self.dimensions = len(cells)
        table = np.zeros(in_use.shape, np.int64)
        table[self.dimension, self.shift] = self.base
        self.start = np.zeros(clauses.count + 1, np.int64)
        np.cumsum(self.count, out=self.start[1:])
        self.lists = np.empty(self.start[-1], np.int64)
        post(access, units.lo, units.hi, *sets, units.dimension, level, table, self.start, self.lists)

    def sorted(self) -> tuple[Ints, Ints]:
        """Where each list begins, and the clauses of all lists in order."""
        list_start = np.zeros(self.list_count + 1, np.int64)
        list_start[1:] = np.bincount(self.lists, minlength=self.list_count)
        owner = np.empty(len(self.lists), np.int64)
        sort_postings(self.start, self.lists, list_start, owner)
        return list_start, owner

    def arrays(self) -> Arrays:
        start = np.searchsorted(self.dimension, np.arange(self.dimensions + 1))
        return {
            "level_start": start.astype(np.uint32),
            "level_shift": self.shift.astype(np.uint32),
            "level_base": self.base.astype(np.uint32),
        }


def _hulled(units: Units, access: Ints, dimensions: int) -> npt.NDArray[np.uint32]:
    """Dimensions on which joined conditions are posted."""
    used = access[access >= 0]
    hull = np.zeros(dimensions, np.uint32)
    hull[units.dimension[used[units.joined[used]]]] = 1
    return hull


class Records:
    """Inline records: (dimension, lowest cell, width) in one word, cells rounded where they must be."""

    def __init__(self, clauses: Clauses) -> None:
        self.dimension_bits = max(clauses.dimensions - 1, 1).bit_length()
        self.word = np.dtype(np.uint32 if self.dimension_bits <= 20 else np.uint64)
        self.cell_bits = min((8 * self.word.itemsize - self.dimension_bits) // 2, 16)
        widths = np.ceil(np.log2(clauses.cells.astype(np.float64) + 1)).astype(np.int64)
        self.rounding = np.maximum(widths - self.cell_bits, 0)

    def arrays(self) -> Arrays:
        """What the kernels need to read records."""
        return {
            "rounding": self.rounding.astype(np.uint32),
            "bits": np.array([self.dimension_bits, self.cell_bits], np.uint32),
        }

    def pack(self, units: Units, chosen: Ints) -> npt.NDArray[Any]:
        """The chosen conditions as records; NONE becomes a record that always holds."""
        has, at = chosen >= 0, np.maximum(chosen, 0)
        shift = self.rounding[units.dimension[at]]
        low = units.lo[at] >> shift
        span = (units.hi[at] >> shift) - low
        record = units.dimension[at] | (low << self.dimension_bits)
        record |= span << (self.dimension_bits + self.cell_bits)
        anything = ((1 << self.cell_bits) - 1) << (self.dimension_bits + self.cell_bits)
        return np.where(has, record, anything).astype(self.word)


def _empty(clauses: Clauses) -> Arrays:
    none = np.zeros(0, np.uint32)
    records = Records(clauses)
    return records.arrays() | {
        "level_start": np.zeros(clauses.dimensions + 1, np.uint32),
        "level_shift": none,
        "level_base": none,
        "list_start": np.zeros(1, np.uint32),
        "posting": none,
        "residual": np.arange(clauses.count, dtype=np.uint32),
        "hull": np.zeros(clauses.dimensions, np.uint32),
        "inline": np.zeros(0, records.word),
        "second": np.zeros(0, records.word),
    }
