"""Find the attribute that each of many Arrow strings names, by bytes, without Python strings."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.columns.literals import StringColumn
from tamis.space._kernels import fill_name_table, find_names

Ints = npt.NDArray[np.int64]


class NameTable:
    """A hash table of names; its seed is secret, so that nobody can provoke collisions."""

    def __init__(self, names: StringColumn) -> None:
        self._names = names
        self._seed = np.uint64(secrets.randbits(64))
        self._table = np.full(1 << (2 * names.count + 1).bit_length(), -1, np.int32)
        fill_name_table(names.start, names.data, self._seed, self._table)

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8], np.uint64, npt.NDArray[np.int32]]:
        """The names (where each begins, and their bytes), the seed, and the table."""
        return self._names.start, self._names.data, self._seed, self._table

    def find(self, keys: Any, longest: int) -> Ints | None:
        """Return the place of each key among the names, -1 if it is none of them.

        Return ``None`` if some key is not ASCII or has more than ``longest`` bytes: it must be checked first.
        """
        start, data = string_buffers(keys)
        places = np.empty(len(keys), np.int64)
        fine = find_names(
            start, data, longest, self._names.start, self._names.data, self._seed, self._table, places
        )
        return places if fine else None


def string_buffers(strings: Any) -> tuple[Ints, npt.NDArray[np.uint8]]:
    """Return where each of the Arrow strings begins (and the last ends), and the bytes of all."""
    if not len(strings):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    _, offsets, data = strings.buffers()
    word = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    start = np.frombuffer(offsets, word)[strings.offset : strings.offset + len(strings) + 1].astype(np.int64)
    return start, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
