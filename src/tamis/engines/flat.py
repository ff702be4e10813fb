"""Provide the base class of engines that need only a handful of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Any, ClassVar

from tamis.engines.arena import Arena
from tamis.engines.forms import Forms
from tamis.engines.output import run_kernel
from tamis.engines.protocol import Candidates
from tamis.space.located import Located

CLAUSES = ("start", "literal", "set_lo", "set_hi")


class FlatEngine(ABC):
    """An engine that calls a kernel with events, scratch memory, clauses, its own arrays and the output.

    The kernel returns (events done, pairs written) and adds to ``work``: probed, verified, visited.
    """

    kernel: ClassVar[Any]
    forms: ClassVar[Forms]  # of the engine's own arrays, in the kernel's order

    def __init__(self, arena: Arena) -> None:
        self._clauses, self._own = arena.group("clauses."), arena.group("engine.")
        clauses = [self._clauses[name].reshape(-1) for name in CLAUSES]
        self._arrays: tuple[Any, ...] = (*clauses, *(self._own[name] for name in self.forms))
        self._free: deque[tuple[Any, ...]] = deque()

    @abstractmethod
    def _scratch(self) -> tuple[Any, ...]:
        """Return scratch memory for one call; kernels leave it as they found it."""

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        scratch = self._free.pop() if self._free else self._scratch()
        found = run_kernel(type(self).kernel, events, (*scratch, *self._arrays))
        self._free.append(scratch)
        return found
