"""Pairs: two access conditions for clauses that have no rare one.

A clause of ranges only is met by one event in a hundred under its best range, by one in thousands
under its best two. Every dimension that takes part is divided into the same number of *zones*; a
clause is posted under each pair of zones that its two ranges touch, an event visits all pairs of its
own zones. The lists of pairs stand in a triangle, addressed by plain arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.units import Ints


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
