"""Check the clauses of the head, whose literals have keys instead of cells, against one event."""

from tamis.engines._kernels import ABSENT_OK, MANY, NEGATIVE, holds_general, in_set
from tamis.head.keys import ABSENT
from tamis.kernel import kernel


@kernel
def holds(literal, begin, end, cell, set_lo, set_hi):
    """Return whether all literals begin:end hold for a plain event."""
    for at in range(begin, end):
        row = 4 * at
        value, flags = cell[literal[row]], literal[row + 1]
        if flags == 0:
            if value < literal[row + 2] or value > literal[row + 3]:
                return False
            continue
        if value == ABSENT:
            if not flags & ABSENT_OK:
                return False
            continue
        if flags & MANY:
            accepted = in_set(value, literal[row + 2], literal[row + 3], set_lo, set_hi)
        else:
            accepted = literal[row + 2] <= value <= literal[row + 3]
        if accepted == ((flags & NEGATIVE) != 0):
            return False
    return True


@kernel
def holds_doubtful(literal, begin, end, first, last, dimension, lo, hi, set_lo, set_hi):
    """Return whether all literals that do not deny hold for an event that a tree will decide."""
    for at in range(begin, end):
        if literal[4 * at + 1] & NEGATIVE:
            continue
        if not holds_general(literal, at, at + 1, first, last, dimension, lo, hi, set_lo, set_hi):
            return False
    return True
