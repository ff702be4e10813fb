"""Provide scratch memory for the kernels of ``pstbloom``."""

from __future__ import annotations

import numpy as np

from tamis.engines.pstbloom._kernels import FILTER_WORDS
from tamis.engines.scratch import Buffers, Scratch


class BloomScratch(Scratch):
    """Buffers whose second table is the Bloom filter of an event."""

    def __init__(self, dimensions: int, levels: int) -> None:
        super().__init__(dimensions, levels, 0, rounded=False)

    def _new(self, room: int) -> Buffers:
        return super()._new(room)._replace(table=np.zeros(FILTER_WORDS, np.uint64))
