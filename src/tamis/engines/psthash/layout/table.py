"""The hash table: buckets of postings, addressed by the leading bits of the key of an N-dim space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import sort_postings
from tamis.engines.psthash.layout._kernels import hash_clauses
from tamis.engines.psthash.layout.spaces import Access, Spaces
from tamis.engines.units import Ints, Units
from tamis.space.space import Clauses

LOAD = 4  # postings per bucket: passing over some is cheaper than a directory that no cache holds
LEAST_BITS = 8
MOST_PARTS = 1 << 22  # words of the table of parts
Words = npt.NDArray[np.uint32]


class Table(NamedTuple):
    """Buckets (``start``) of clauses (``owner``); which spaces, and parts of keys, occur at all."""

    bits: int
    start: Ints
    owner: Ints
    used: Words
    parts: Words


def hash_table(clauses: Clauses, units: Units, access: Access, spaces: Spaces, most: int) -> Table:
    """Post every clause under all combinations of the spaces of its access predicates."""
    start = np.zeros(clauses.count + 1, np.int64)
    np.cumsum(access.combinations, out=start[1:])
    postings, wanted = int(start[-1]), len(access.chosen)
    bits = max((postings // LOAD).bit_length(), LEAST_BITS)
    used = np.zeros(spaces.number // 32 + 1, np.uint32)
    parts = np.zeros(_parts(postings, wanted), np.uint32)
    lists = np.empty(postings, np.int64)
    sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
    ranges = units.dimension, units.lo, units.hi, *sets, spaces.grain, spaces.base
    out: tuple[Any, ...] = np.uint64(64 - bits), start, lists, used, parts
    hash_clauses(access.chosen, most, *ranges, *out)
    list_start = np.zeros((1 << bits) + 1, np.int64)
    list_start[1:] = np.bincount(lists, minlength=1 << bits)
    owner = np.empty(postings, np.int64)
    sort_postings(start, lists, list_start, owner)
    return Table(bits, list_start, owner, used, parts)


def _parts(postings: int, wanted: int) -> int:
    """Words for the keys of fewer spaces: a power of two, about a byte for each; one word for pairs."""
    if wanted == 2:
        return 1
    subsets = (1 << wanted) - wanted - 2
    return min(1 << (subsets * postings // 4 + 1).bit_length(), MOST_PARTS)
