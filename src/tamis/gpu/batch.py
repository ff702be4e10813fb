"""A batch of events on a card: cells of columns that it located itself, and entries found before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space.located import Located

_FEWEST_SLOTS = 32


class DeviceBatch(NamedTuple):
    """Events on a card. Each has a cell in every row of ``matrix``, and the entries between two starts."""

    events: int
    arrays: tuple[Any, ...]  # see ``search`` in ``search._kernels``: from entry_start to skipped
    most_entries: int  # of an event

    @property
    def slots(self) -> int:
        """The places of a hash table that holds the entries of an event and stays half empty."""
        return max(_FEWEST_SLOTS, 1 << max(2 * self.most_entries - 1, 1).bit_length())


def most_entries(located: Located, skipped: npt.NDArray[np.uint8]) -> int:
    """Return the greatest number of entries of an event that is not skipped."""
    sizes = np.diff(located.start)
    return int(np.where(skipped == 0, sizes, 0).max(initial=0))
