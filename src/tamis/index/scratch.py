"""Scratch memory of kernels, one set per thread that matches, reused between calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt


class Scratch:
    """A pool of (cell table, hit buffer) pairs; kernels leave the table zeroed."""

    def __init__(self, dimensions: int, hits: int) -> None:
        self._sizes = max(dimensions, 1), hits
        self._free: deque[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]] = deque()

    @contextmanager
    def borrow(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]]:
        """A set of buffers for the length of one call; lost, not reused, if the call fails."""
        dimensions, hits = self._sizes
        try:
            taken = self._free.pop()
        except IndexError:
            taken = np.zeros(dimensions, np.uint32), np.empty(hits, np.int64)
        yield taken
        self._free.append(taken)
