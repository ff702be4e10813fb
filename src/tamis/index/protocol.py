"""What an engine is."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tamis.index.arena import Arena
from tamis.index.parameters import Declared
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses
from tamis.space.located import Located


class Candidates(NamedTuple):
    """Pairs (event, clause) that an engine could not rule out, and the work it took.

    A pair may occur twice for a multi-valued event. Every literal of the clause has been checked:
    only clauses that ask for revision still need the tree.
    """

    event: npt.NDArray[np.int64]
    clause: npt.NDArray[np.int64]
    probed: int  # postings looked at
    verified: int  # clauses whose literals were checked
    visited: int = 0  # lists, nodes or cells looked up on the way to the postings


class Engine(Protocol):
    """An index over integer clauses. Built once, immutable, all state in flat arrays."""

    name: ClassVar[str]
    parameters: ClassVar[Declared]

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """The clauses, arranged as the engine likes them, and the engine's arrays."""
        ...

    def __init__(self, arena: Arena) -> None:
        """Attach to an arena that holds ``clauses.*`` and ``engine.*``."""
        ...

    def candidates(self, events: Located) -> Candidates:
        """All pairs of a batch."""
        ...

    def check(self) -> None:
        """Raise :class:`~tamis.errors.IndexCorrupt` if an invariant of the arrays is broken."""
        ...


EngineClass = type[Engine]
