"""What an engine is."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena
from tamis.engines.forms import Forms
from tamis.engines.parameters import Declared
from tamis.engines.units import Statistics
from tamis.space.located import Located
from tamis.space.space import Clauses

Floats = npt.NDArray[np.float64]


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
    """An index over integer clauses. Built once, immutable, all state in flat arrays.

    One that understands groups of alternatives (see :class:`Clauses`) declares ``takes_cnf = True``.
    """

    name: ClassVar[str]
    parameters: ClassVar[Declared]
    forms: ClassVar[Forms]  # of its own arrays

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Return the clauses, arranged as the engine likes them, and the engine's arrays."""
        ...

    def __init__(self, arena: Arena) -> None:
        """Attach to an arena that holds ``clauses.*`` and ``engine.*``."""
        ...

    def candidates(self, events: Located) -> Candidates:
        """Return all pairs of a batch."""
        ...

    def check(self) -> None:
        """Raise :class:`~tamis.errors.IndexCorrupt` if an invariant of the arrays is broken."""
        ...


class Weights(NamedTuple):
    """What the score of a matching clause cannot exceed, for whichever of its owners.

    With event weights of at most 1, ``total``; with event weights of at most r, ``r * weight + priority``.
    ``weight`` is made up of the parts that belong to attributes the event must have (clause ``c`` owns
    ``attribute[start[c]:start[c + 1]]``, ``share`` likewise) and of a ``rest``. Parts are not negative, and
    everything is rounded up.
    """

    total: Floats
    weight: Floats
    priority: Floats
    rest: Floats
    start: npt.NDArray[np.int64]
    attribute: npt.NDArray[np.int64]
    share: Floats


class Wanted(NamedTuple):
    """One event as scoring sees it: its attributes, by number and sorted, and their weights.

    ``weighted`` tells whether any weight differs from 1; ``greatest`` is the greatest of them and 1.
    """

    attribute: npt.NDArray[np.int64]
    weight: Floats
    weighted: bool
    greatest: float


class Agenda(Protocol):
    """What is left to look at for one event, the most promising first."""

    @property
    def work(self) -> tuple[int, int, int]:
        """Probed, verified, visited so far, as in :class:`Candidates`."""
        ...

    def more(self, threshold: float, most: int) -> npt.NDArray[np.int64]:
        """Further clauses that hold, until there are ``most`` or a few more; none: that is all.

        A clause that cannot score ``threshold`` or more may be left out, for good: a caller's threshold
        never falls.
        """
        ...


@runtime_checkable
class Ranked(Protocol):
    """What an engine may offer beside :class:`Engine`: the best matches without finding all of them.

    The matcher asks for more until nothing is left, and keeps the k best. Scores are its business; the
    engine only needs bounds that no score exceeds.
    """

    def ranking(self, weights: Weights) -> Any:
        """What the engine derives from the weights; made once, kept by the caller, shared by threads."""
        ...

    def best(self, event: Located, ranking: Any, wanted: Wanted) -> Agenda:
        """Return the agenda of one event."""
        ...
