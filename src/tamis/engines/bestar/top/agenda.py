"""The agenda of one event: a heap of nodes, ordered by the most that their clauses can score."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar.nodes import ROOT
from tamis.engines.bestar.top._kernels import seek
from tamis.engines.bestar.top.ranking import Ranking
from tamis.engines.protocol import Wanted
from tamis.space.located import Located

FIRST_ROOM = 256


class TreeAgenda:
    """An :class:`~tamis.engines.protocol.Agenda` over a tree."""

    def __init__(
        self, arrays: tuple[Any, ...], free: deque[tuple[Any, ...]], scratch: Any, event: Located,
        ranking: Ranking, wanted: Wanted,
    ) -> None:  # fmt: skip
        self._free, self._scratch = free, scratch
        entries = event.start[0], event.start[1], event.dimension, event.lo, event.hi, bool(event.multi[0])
        asked = *wanted.by_attribute, wanted.greatest if wanted.weighted else 1.0
        self._fixed = (*entries, *arrays, *ranking.bounds(wanted.weighted), *ranking.summaries, *asked)
        self._heap: tuple[Any, Any] = np.full(FIRST_ROOM, np.inf), np.full(FIRST_ROOM, 2 * ROOT, np.int64)
        self._left = 1
        self._work = np.zeros(3, np.int64)

    @property
    def work(self) -> tuple[int, int, int]:
        """The clauses probed, the clauses verified and the nodes visited so far."""
        probed, verified, visited = self._work.tolist()
        return probed, verified, visited

    def more(self, threshold: float, most: int) -> npt.NDArray[np.int64]:
        """Return further clauses that hold and may score ``threshold``, best bounds first."""
        (cell,) = self._free.pop() if self._free else self._scratch()
        rest = (*self._fixed, *self._heap, self._left, threshold, most, self._work)
        bound, item, left, found = seek(cell, *rest)
        self._heap, self._left = (bound, item), left
        self._free.append((cell,))
        clauses: npt.NDArray[np.int64] = found
        return clauses
