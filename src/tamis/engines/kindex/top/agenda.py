"""The agenda of one event: sizes, ordered by the most their clauses can score, counted one by one."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.agenda import bounds_of
from tamis.engines.kindex.top._kernels import hand_out, hits_of_size, size_bounds
from tamis.engines.kindex.top.ranking import Ranking
from tamis.engines.protocol import Wanted
from tamis.space.located import Located

Ints = npt.NDArray[np.int64]


class SizeAgenda:
    """An :class:`~tamis.engines.protocol.Agenda` over clause sizes."""

    def __init__(
        self, arrays: tuple[Any, ...], free: deque[tuple[Any, ...]], scratch: Any, event: Located,
        ranking: Ranking, wanted: Wanted,
    ) -> None:  # fmt: skip
        self._clauses, self._lists = arrays[:4], arrays[4:]
        self._free, self._scratch = free, scratch
        self._entries = event.start[0], event.start[1], event.dimension, event.lo, event.hi
        self._multi = bool(event.multi[0])
        self._greatest = wanted.greatest if wanted.weighted else 1.0
        self._wanted, self._ranking = wanted, ranking
        self._asked = *wanted.by_attribute, self._greatest
        self._bounds = ranking.bounds(wanted.weighted)
        self._sizes = self._by_bound()
        self._stock, self._bound, self._at = np.empty(0, np.int64), np.empty(0), 0
        self._work = np.zeros(3, np.int64)

    @property
    def work(self) -> tuple[int, int, int]:
        """The postings probed, the clauses verified and the lists visited so far."""
        probed, verified, visited = self._work.tolist()
        return probed, verified, visited

    def more(self, threshold: float, most: int) -> Ints:
        """Return further clauses that hold and may score ``threshold``: size by size, best bounds first."""
        scratch = self._free.pop() if self._free else self._scratch()
        found = self._hand_out(threshold, most, scratch[0])
        while not len(found) and self._sizes and self._sizes[-1][0] >= threshold:
            self._count(self._sizes.pop()[1], threshold, scratch)
            found = self._hand_out(threshold, most, scratch[0])
        self._free.append(scratch)
        return found

    def _by_bound(self) -> list[tuple[float, int]]:
        """Return the sizes with their bounds, the best last."""
        a, b, dimension = self._entries[:3]
        bounds = self._bounds.size_a, self._bounds.size_b
        bound = size_bounds(
            a, b, dimension, self._multi, self._lists[1], *bounds, *self._ranking.shares, *self._asked
        )
        return sorted((value, size) for size, value in enumerate(bound.tolist()))

    def _count(self, size: int, threshold: float, scratch: tuple[Any, ...]) -> None:
        """Count the clauses of one size and put them in stock, best bounds first."""
        _, counter, hits = scratch
        base, size_start, target, _, _, asked, denied_start, denied = self._lists
        if size == 0:
            stock = np.arange(int(size_start[1]))
            self._work[0] += len(stock)
        else:
            lists = base, size_start, target, asked, denied_start, denied
            parts = *self._ranking.parts, self._bounds.part_a, self._bounds.part_b, self._greatest
            found = hits_of_size(
                size, threshold, *self._entries, self._multi, counter, hits, *lists, *parts, self._work
            )
            stock = hits[:found].astype(np.int64)
        bound = bounds_of(stock, self._ranking.weights, self._wanted)
        chosen = np.flatnonzero(bound >= threshold)
        chosen = chosen[np.argsort(-bound[chosen], kind="stable")]
        self._stock, self._bound, self._at = stock[chosen], bound[chosen], 0

    def _hand_out(self, threshold: float, most: int, cell: Any) -> Ints:
        end = len(self._bound) - int(np.searchsorted(self._bound[::-1], threshold))
        fixed = *self._entries, self._multi, cell, *self._clauses, self._lists[3], self._work
        self._at, found = hand_out(self._stock[:end], self._at, most, *fixed)
        clauses: Ints = found
        return clauses
