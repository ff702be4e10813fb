"""The agenda of one event: a heap of posting lists and matches, ordered by their bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.agenda import FoundAgenda, bounds_of
from tamis.engines.hybrid.top._kernels import GIVEN_UP, UNOPENED, seek
from tamis.engines.hybrid.top.ranking import Ranking
from tamis.engines.protocol import Candidates, Wanted
from tamis.engines.scratch import Scratch
from tamis.space.located import Located

Ints = npt.NDArray[np.int64]


class ListAgenda:
    """An :class:`~tamis.engines.protocol.Agenda` over the posting lists of a plain event.

    It keeps its scratch memory until nothing is left. If matches are rare among the postings, it gives up and
    calls ``candidates``, which finds all of them.
    """

    def __init__(
        self, scratch: Scratch, arrays: tuple[Any, ...], candidates: Callable[[Located], Candidates],
        event: Located, ranking: Ranking, wanted: Wanted,
    ) -> None:  # fmt: skip
        self._scratch, self._buffers = scratch, scratch.take(event)
        self._candidates, self._event = candidates, event
        self._ranking, self._wanted = ranking, wanted
        self._work = np.zeros(4, np.int64)
        room = len(self._buffers.visits)
        self._left, self._heap, self._items = UNOPENED, np.empty(room), np.empty(room, np.int64)
        self._factor, self._shift = ranking.widened(wanted)
        entries = 0, len(event.dimension), event.dimension, event.lo
        ranked = ranking.order, ranking.bound, ranking.of_clause, self._work
        self._fixed = self._factor, self._shift, *entries, *self._buffers, *arrays, *ranked
        self._handed_out: list[Ints] = []
        self._rest: FoundAgenda | None = None

    @property
    def work(self) -> tuple[int, int, int]:
        """The postings probed, the clauses verified and the lists visited so far."""
        probed, verified, visited, _ = self._work.tolist()
        return probed, verified, visited

    def more(self, threshold: float, most: int) -> Ints:
        """Return further clauses that hold and may score ``threshold``, best bounds first."""
        while self._left:
            found = self._seek(threshold, most)
            self._handed_out.append(found)
            if self._wanted.weighted:
                found = found[bounds_of(found, self._ranking.weights, self._wanted) >= threshold]
            if len(found):
                return found
            most *= 2
        return self._rest.more(threshold, most) if self._rest else np.empty(0, np.int64)

    def _seek(self, threshold: float, most: int) -> Ints:
        found: Ints = np.empty(0, np.int64)
        # A call of the kernel costs some microseconds, as much as a whole search by bounds that are tight.
        if self._left > 0 and self._factor * self._heap[0] + self._shift < threshold:
            self._left = 0
        else:
            state = self._left, self._heap, self._items
            self._left, self._heap, self._items, found = seek(*state, threshold, most, *self._fixed)
        if self._left <= 0:
            self._close(found)
        return found

    def _close(self, last: Ints) -> None:
        """Give the scratch memory back, and find the rest at once if the search was given up."""
        self._buffers.cell[self._event.dimension] = 0
        if self._buffers.table is not self._buffers.cell:
            self._buffers.table[self._event.dimension] = 0
        self._scratch.give_back(self._buffers)
        self._ranking.experience.learn(self._left == 0)
        if self._left == GIVEN_UP:
            all_found = self._candidates(self._event)
            self._work[:3] += all_found.probed, all_found.verified, all_found.visited
            known = np.concatenate([*self._handed_out, last])
            if len(known):
                left = all_found.clause[~np.isin(all_found.clause, known)]
                all_found = all_found._replace(event=np.zeros(len(left), np.int64), clause=left)
            self._rest = FoundAgenda(all_found, self._ranking.weights, self._wanted)
            self._left = 0
