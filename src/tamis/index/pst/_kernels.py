"""Loops that both engines share."""

import numpy as np
from numba import njit

NEGATIVE, MANY = 1, 4
EQUAL, SET, BETWEEN, ONE_SIDED, NOT_SET, NOT_EQUAL = range(6)
BELOW_ONE = np.nextafter(1.0, 0.0)
TOUCHED = 4  # the place in ``work`` that takes what touch_runs has read


@njit(cache=True, nogil=True)
def touch_runs(begins, ends, runs, words, work):
    """Read the first and last word of every run, so that all of them are on their way at once.

    The lists of an event lie scattered over memory. A loop that also filters has room for a few of them
    in the processor's queues; a loop that does nothing else has room for dozens. What was read must go
    somewhere, or the compiler leaves the loop out.
    """
    seen = np.uint64(0)
    for r in range(runs):
        seen ^= np.uint64(words[begins[r]]) ^ np.uint64(words[ends[r] - 1])
    work[TOUCHED] = np.int64(seen >> np.uint64(1))


@njit(cache=True, nogil=True)
def operator_of(lo, hi, members, cells):
    """The operator of a positive condition, read off its cells.

    A range of one cell counts as an equality: no other predicate ends inside it. The first cell of a
    dimension lies below all operands, and the last but one above (the last is for values of other types):
    a range up to there is one-sided, and so is a Boolean, which half of all values satisfy.
    """
    if members > 0:
        return SET
    if cells > 1 and (lo == 1 or hi >= cells - 1):
        return ONE_SIDED
    return EQUAL if lo == hi else BETWEEN


@njit(cache=True, nogil=True)
def rank_conditions(literal, of_literal, dimension, lo, hi, set_count, cells, share, rank):
    """The operator of each condition, and among equal operators its share."""
    for u in range(len(rank)):
        rank[u] = NOT_EQUAL
    for i in range(len(of_literal)):
        u = of_literal[i]
        if not literal[i, 1] & NEGATIVE:
            rank[u] = operator_of(lo[u], hi[u], set_count[u], np.int64(cells[dimension[u]]))
        elif literal[i, 1] & MANY and rank[u] == NOT_EQUAL:
            rank[u] = NOT_SET
    for u in range(len(rank)):
        rank[u] += min(share[u], BELOW_ONE)
