"""Inline records: (dimension, lowest cell, width) in one word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.units import Ints, Units
from tamis.space.clauses import Clauses

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
