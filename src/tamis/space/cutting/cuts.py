"""Cutting dimensions into cells, for all dimensions and all types of values at once.

A *cut* is a place between two values, written as (dimension, key) with integer keys in value order. The
keys of one type of value form a *section*; its first and its last key stand for no bound at all. The cuts
of one dimension in one section, sorted, bound its cells there: cell ``i`` lies right of ``i`` cuts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space.cutting._kernels import cells_below, mark_comparisons
from tamis.space.rows import Comparisons

Ints = npt.NDArray[np.int64]
TABLE_LIMIT = 1 << 27


class Keys(NamedTuple):
    """Per literal four keys: of no lower bound, just before it, just after it, of no upper bound.

    A literal without an order has -1 there.
    """

    of_literal: npt.NDArray[np.int32]  # [4, literals]
    bottom: Ints  # of each section: the key of no lower bound
    top: Ints

    @property
    def total(self) -> int:
        """How many keys there are."""
        return int(self.top[-1]) + 1


class SectionCuts(NamedTuple):
    """The distinct cuts in one section; those of dimension ``d`` are ``start[d]:start[d + 1]``."""

    dimension: Ints
    key: Ints  # counted from the first proper key of the section
    start: Ints
    width: Ints  # cells per dimension, 0 where the section is not used


class Cuts:
    """The cuts at both ends of all ranges, and the cell that ends at each."""

    def __init__(self, keys: Keys, rows: Comparisons, extra: Ints, dimensions: int) -> None:
        """From comparisons, and further cuts as codes (see :meth:`code`)."""
        self.keys, self._dimensions = keys, dimensions
        size = dimensions * keys.total
        # Marking a table is linear and beats sorting as long as the table stays small.
        self._tabled = size <= TABLE_LIMIT
        mark = np.zeros(size if self._tabled else 0, np.bool_)
        codes = np.empty(0 if self._tabled else 2 * len(rows.args), np.int64)
        count, self.members = mark_comparisons(*rows, keys.of_literal, keys.total, mark, codes)
        if self._tabled:
            mark[extra] = True
            self._codes: Ints = np.flatnonzero(mark)
        else:
            self._codes = np.unique(np.concatenate([codes[:count], extra]))
        self._dimension, self._key = np.divmod(self._codes, keys.total)
        self._section = np.searchsorted(keys.bottom, self._key, side="right") - 1

    def code(self, dimension: Ints, key: Ints) -> Ints:
        """Return a cut in one number."""
        return dimension * self.keys.total + key

    def section(self, number: int) -> SectionCuts:
        """Return the cuts of one section."""
        mine = self._section == number
        proper = mine & (self._key != self.keys.bottom[number]) & (self._key != self.keys.top[number])
        dimension, key = self._dimension[proper], self._key[proper] - self.keys.bottom[number] - 1
        start = np.searchsorted(dimension, np.arange(self._dimensions + 1)).astype(np.int64)
        used = np.bincount(self._dimension[mine], minlength=self._dimensions) > 0
        return SectionCuts(dimension, key, start, np.where(used, np.diff(start) + 1, 0))

    def below(self, bases: list[Ints]) -> Below:
        """Return the cells that end at the cuts, given where the cells of each section begin."""
        inner = self._key != self.keys.bottom[self._section]
        fresh = np.ones(len(inner), np.bool_)
        fresh[1:] = (np.diff(self._dimension) != 0) | (np.diff(self._section) != 0)
        before = np.cumsum(inner) - inner  # cuts of all sections that stand before each one
        place = before + inner - before[np.flatnonzero(fresh)[np.cumsum(fresh) - 1]]
        cell = np.stack(bases)[self._section, self._dimension] - 1 + place
        if not self._tabled:
            return Below(self._codes, cell.astype(np.int32))
        table = np.zeros(self._dimensions * self.keys.total, np.int32)
        table[self._codes] = cell
        return Below(np.zeros(0, np.int64), table)


class Below(NamedTuple):
    """The cell that ends at a cut: ``cell`` by code, or by the place of the code in ``codes`` if any."""

    codes: Ints
    cell: npt.NDArray[np.int32]

    def of(self, code: Ints) -> npt.NDArray[Any]:
        """Return the cells of many cuts."""
        out = np.empty(len(code), np.int64)
        cells_below(code, self.codes, self.cell, out)
        return out
