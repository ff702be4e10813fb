"""Provide the base class of engines that filter posting lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from tamis.engines.arena import Arena
from tamis.engines.forms import Forms
from tamis.engines.output import Room, run_growing
from tamis.engines.protocol import Candidates
from tamis.engines.scratch import Scratch
from tamis.space.located import Located

CLAUSES = ("clauses.start", "clauses.literal", "clauses.set_lo", "clauses.set_hi", "clauses.cells")


class ListEngine(ABC):
    """An engine that calls a kernel with events, scratch memory, the arena as words, places and the output.

    A kernel pays for every array argument, so it receives the arena. It returns (events done, pairs written),
    adds to ``work`` (probed, verified, –, visited) and asks for more hits in ``work[2]``.
    """

    kernel: ClassVar[Any]
    forms: ClassVar[Forms]  # of the engine's own arrays, in the kernel's order
    records: ClassVar[str]  # the array whose type gives the width of records

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        words = {2: arena.words16, 4: arena.words32, 8: arena.words64}
        literal, records = (arena[n].dtype.itemsize for n in ("clauses.literal", f"engine.{self.records}"))
        places = arena.places(*CLAUSES, *(f"engine.{name}" for name in self.forms))
        self.arrays = arena.words32, words[literal], words[records], places
        self._room = Room()
        self.scratch = self._make_scratch()

    @abstractmethod
    def _make_scratch(self) -> Scratch:
        """Return the pool of scratch memory, after a check of the layout."""

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        found, scratch = run_growing(
            type(self).kernel, events, self.scratch.take(events), self.arrays, self._room
        )
        self.scratch.give_back(scratch)
        return found
