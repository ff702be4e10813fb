"""Provide scratch memory for the kernels of ``psthash``."""

from __future__ import annotations

from math import comb

from tamis.engines.scratch import Scratch


class HashScratch(Scratch):
    """Room for all combinations of an event's spaces, as long as they are fewer than the hashed clauses."""

    def __init__(self, dimensions: int, layout: list[int]) -> None:
        levels, self._access, low, high = layout[5], *layout[6:9]
        super().__init__(dimensions, levels, 0, rounded=True)
        self._hashed = high - low

    def room(self, entries: int) -> int:
        """Return the number of lists that ``entries`` entries may visit; at least a key for each entry."""
        return super().room(entries) + max(entries, min(comb(entries, self._access), self._hashed))
