"""Provide the checks of engines: every number that is a place points inside its array.

Numbers are compared, never subtracted: a difference that overflows would look like a rise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt


def is_rising(start: npt.NDArray[Any], end: int) -> bool:
    """Return whether ``start`` rises from 0 to ``end`` and so divides ``end`` places into runs."""
    if not len(start) or start[0] != 0 or start[-1] != end:
        return False
    return bool(np.all(start[1:] >= start[:-1]))


def is_below(numbers: npt.NDArray[Any], limit: int) -> bool:
    """Return whether all ``numbers`` lie in 0..limit-1."""
    return not numbers.size or (int(numbers.min()) >= 0 and int(numbers.max()) < limit)


class Proof:
    """The checks of one engine's arrays; the first that fails raises under the engine's name."""

    def __init__(self, engine: str) -> None:
        self._engine = engine

    def ensure(self, true: Any, what: str) -> None:
        """Raise :class:`IndexCorrupt` unless ``true``."""
        if not true:
            raise IndexCorrupt(f"the {self._engine} index is damaged: {what}")

    def starts(self, name: str, start: npt.NDArray[Any], end: int, count: int) -> None:
        """Raise unless ``start`` has ``count + 1`` places and rises from 0 to ``end``."""
        sound = start.shape == (count + 1,) and is_rising(start, end)
        self.ensure(sound, f"{name} is not an increasing list of places")

    def below(self, name: str, numbers: npt.NDArray[Any], limit: int) -> None:
        """Raise unless all ``numbers`` lie in 0..limit-1."""
        self.ensure(is_below(numbers, limit), f"{name} names something that is not there")

    def covers(self, clauses: int, *lists: npt.NDArray[Any]) -> None:
        """Raise unless every clause stands in one of the lists."""
        seen = np.zeros(clauses, np.bool_)
        for numbers in lists:
            self.below("a posting", numbers, clauses)
            seen[numbers] = True
        self.ensure(seen.all(), "a clause is posted nowhere")
