"""Define the protocol of engines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
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
Ints = npt.NDArray[np.int64]


class Candidates(NamedTuple):
    """Pairs (event, clause) that an engine could not rule out, and the work it took.

    A pair may occur twice for a multi-valued event. The engine has checked every literal of the clause: only
    clauses that ask for revision still need the tree.
    """

    event: npt.NDArray[np.int64]
    clause: npt.NDArray[np.int64]
    probed: int  # postings read
    verified: int  # clauses whose literals were checked
    visited: int = 0  # lists, nodes or cells looked up on the way to the postings


class Engine(Protocol):
    """An index over integer clauses. It is built once, immutable, with all state in flat arrays.

    An engine that understands groups of alternatives (see :class:`Clauses`) declares ``takes_cnf = True``. An
    engine that learns from the sample declares ``trains = True``: recent events are too few to replace it.
    """

    name: ClassVar[str]
    parameters: ClassVar[Declared]
    forms: ClassVar[Forms]  # of the engine's own arrays

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Return the clauses in the engine's order, and the engine's arrays."""
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
    """Upper bounds of the score of a matching clause, over all its owners.

    With event weights of at most 1 the bound is ``total``; with event weights of at most r it is ``r * weight
    + priority``. ``weight`` is the sum of a ``rest`` and of the parts that belong to attributes the event
    must have (clause ``c`` owns ``attribute[start[c]:start[c + 1]]``, ``share`` likewise). Parts are not
    negative, and everything is rounded up.
    """

    total: Floats
    weight: Floats
    priority: Floats
    rest: Floats
    start: npt.NDArray[np.int64]
    attribute: npt.NDArray[np.int64]
    share: Floats


class Wanted:
    """The scoring view of one event: its attributes, by number and sorted, and their weights.

    ``weighted`` is true if any weight differs from 1. ``greatest`` is the greatest of them and 1. ``parts``
    returns attributes and weights; it is called only if an engine needs them.
    """

    def __init__(self, weighted: bool, greatest: float, parts: Callable[[], tuple[Ints, Floats]]) -> None:
        self.weighted, self.greatest = weighted, greatest
        self._parts = parts

    @cached_property
    def by_attribute(self) -> tuple[Ints, Floats]:
        """The attributes and their weights."""
        return self._parts()


class Agenda(Protocol):
    """The remaining work for one event, the most promising part first."""

    @property
    def work(self) -> tuple[int, int, int]:
        """Probed, verified, visited so far, as in :class:`Candidates`."""
        ...

    def more(self, threshold: float, most: int) -> npt.NDArray[np.int64]:
        """Return further clauses that hold, ``most`` of them or a few more; none if there are no more.

        The agenda may drop a clause that cannot score ``threshold`` or more for good, because a caller's
        threshold never falls.
        """
        ...


@runtime_checkable
class Ranked(Protocol):
    """An :class:`Engine` that can also find the best matches without finding all of them.

    The matcher asks for more until nothing is left, and keeps the k best. It computes the scores; the engine
    only needs bounds that no score exceeds.
    """

    def ranking(self, weights: Weights) -> Any:
        """Return data that the engine derives from the weights; the caller keeps it, threads share it.

        ``None`` means that these weights leave nothing to prune. Then the caller finds all matches.
        """
        ...

    def best(self, event: Located, ranking: Any, wanted: Wanted) -> Agenda | None:
        """Return the agenda of one event; ``None`` if the caller should find all its matches."""
        ...
