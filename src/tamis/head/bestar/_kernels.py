"""Place the conditions of clauses on the line of the tree.

The tree computes with widths of ranges, so its line is shorter than that of the keys: 60 bits from 0 on, in
the same order. Strings keep neighbouring positions. Of numbers and times the five lowest bits are cut off,
which only makes bounds a little wider.
"""

import numpy as np

from tamis.engines._kernels import ABSENT_OK, MANY, NEGATIVE
from tamis.head.keys import ABSENT
from tamis.kernel import kernel

STRINGS_END = np.int64(ABSENT + 2**58)
OFFSET = np.int64(2**59)


@kernel(inline="always")
def position(key):
    """Return the position of a key."""
    return key - np.int64(ABSENT) if key < STRINGS_END else OFFSET + (key >> 5)


@kernel
def unit_for(dimension, first, used, d):
    """Return the condition from ``first`` on that is on dimension ``d``, else ``used``."""
    for u in range(first, used):
        if dimension[u] == d:
            return np.int64(u)
    return np.int64(used)


@kernel
def write_units(begin, end, start, literal, set_lo, set_hi, unit_start, unit_clause, dimension, low, high):
    """Write the conditions of clauses begin:end that may partition; return the most of one clause.

    Literals on the same dimension become one condition. If no single value satisfies all of them, several
    values of an event can: then they enclose the range between the ends.
    """
    most = np.int64(0)
    for c in range(begin, end):
        first = used = unit_start[c]
        for at in range(start[c], start[c + 1]):
            row = 4 * at
            flags = literal[row + 1]
            lo, hi = literal[row + 2], literal[row + 3]
            if flags & (NEGATIVE | ABSENT_OK) or (flags & MANY and hi == 0):
                continue
            if flags & MANY:
                lo, hi = set_lo[lo], set_hi[lo + hi - 1]
            lo, hi = position(lo), position(hi)
            u = unit_for(dimension, first, used, literal[row])
            if u == used:
                unit_clause[u], dimension[u], low[u], high[u] = c, literal[row], lo, hi
                used += 1
            else:
                low[u], high[u] = max(low[u], lo), min(high[u], hi)
        for u in range(first, used):
            low[u], high[u] = min(low[u], high[u]), max(low[u], high[u])
        unit_start[c + 1] = used
        most = max(most, used - first)
    return most
