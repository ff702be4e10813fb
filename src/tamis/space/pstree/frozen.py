"""Freeze a PS-Tree as sorted arrays: cuts, predicates of every leaf, a directory of leading digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space.pstree._kernels import (
    cover_leaves,
    fill_directory,
    gather_pairs,
    locate_keys,
    locate_strings,
)
from tamis.space.pstree.elements import Floats, Integers, Keys, Strings
from tamis.space.pstree.tree import PSTree

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Directory(NamedTuple):
    """Cuts as keys, and where the cuts with the same leading bits begin: the inner nodes, laid flat."""

    cut: Keys
    start: npt.NDArray[np.uint32]
    shift: np.uint64


class Texts(NamedTuple):
    """Strings as runs of bytes."""

    start: Ints
    data: npt.NDArray[np.uint8]


class Frozen:
    """The frozen tree: leaf ``n`` lies before cut ``n``.

    The predicates of leaf ``n`` are ``predicate[start[n]:start[n + 1]]``.
    """

    def __init__(
        self,
        elements: Integers | Floats | Strings,
        cuts: Directory | Texts,
        after: Flags,
        start: Ints,
        predicate: Ints,
    ) -> None:
        self.elements, self.cuts, self.after = elements, cuts, after
        self.start, self.predicate = start, predicate

    @classmethod
    def of(cls, tree: PSTree) -> Frozen:
        """Freeze a tree: its leaves keep their order, and predicates their numbers."""
        elements = tree.elements
        if not isinstance(elements, Integers | Floats | Strings):
            raise TypeError("only whole numbers, floating-point numbers and strings can be frozen")
        leaves = list(tree.leaves())
        ends = [leaf.high for leaf in leaves if leaf.high is not None]
        values = [cut.node.value for cut in ends]
        after = np.array([cut.after for cut in ends], np.bool_)
        start = np.zeros(len(leaves) + 1, np.int64)
        np.cumsum([leaf.counter for leaf in leaves], out=start[1:])
        covering = [number for leaf in leaves for number in sorted(leaf.predicates)]
        cuts = _texts(values) if isinstance(elements, Strings) else _directory(elements.keys(values))
        return cls(elements, cuts, after, start, np.array(covering, np.int64))

    @classmethod
    def of_intervals(cls, low: npt.ArrayLike, high: npt.ArrayLike, elements: Integers | Floats) -> Frozen:
        """Return the spaces cut by many closed intervals at once; interval ``n`` has the number ``n``."""
        lows, highs = elements.keys(low), elements.keys(high)
        if np.any(lows > highs):
            raise ValueError("an interval ends before it begins")
        key = np.concatenate([lows, highs])
        after = np.repeat([False, True], len(lows))
        order = np.lexsort((after, key))
        key, after = key[order], after[order]
        fresh = np.ones(len(key), np.bool_)
        fresh[1:] = (key[1:] != key[:-1]) | (after[1:] != after[:-1])
        place = np.empty(len(order), np.int64)
        place[order] = np.cumsum(fresh) - 1
        first, last = place[: len(lows)] + 1, place[len(lows) :]
        count = np.zeros(int(fresh.sum()) + 2, np.int64)
        np.add.at(count, first, 1)
        np.add.at(count, last + 1, -1)
        start = np.concatenate([[0], np.cumsum(np.cumsum(count)[:-1])])
        predicate = np.empty(start[-1], np.int64)
        cover_leaves(first, last, start.copy(), predicate)
        return cls(elements, _directory(key[fresh]), after[fresh], start, predicate)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.start) - 1

    def locate(self, values: Any) -> Ints:
        """Return the leaf of each value."""
        if isinstance(self.cuts, Texts):
            texts = _texts([self._text(value) for value in values])
            leaf = np.empty(len(texts.start) - 1, np.int64)
            locate_strings(*texts, *self.cuts, self.after, leaf)
            return leaf
        assert not isinstance(self.elements, Strings)
        keys = self.elements.keys(values)
        leaf = np.empty(len(keys), np.int64)
        cut, start, shift = self.cuts
        locate_keys(keys, cut, self.after, start, shift, leaf)
        return leaf

    def pairs(self, values: Any) -> tuple[Ints, Ints]:
        """Return all pairs (place in ``values``, predicate) that match."""
        leaf = self.locate(values)
        total = int((self.start[leaf + 1] - self.start[leaf]).sum())
        point, predicate = np.empty((2, total), np.int64)
        gather_pairs(leaf, self.start, self.predicate, point, predicate)
        return point, predicate

    def _text(self, value: Any) -> str:
        self.elements.elements(value)  # raises an error if it is not a string
        return str(value)


def _directory(cut: Keys) -> Directory:
    """Return a directory with about two buckets for each cut."""
    if not len(cut):
        return Directory(cut, np.zeros(2, np.uint32), np.uint64(0))
    span = int(cut[-1] - cut[0])
    shift = max(span.bit_length() - (2 * len(cut)).bit_length(), 0)
    start = np.empty((span >> shift) + 2, np.uint32)
    fill_directory(cut, np.uint64(shift), start)
    return Directory(cut, start, np.uint64(shift))


def _texts(values: Sequence[str]) -> Texts:
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    start = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=start[1:])
    return Texts(start, np.frombuffer(b"".join(encoded), np.uint8))
