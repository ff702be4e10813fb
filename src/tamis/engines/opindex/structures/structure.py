"""Define the interface of structures below a pivot: the plug-in of figure 6(b) of the paper."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tamis.engines.opindex.structures._kernels import sign_lists

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Items(NamedTuple):
    """Predicates, each with its pivot and a pointer to its counter or bit: ``NewItem`` of the figure."""

    pivot: Ints
    dimension: Ints
    operator: Ints
    operand: Ints
    last: Ints  # the last cell of a range; its operand is the first
    pointer: Ints


class Grid(NamedTuple):
    """The numbers that all structures of an index share.

    The cells of all dimensions are numbered through, those of ``d`` from ``base[d]`` on.
    """

    base: Ints
    pointer_bits: int
    signed: bool
    segment_bits: int
    fill: int

    @property
    def record_bits(self) -> int:
        """The number of bits of a record."""
        return (int(self.base[-1]) << self.pointer_bits).bit_length()

    def records(self, items: Items) -> Ints:
        """Return (dimension, operand, pointer) of each item as one number."""
        return ((self.base[items.dimension] + items.operand) << self.pointer_bits) | items.pointer

    def narrow(self, record: Ints) -> npt.NDArray[Any]:
        """Return records in the type that all structures use."""
        return record.astype(np.uint32 if self.record_bits <= np.iinfo(np.uint32).bits else np.uint64)


class Inserted(NamedTuple):
    """The items of a structure, laid out.

    Pivot ``d`` owns the segments ``directory[d]:directory[d + 1]``. Each segment has as many lists as the
    structure has; list ``n`` owns the records ``start[n]:start[n + 1]`` and has a signature.
    """

    directory: Ints
    start: Ints
    signature: npt.NDArray[np.uint64]
    record: npt.NDArray[Any]
    columns: npt.NDArray[np.uint32]  # beside each record; there may be none


class Structure(Protocol):
    """A structure that holds the items of all pivots.

    ``insert`` lays all items out at once, because segments of an index never change. ``matchSub`` of the
    figure is a kernel, which takes a list, the cells of an event and the counters, and returns the number of
    predicates counted and of clauses found: ``count_down`` of ``SortedLists``, ``climb`` of ``Trie``.
    """

    def insert(self, items: Items, grid: Grid) -> Inserted:
        """Return the structure that holds ``items``."""
        ...


def divide(items: Items, grid: Grid, lists: int) -> tuple[Ints, Ints]:
    """Return the directory, and the segment of each item, for segments of so many lists.

    The number of segments of a pivot is a power of two. The items of a dimension stand in the segment whose
    number is the dimension modulo the number of segments.
    """
    length = np.bincount(items.pivot, minlength=len(grid.base) - 1)
    segments = np.where(length > 0, 1, 0)
    for _ in range(grid.segment_bits):
        segments = np.where(length >= 2 * grid.fill * lists * segments, 2 * segments, segments)
    directory = np.concatenate([[0], np.cumsum(segments)])
    return directory, directory[items.pivot] + (items.dimension & (segments[items.pivot] - 1))


def starts_of(number: Ints, count: int) -> Ints:
    """Return where each of ``count`` lists begins, from the list of each item."""
    return np.concatenate([[0], np.cumsum(np.bincount(number, minlength=count))])


def signatures(items: Items, number: Ints, count: int, grid: Grid) -> npt.NDArray[np.uint64]:
    """Return the signature of each of ``count`` lists, or nothing if the index has no signatures."""
    signature = np.zeros(count if grid.signed else 0, np.uint64)
    if grid.signed:
        sign_lists(items.operator, items.dimension, items.operand, number, signature)
    return signature
