"""Choose the pivots of ``opindex``, and assign the bits of groups."""

import numpy as np

from tamis.engines.opindex.structures._kernels import BITMAP
from tamis.kernel import kernel

UNDECIDED, GROUPED = 1, 2  # counting is not enough; the clause is a conjunction of disjunctions
GROUP = 4  # the bit position of the group in a literal's flags


@kernel
def choose_pivots(start, dimension, needed, frequency, pivot):
    """Choose the least frequent dimension that each clause needs, or the number after the last dimension."""
    for c in range(len(start) - 1):
        best = len(frequency)
        for at in range(start[c], start[c + 1]):
            d = dimension[at]
            if needed[at] > 0 and (best == len(frequency) or frequency[d] < frequency[best]):
                best = d
        pivot[c] = best


@kernel
def assign_bits(clauses, start, group, dimension, needed, exact, often, bit, demand, chosen, undecided):
    """Assign a bit to every group that can be counted, and choose the group whose attributes are the pivots.

    The chosen group has the fewest predicates, then the least frequent attributes. A proper range alone in
    its group has a second bit for its ``<=``; among alternatives only its ``>=`` is counted. A group with a
    literal that absence satisfies, and the groups beyond the last bit, are left for the final check.
    """
    size, weight = np.zeros(BITMAP, np.int64), np.zeros(BITMAP, np.float64)
    ranged, countable = np.zeros(BITMAP, np.bool_), np.zeros(BITMAP, np.bool_)
    place = np.zeros((2, BITMAP), np.int64)
    for c in clauses:
        size[:], weight[:], ranged[:], countable[:], place[:] = 0, 0.0, False, True, -1
        for at in range(start[c], start[c + 1]):
            g = group[at]
            size[g] += 1
            weight[g] += often[dimension[at]]
            ranged[g] |= needed[at] > 1
            countable[g] &= needed[at] > 0
            undecided[c] |= not exact[at]
        used, best = 0, 0
        for g in range(1, BITMAP):
            if size[g] == 0:
                continue
            alone = size[g] == 1
            undecided[c] |= ranged[g] and not alone
            bits = 2 if ranged[g] and alone else 1
            if not countable[g] or used + bits > BITMAP:
                undecided[c] = True
                continue
            for half in range(bits):
                place[half, g] = used
                demand[c] |= np.uint64(1) << np.uint64(used)
                used += 1
            if best == 0 or size[g] < size[best] or (size[g] == size[best] and weight[g] < weight[best]):
                best = g
        chosen[c] = best
        for at in range(start[c], start[c + 1]):
            bit[0, at], bit[1, at] = place[0, group[at]], place[1, group[at]]
