"""Cutting dimensions into cells, for all dimensions at once.

A *cut* is a place between two values, written as (dimension, key) with integer keys in value order.
The cuts of one dimension, sorted, bound its cells: cell ``i`` lies right of ``i`` cuts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.space._kernels import mark_cuts

Ints = npt.NDArray[np.int64]
_TABLE_LIMIT = 1 << 27


class CutSet:
    """The distinct cuts of many dimensions, and where each one stands in its dimension."""

    def __init__(self, dimension: Ints, low: Ints, high: Ints, dimensions: int, keys: int) -> None:
        """From ranges between two keys each; -1 is no bound."""
        self._keys = max(keys, 1)
        self._rank: npt.NDArray[np.int32] | None = None
        if dimensions * self._keys <= _TABLE_LIMIT:
            # Marking a table is linear and beats sorting as long as the table stays small.
            mark = np.zeros(dimensions * self._keys, np.bool_)
            mark_cuts(dimension, low, high, self._keys, mark)
            self._codes = np.flatnonzero(mark)
            self._rank = np.cumsum(mark, dtype=np.int32)
        else:
            code = np.concatenate([dimension * self._keys + key for key in (low, high)])
            self._codes = np.unique(code[np.concatenate([low, high]) >= 0])
        self.key: Ints = self._codes % self._keys
        self.dimension: Ints = self._codes // self._keys
        self.start: Ints = np.searchsorted(self.dimension, np.arange(dimensions + 1)).astype(np.int64)

    def place(self, dimension: Ints, key: Ints) -> Ints:
        """How many cuts of its dimension stand before each given (existing) cut."""
        code = dimension * self._keys + key
        if self._rank is None:
            rank = np.searchsorted(self._codes, code)
        else:
            rank = self._rank[code].astype(np.int64) - 1
        found: Ints = rank - self.start[dimension]
        return found
