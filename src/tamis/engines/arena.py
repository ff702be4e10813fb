"""Arenas: all arrays of a segment in one block of memory or one memory-mapped file.

A compiled kernel that is called for a single event pays for every array argument. Therefore it receives an
arena as a few views (one for each word size) and a short list of places, however many arrays it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt

ALIGNMENT = 64

Arrays = Mapping[str, npt.NDArray[Any]]


class Slot(NamedTuple):
    """The place of an array in its arena."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


class Arena:
    """A block of bytes and the table of the arrays in it."""

    def __init__(self, block: npt.NDArray[np.uint8], slots: dict[str, Slot]) -> None:
        self.block = block
        self.slots = slots
        self.words16 = block.view(np.uint16)
        self.words32 = block.view(np.uint32)
        self.words64 = block.view(np.uint64)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        slot = self._slot(name)
        raw = self.block[slot.offset : slot.offset + slot.nbytes]
        return raw.view(np.dtype(slot.dtype)).reshape(slot.shape)

    def _slot(self, name: str) -> Slot:
        slot = self.slots.get(name)
        if slot is None:
            raise IndexCorrupt(f"the index is damaged: it has no array {name!r}")
        return slot

    def group(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays whose names begin with ``prefix``, by the rest of their names."""
        return {name[len(prefix) :]: self[name] for name in self.slots if name.startswith(prefix)}

    def places(self, *names: str) -> npt.NDArray[np.int64]:
        """Return begin and end of each named array, in units of its own words, for kernels to slice by."""
        bounds: list[int] = []
        for name in names:
            slot = self._slot(name)
            unit = np.dtype(slot.dtype).itemsize
            bounds += [slot.offset // unit, (slot.offset + slot.nbytes) // unit]
        return np.array(bounds, np.int64)


def layout(arrays: Arrays) -> tuple[dict[str, Slot], int]:
    """Return a place for every array, each on its own cache line, and the total size."""
    slots: dict[str, Slot] = {}
    offset = 0
    for name, array in arrays.items():
        slots[name] = Slot(array.dtype.str, array.shape, offset, array.nbytes)
        offset = -(-(offset + array.nbytes) // ALIGNMENT) * ALIGNMENT
    return slots, offset


def pack(arrays: Arrays) -> Arena:
    """Return an arena in memory with copies of ``arrays``."""
    slots, size = layout(arrays)
    block = _aligned(size)
    for name, array in arrays.items():
        slot = slots[name]
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        block[slot.offset : slot.offset + slot.nbytes] = raw
    block.setflags(write=False)  # like a mapped file: kernels are compiled once for both
    return Arena(block, slots)


def _aligned(size: int) -> npt.NDArray[np.uint8]:
    """Return zeroed memory that begins on a cache line, like a mapped file: NumPy aligns to 16 bytes only."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    first = -raw.ctypes.data % ALIGNMENT
    return raw[first : first + size]
