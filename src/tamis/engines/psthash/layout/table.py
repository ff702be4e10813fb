"""Build the hash table: a row of buckets for the first space of every key, addressed by the other spaces.

The spaces of an event are looked up row by row. A row, its part of the filter and its postings are each
contiguous, so that the look-ups of an event touch few pages of memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import sort_postings
from tamis.engines.psthash.layout._kernels import FILTER, combine_spaces, fill_rows
from tamis.engines.psthash.layout.spaces import Access, Spaces
from tamis.engines.units import Ints, Units
from tamis.space.space import Clauses

Words = npt.NDArray[np.uint32]


class Table(NamedTuple):
    """Buckets (``start``) of clauses (``owner``), rows of the spaces, and the spaces and keys that occur."""

    start: Ints
    owner: Ints
    rows: Ints
    used: Words
    known: Words


def hash_table(clauses: Clauses, units: Units, access: Access, spaces: Spaces, most: int) -> Table:
    """Post every clause under all combinations of the spaces of its access predicates."""
    start = np.zeros(clauses.count + 1, np.int64)
    np.cumsum(access.combinations, out=start[1:])
    postings, wanted = int(start[-1]), len(access.chosen)
    used = np.zeros(spaces.number // 32 + 1, np.uint32)
    first, keys = np.empty(postings, np.uint32), np.empty((postings, wanted - 1), np.uint64)
    sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
    ranges = units.dimension, units.lo, units.hi, *sets, spaces.grain, spaces.base
    combine_spaces(access.chosen, most, *ranges, start, first, keys, used)
    lists = np.empty(postings, np.int64)
    rows = _rows(np.bincount(first, minlength=spaces.number))
    # Many combinations have the same key. A row of the size of its postings shows about how many differ.
    fill_rows(first, keys, rows, lists, _filter(rows))
    rows = _rows(_occupied(lists, rows))
    known = _filter(rows)
    fill_rows(first, keys, rows, lists, known)
    buckets = int(rows[-1])
    list_start = np.zeros(buckets + 1, np.int64)
    list_start[1:] = np.bincount(lists, minlength=buckets)
    owner = np.empty(postings, np.int64)
    sort_postings(start, lists, list_start, owner)
    return Table(list_start, owner, rows, used, known)


def _rows(keys: Ints) -> Ints:
    """Return the first bucket of each space: a space has a power of two of them, or none."""
    size = np.where(keys > 0, 1 << np.ceil(np.log2(np.maximum(keys, 1))).astype(np.int64), 0)
    return np.concatenate([[0], np.cumsum(size)])


def _filter(rows: Ints) -> Words:
    return np.zeros(FILTER * int(rows[-1]) // 32 + 1, np.uint32)


def _occupied(lists: Ints, rows: Ints) -> Ints:
    """Return the number of buckets of each row that are not empty."""
    taken = np.zeros(rows[-1] + 1, np.int64)
    taken[lists + 1] = 1
    return np.diff(np.cumsum(taken)[rows])
