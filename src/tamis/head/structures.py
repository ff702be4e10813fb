"""List the dynamic structures that a head can keep its clauses in.

A structure grows by ``catch_up``, which only the writer calls, and only on a copy that nobody searches. Its
kernel has the arguments of ``leaves/search``: events, buffers, clauses, arrays of the structure, the clauses
that it does not know yet, and the output.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Protocol, Self

from tamis.engines.output import Buffers
from tamis.errors import UnknownHead
from tamis.head.store import ClauseStore

_STRUCTURES = {
    "pstree": ("tamis.head.leaves.postings", "Leaves"),
    "bestar": ("tamis.head.bestar.tree", "GrowingTree"),
    "opindex": ("tamis.head.opindex.lists", "PredicateLists"),
}
NAMES = tuple(_STRUCTURES)
DEFAULT = "pstree"


class Scratch(Buffers, Protocol):
    """The memory that one search works in."""

    def fits(self, dimensions: int, lists: int) -> bool:
        """Return whether events on so many dimensions, which visit so many lists, may use the memory."""


class Structure(Protocol):
    """An index over the clauses of a head."""

    kernel: ClassVar[Any]
    count: int  # clauses that it knows; the head checks the others one by one

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as the kernel reads them."""

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""

    def copy(self) -> Self:
        """Return an independent structure with the same content."""

    @staticmethod
    def buffers(dimensions: int, lists: int) -> Scratch:
        """Return scratch memory for a search."""

    def waiting(self, dead: Any) -> int:
        """Return the number of removals that it should learn of; 0 if it keeps removed clauses."""

    def catch_up(self, store: ClauseStore, dimensions: int, dead: Any) -> None:
        """Learn of new clauses, and of the slots removed so far."""


def unknown_head(name: str) -> UnknownHead:
    """Return the error for a name that no structure has."""
    return UnknownHead(f"there is no head {name!r}; there are {', '.join(NAMES)}", head=name)


def structure_class(name: str) -> type[Structure]:
    """Return the class of the named structure."""
    if name not in _STRUCTURES:
        raise unknown_head(name)
    module, class_name = _STRUCTURES[name]
    found: type[Structure] = getattr(import_module(module), class_name)
    return found
