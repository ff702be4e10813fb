"""Checking clauses against one event: the loops that all engines share.

A plain event has at most one cell per dimension: ``cell[d]`` is it, 0 if absent. A general event
has ranges: ``first[d]`` is its first entry on ``d`` plus one, 0 if absent; entries are sorted by
dimension.
"""

import numpy as np
from numba import njit

NEGATIVE, ABSENT_OK, MANY = 1, 2, 4


@njit(cache=True, nogil=True, inline="always")
def in_set(value, at, count, set_lo, set_hi):
    """Whether ``value`` lies in one of ``count`` sorted ranges."""
    low, high = at, at + count
    while low < high:
        middle = (low + high) >> 1
        if set_hi[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < at + count and set_lo[low] <= value


@njit(cache=True, nogil=True)
def holds_plain(literal, begin, end, cell, set_lo, set_hi):
    """Whether all literals begin:end hold for a plain event."""
    for at in range(np.int64(begin), np.int64(end)):
        row = 4 * at
        value = cell[literal[row]]
        flags = literal[row + 1]
        if flags == 0:
            if value < literal[row + 2] or value > literal[row + 3]:
                return False
            continue
        if value == 0:
            if not flags & ABSENT_OK:
                return False
            continue
        if flags & MANY:
            inside = in_set(value, np.int64(literal[row + 2]), np.int64(literal[row + 3]), set_lo, set_hi)
        else:
            inside = literal[row + 2] <= value <= literal[row + 3]
        if inside == ((flags & NEGATIVE) != 0):
            return False
    return True


@njit(cache=True, nogil=True)
def meets(literal, row, lo, hi, set_lo, set_hi):
    """Whether a range of cells shares a cell with the ranges of a literal."""
    if literal[row + 1] & MANY:
        at, count = np.int64(literal[row + 2]), np.int64(literal[row + 3])
        low, high = at, at + count
        while low < high:
            middle = (low + high) >> 1
            if set_hi[middle] < lo:
                low = middle + 1
            else:
                high = middle
        return low < at + count and set_lo[low] <= hi
    return literal[row + 2] <= hi and literal[row + 3] >= lo


@njit(cache=True, nogil=True)
def holds_general(literal, begin, end, first, last, dimension, lo, hi, set_lo, set_hi):
    """Whether all literals begin:end hold for an event with several or wide entries."""
    for at in range(np.int64(begin), np.int64(end)):
        row = 4 * at
        d = literal[row]
        flags = literal[row + 1]
        entry = np.int64(first[d]) - 1
        if entry < 0:
            if not flags & ABSENT_OK:
                return False
            continue
        inside = False
        while entry < last and dimension[entry] == d:
            if meets(literal, row, lo[entry], hi[entry], set_lo, set_hi):
                inside = True
                break
            entry += 1
        if inside == ((flags & NEGATIVE) != 0):
            return False
    return True
