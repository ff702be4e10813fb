"""Lay out predicates in sorted lists, one for each operator: section 4.2 of the paper."""

from __future__ import annotations

import numpy as np

from tamis.engines.opindex.structures._kernels import OPERATORS
from tamis.engines.opindex.structures.structure import (
    Grid,
    Inserted,
    Ints,
    Items,
    divide,
    signatures,
    starts_of,
)


class SortedLists:
    """The structure of ``=``, ``<=`` and ``>=``: an event meets one run of each list.

    The lists of the operators stand side by side: ``OPERATORS * segment + operator``.
    """

    def insert(self, items: Items, grid: Grid) -> Inserted:
        """Return the lists, each sorted by (dimension, operand, pointer)."""
        directory, segment = divide(items, grid, OPERATORS)
        number, count = OPERATORS * segment + items.operator, OPERATORS * int(directory[-1])
        record = _sorted(number, count, grid.records(items), grid.record_bits)
        signature, nothing = signatures(items, number, count, grid), np.empty((len(record), 0), np.uint32)
        return Inserted(directory, starts_of(number, count), signature, grid.narrow(record), nothing)


def _sorted(number: Ints, count: int, record: Ints, bits: int) -> Ints:
    """Return the records in the order of their lists, sorted within each list."""
    if bits + count.bit_length() < np.iinfo(np.int64).bits:
        return np.asarray(np.sort((number << bits) | record) & ((1 << bits) - 1))
    return np.asarray(record[np.lexsort((record, number))])
