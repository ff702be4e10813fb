"""Define the arrays of the postings, and the look-ups that insertion and search share.

``table`` is a hash table of rows (dimension, key, list + 1). A row of ``lists`` is (BEGIN, COUNT, ROOM, NEXT,
KEY): a run of postings, and the next list of the same dimension. List 0 has the clauses without a usable
condition. A row of ``dims`` is (FIRST_LIST, FIRST_LEAF, LEAVES, RANGES); a leaf is (its lowest key, list).

A posting is two words: clause and condition, then two more conditions. A condition is a dimension and a range
of its leaves, numbered from 1; 0 is an absent dimension. Leaves are coarse, so a condition can only let more
pass than its literal does. ``access`` has for each clause the literal that it is posted under.
"""

import numpy as np

from tamis.kernel import kernel

NEGATIVE, ABSENT_OK, MANY = 1, 2, 4
ABSENT = np.int64(-(2**63))
HIGHEST = np.int64(2**63 - 1)
BEGIN, COUNT, ROOM, NEXT, KEY = range(5)
LIST_WIDTH = 5
FIRST_LIST, FIRST_LEAF, LEAVES, RANGES = range(4)
DIM_WIDTH = 4
LISTS_USED, POSTINGS_USED, TABLE_USED, SEED, WANTED_LISTS, WANTED_POSTINGS = range(
    6
)  # the numbers in ``meta``
FEW_KEYS = 16  # a condition on at most as many keys is posted under each of them
MOST_KEYS = 1 << 17  # of a list of values
FIRST_ROOM = 2
NO_ACCESS, REMOVED = -1, -2  # a clause in list 0, and one in no list, instead of a literal
HALF = np.int64(0xFFFFFFFF)
FOLD = np.int64(0x1E3779B97F4A7C15)  # any large odd number spreads the bits
DIM_BITS = 20  # of a condition; its ends have six bits each
NO_CONDITION = np.int64(63 << 26)  # dimension 0 from 0 to 63


@kernel(inline="always")
def slot_of(table, mask, dimension, key, seed):
    """Return the row of (dimension, key) in the hash table, or the empty row where it belongs."""
    word = (np.int64(key) ^ seed) * FOLD
    word = (word ^ (word >> 29) ^ np.int64(dimension)) * FOLD
    at = (word >> 33) & mask
    while table[3 * at + 2] != 0 and (table[3 * at + 1] != key or table[3 * at] != dimension):
        at = (at + 1) & mask
    return at


@kernel(inline="always")
def list_of(table, mask, dimension, key, seed):
    """Return the list of (dimension, key); -1 if there is none."""
    return table[3 * slot_of(table, mask, dimension, key, seed) + 2] - 1


@kernel(inline="always")
def leaf_of(leaves, first, count, key):
    """Return the leaf, of ``count`` from ``first`` on, that a key lies in."""
    low, high = first, first + count
    while low + 1 < high:
        middle = (low + high) >> 1
        if leaves[2 * middle] <= key:
            low = middle
        else:
            high = middle
    return low
