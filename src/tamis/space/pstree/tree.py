"""The PS-Tree itself: insert and delete predicates, locate values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tamis.space.pstree.elements import Elements
from tamis.space.pstree.nodes import Cut, Inner, Leaf
from tamis.space.pstree.predicates import End, ranges_of

Ends = tuple[Cut | None, Cut | None]
Path = list[tuple[Inner, int]]


class PSTree:
    """The predicates on one attribute, whose values are split into ``elements``."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements
        self.root = Inner()
        self.first = self.last = Leaf()
        self.observed = 0
        self._predicates: dict[int, list[Ends]] = {}

    def __len__(self) -> int:
        return len(self._predicates)

    def __contains__(self, number: int) -> bool:
        return number in self._predicates

    def __iter__(self) -> Iterator[int]:
        return iter(self._predicates)

    # ------------------------------------------------------------------------------ predicates
    def insert(self, number: int, operator: str, *values: Any) -> list[Leaf]:
        """Insert a predicate under a number that the caller chooses; return the leaves that it covers.

        Operators: ``= != < <= > >= between in`` and ``not in``.
        """
        if number in self._predicates:
            raise ValueError(f"there is a predicate {number} already")
        ranges = ranges_of(operator, values, self.elements.elements)
        for value in values:
            self.elements.elements(value)  # all values are checked before the first change
        ends = [(self._partition(low), self._partition(high)) for low, high in ranges]
        self._predicates[number] = ends
        covered = list(self._covered(ends))
        for leaf in covered:
            leaf.predicates.add(number)
        return covered

    def delete(self, number: int) -> None:
        """Delete a predicate; neighbouring spaces that no predicate separates any more are merged."""
        ends = self._predicates.pop(number)
        for leaf in self._covered(ends):
            leaf.predicates.discard(number)
        for cut in (cut for pair in ends for cut in pair if cut):
            self._release(cut)

    def leaves_of(self, number: int) -> list[Leaf]:
        """Return the leaves that a predicate covers."""
        return list(self._covered(self._predicates[number]))

    def _covered(self, ends: list[Ends]) -> Iterator[Leaf]:
        for low, high in ends:
            leaf: Leaf | None = low.right if low else self.first
            end = high.left if high else self.last
            while leaf is not None:
                yield leaf
                leaf = leaf.next if leaf is not end else None

    # ---------------------------------------------------------------------------------- events
    def locate(self, value: Any) -> Leaf:
        """Return the leaf to whose space ``value`` belongs: MatchPair of the paper."""
        node, path, whole = self._walk(self.elements.elements(value))
        if whole and node.equal is not None:
            return node.equal
        return self._neighbour(path)

    def observe(self, value: Any) -> Leaf:
        """Locate the value of an event and count it."""
        leaf = self.locate(value)
        leaf.events += 1
        self.observed += 1
        return leaf

    def selectivity(self, number: int) -> float:
        """Return the share of the observed events that do not match a predicate; 1 if there were none.

        A leaf that is split hands its count to both parts, so that the share is never too high.
        """
        matching = min(sum(leaf.events for leaf in self._covered(self._predicates[number])), self.observed)
        return 1.0 - matching / self.observed if self.observed else 1.0

    # ---------------------------------------------------------------------------------- leaves
    def leaves(self) -> Iterator[Leaf]:
        """Yield all leaves in the order of their spaces."""
        leaf: Leaf | None = self.first
        while leaf is not None:
            yield leaf
            leaf = leaf.next

    def _walk(self, elements: tuple[int, ...]) -> tuple[Inner, Path, bool]:
        """Follow the nodes; return the last node, the path to it, and whether the value ends there."""
        node, path = self.root, []
        for element in elements:
            path.append((node, element))
            following = node.children.get(element)
            if following is None:
                return node, path, False
            node = following
        return node, path, True

    def _neighbour(self, path: Path) -> Leaf:
        """Return the leaf above the greatest cut value that is less than the value that ``path`` leads to."""
        for node, element in reversed(path):
            below = node.below(element)
            if below is not None:
                while below.order:
                    below = below.children[below.order[-1]]
                return below.greater
            if node.equal is not None:
                return node.greater
        return self.first

    # ---------------------------------------------------------------------- splitting, merging
    def _partition(self, end: End) -> Cut | None:
        """Return the cut at the end of a range; make it if it is missing."""
        if end is None:
            return None
        value, after = end
        elements = self.elements.elements(value)
        leaf = self.locate(value)
        node = self.root
        for element in elements:
            node = node.child(element)
        if node.equal is None:
            node.value, node.equal = value, leaf
        cut = Cut(node, after)
        if not (node.afters if after else node.befores):
            self._split(node.equal, cut)
        if after:
            node.afters += 1
        else:
            node.befores += 1
        return cut

    def _split(self, leaf: Leaf, cut: Cut) -> None:
        """Divide a leaf; the part right of the cut becomes a new leaf with the same content."""
        right = Leaf()
        right.predicates, right.events = set(leaf.predicates), leaf.events
        right.low, right.high, right.previous, right.next = cut, leaf.high, leaf, leaf.next
        if right.next is None:
            self.last = right
        else:
            right.next.previous = right
        leaf.high, leaf.next = cut, right
        _hold(right)
        cut.node.equal = leaf if cut.after else right

    def _release(self, cut: Cut) -> None:
        """Count one predicate less at a cut; if none is left, merge the spaces on both sides."""
        node = cut.node
        last = (node.afters if cut.after else node.befores) == 1
        left, right = (cut.left, cut.right) if last else (None, None)
        if cut.after:
            node.afters -= 1
        else:
            node.befores -= 1
        if left is not None and right is not None:
            self._merge(left, right)
            node.equal = left
        if not node.befores and not node.afters:
            self._forget(node)

    def _merge(self, left: Leaf, right: Leaf) -> None:
        left.high, left.next = right.high, right.next
        left.events = min(left.events + right.events, self.observed)
        if left.next is None:
            self.last = left
        else:
            left.next.previous = left
        _hold(left)

    def _forget(self, node: Inner) -> None:
        """Remove a value at which no predicate ends, and the inner nodes that only led to it."""
        _, path, _ = self._walk(self.elements.elements(node.value))
        node.value = node.equal = None
        for parent, element in reversed(path):
            child = parent.children[element]
            if child.order or child.equal is not None:
                return
            parent.drop(element)

    # ----------------------------------------------------------------------------------- check
    def check(self) -> None:
        """Raise ``AssertionError`` if an invariant is broken."""
        previous: Leaf | None = None
        for leaf in self.leaves():
            assert leaf.previous is previous
            assert leaf.low == (previous.high if previous else None)
            if leaf.low:
                assert leaf.low.right is leaf
            if leaf.high:
                assert leaf.high.left is leaf
                assert leaf.high.node.afters if leaf.high.after else leaf.high.node.befores
            assert leaf.events <= self.observed
            previous = leaf
        assert self.last is previous
        assert self.last.high is None
        for number, ends in self._predicates.items():
            covered = {id(leaf) for leaf in self._covered(ends)}
            assert covered == {id(leaf) for leaf in self.leaves() if number in leaf.predicates}


def _hold(leaf: Leaf) -> None:
    """Make a value that a leaf ends with lie in that leaf."""
    if leaf.high is not None and leaf.high.after:
        leaf.high.node.equal = leaf
