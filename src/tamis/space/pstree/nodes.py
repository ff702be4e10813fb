"""Define the two kinds of nodes, and the cuts between predicate spaces."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, NamedTuple


class Inner:
    """An element of a value; the nodes on the way from the root spell the value.

    ``equal`` is the leaf of the value itself, if a predicate ends there. ``befores`` and ``afters`` count
    the predicates that are cut off just below and just above it.
    """

    __slots__ = ("afters", "befores", "children", "equal", "order", "value")

    def __init__(self) -> None:
        self.children: dict[int, Inner] = {}
        self.order: list[int] = []
        self.value: Any = None
        self.equal: Leaf | None = None
        self.befores = 0
        self.afters = 0

    def child(self, element: int) -> Inner:
        """Return the node of ``element`` under this one; make it if it is missing."""
        found = self.children.get(element)
        if found is None:
            found = self.children[element] = Inner()
            insort(self.order, element)
        return found

    def drop(self, element: int) -> None:
        """Remove the child of ``element``."""
        del self.children[element]
        del self.order[bisect_left(self.order, element)]

    def below(self, element: int) -> Inner | None:
        """Return the last child before ``element``."""
        place = bisect_left(self.order, element)
        return self.children[self.order[place - 1]] if place else None

    @property
    def less(self) -> Leaf:
        """The leaf just below the value (``l`` in the paper)."""
        assert self.equal is not None
        below = self.equal.previous if self.befores else self.equal
        assert below is not None
        return below

    @property
    def greater(self) -> Leaf:
        """The leaf just above the value (``g`` in the paper)."""
        assert self.equal is not None
        above = self.equal.next if self.afters else self.equal
        assert above is not None
        return above


class Cut(NamedTuple):
    """The boundary between two predicate spaces: just before a value, or just after it."""

    node: Inner
    after: bool

    @property
    def left(self) -> Leaf:
        """The leaf that ends here."""
        assert self.node.equal is not None
        return self.node.equal if self.after else self.node.less

    @property
    def right(self) -> Leaf:
        """The leaf that begins here."""
        assert self.node.equal is not None
        return self.node.greater if self.after else self.node.equal


class Leaf:
    """A predicate space: everything between two cuts (``None``: to the end of the domain)."""

    __slots__ = ("events", "high", "low", "next", "predicates", "previous")

    def __init__(self) -> None:
        self.low: Cut | None = None
        self.high: Cut | None = None
        self.previous: Leaf | None = None
        self.next: Leaf | None = None
        self.predicates: set[int] = set()
        self.events = 0

    @property
    def counter(self) -> int:
        """The number of predicates that cover this space."""
        return len(self.predicates)

    def describe(self) -> str:
        """Return the space as an interval for people: ``[-5, -1]``; ``..`` is an end of the domain."""
        low = ".." if self.low is None else f"{'(' if self.low.after else '['}{self.low.node.value!r}"
        high = ".." if self.high is None else f"{self.high.node.value!r}{']' if self.high.after else ')'}"
        return f"{low}, {high}"
