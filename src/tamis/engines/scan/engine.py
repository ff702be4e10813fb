"""The ``scan`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.forms import Forms
from tamis.engines.output import collect
from tamis.engines.parameters import Declared, chosen
from tamis.engines.protocol import Candidates
from tamis.engines.scan._kernels import scan_events
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses


class Scan:
    """Checks every clause as it stands and rules out nothing beforehand."""

    name: ClassVar[str] = "scan"
    parameters: ClassVar[Declared] = {}
    forms: ClassVar[Forms] = {}

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Nothing to build."""
        chosen(cls.name, cls.parameters, parameters)
        return clauses, {}

    def __init__(self, arena: Arena) -> None:
        self._clauses = arena.group("clauses.")
        self._literal = self._clauses["literal"].reshape(-1)

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        arrays = self._clauses
        cell = np.zeros(max(len(arrays["cells"]), 1), np.uint32)
        found = np.empty(len(arrays["start"]), np.int64)

        def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
            done: tuple[int, int] = scan_events(
                begin,
                events.count,
                *events,
                cell,
                found,
                arrays["start"],
                self._literal,
                arrays["set_lo"],
                arrays["set_hi"],
                out_event,
                out_clause,
            )
            return done

        event, clause = collect(events.count, run)
        total = events.count * (len(arrays["start"]) - 1)
        return Candidates(event, clause, total, total)

    def check(self) -> None:
        """Nothing of its own to check."""
