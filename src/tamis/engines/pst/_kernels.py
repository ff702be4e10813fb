"""Rank conditions by operator and share: the compiled loop of the ranking."""

import numpy as np

from tamis.kernel import kernel

NEGATIVE, MANY = 1, 4
EQUAL, SET, BETWEEN, ONE_SIDED, NOT_SET, NOT_EQUAL = range(6)
BELOW_ONE = np.nextafter(1.0, 0.0)


@kernel
def operator_of(lo, hi, members, cells):
    """Return the operator of a positive condition, read off its cells.

    A range of one cell counts as an equality, because no other predicate ends inside it. The first cell of a
    dimension lies below all operands, and the last but one above (the last is for values of other types). A
    range up to there is one-sided, and so is a Boolean, which half of all values satisfy.
    """
    if members > 0:
        return SET
    if cells > 1 and (lo == 1 or hi >= cells - 1):
        return ONE_SIDED
    return EQUAL if lo == hi else BETWEEN


@kernel
def rank_conditions(literal, of_literal, dimension, lo, hi, set_count, cells, share, rank):
    """Rank each condition by its operator, and among equal operators by its share."""
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
