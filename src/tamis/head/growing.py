"""Provide arrays that grow.

An array doubles when it is full: the writer copies it and goes on with the copy. A reader that holds the old
array keeps everything that its snapshot refers to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FIRST_ROOM = 256


class Growing:
    """An array with room to grow."""

    def __init__(self, dtype: Any, width: int = 1) -> None:
        self.array: npt.NDArray[Any] = np.zeros(FIRST_ROOM * width, dtype)
        self.used = 0

    def take(self, count: int) -> int:
        """Reserve ``count`` further places; return the first."""
        first = self.used
        self.room(count)
        self.used += count
        return first

    def room(self, count: int) -> npt.NDArray[Any]:
        """Return the array, with room for ``count`` further values."""
        if self.used + count > len(self.array):
            larger = np.zeros(max(2 * len(self.array), self.used + count), self.array.dtype)
            larger[: self.used] = self.array[: self.used]
            self.array = larger
        return self.array

    def extend(self, values: Any) -> int:
        """Append values; return the place of the first."""
        first = self.take(len(values))
        self.array[first : self.used] = values
        return first
