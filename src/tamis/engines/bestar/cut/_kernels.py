"""Choose the cut of a bucket and divide its clauses between the two sides."""

import numpy as np

from tamis.engines._kernels import first_from
from tamis.engines.bestar.nodes import APPROXIMATE, RIGID
from tamis.engines.order._kernels import copy, taken
from tamis.kernel import kernel

NONE = -1


@kernel
def approximate_cut(los, his, least):
    """Return the last cell of the left bucket, NONE if a side gets fewer than ``least`` expressions.

    The search moves from both ends to the middle: left takes ranges that end before right, right takes ranges
    that begin behind left. ``los`` and ``his`` are sorted separately.
    """
    left, right = NONE, his[-1] + 1
    for i in range(len(his)):
        if his[i] < right:
            left = his[i]
        if los[len(los) - 1 - i] > left:
            right = los[len(los) - 1 - i]
    lefts = first_from(his, 0, len(his), left + 1)
    rights = len(los) - first_from(los, 0, len(los), left + 1)
    return left if min(lefts, rights) >= least else NONE


@kernel
def exhaustive_cut(los, hi_of, his, lo_of, least):
    """Return the best cut of a bucket, the last cell of its left part, or NONE.

    NONE means that every cut leaves fewer than ``least`` expressions on one side. The best cut has the
    shortest overlap bucket, then the smallest coverage, then the most even sides. ``los`` is sorted,
    ``hi_of`` has the other ends in that order; ``his`` and ``lo_of`` likewise. A range that crosses a cut has
    its lo at or before the cut and its hi behind it, so running maxima and minima give the overlap of every
    cut. Therefore the enumeration costs less than the sorting.
    """
    n = len(los)
    highest, lowest = hi_of.copy(), lo_of.copy()  # of those that begin up to here, end from here on
    right_end, left_end = hi_of.copy(), lo_of.copy()  # of those that begin from here on, end up to here
    for i in range(1, n):
        highest[i] = max(highest[i], highest[i - 1])
        left_end[i] = min(left_end[i], left_end[i - 1])
        lowest[n - 1 - i] = min(lowest[n - 1 - i], lowest[n - i])
        right_end[n - 1 - i] = max(right_end[n - 1 - i], right_end[n - i])
    best, best_overlap, best_coverage, best_skew = NONE, 0, 0, 0
    for side in range(2):
        lefts, begun = 0, 0  # number of ranges that end, and that begin, at or before the cut
        for at in range(n):
            cut = his[at] if side == 0 else los[at] - 1
            while lefts < n and his[lefts] <= cut:
                lefts += 1
            while begun < n and los[begun] <= cut:
                begun += 1
            rights = n - begun
            if lefts < least or rights < least:
                continue
            coverage = his[lefts - 1] - left_end[lefts - 1] + right_end[begun] - los[begun] + 2
            overlap = 0
            if begun > lefts:
                low, high = lowest[lefts], highest[begun - 1]
                overlap = high - low + 1
                coverage += overlap - max(0, his[lefts - 1] - max(low, left_end[lefts - 1]) + 1)
                coverage -= max(0, min(high, right_end[begun]) - los[begun] + 1)
            skew = abs(lefts - rights)
            worse = overlap - best_overlap
            if worse == 0:
                worse = coverage - best_coverage if coverage != best_coverage else skew - best_skew
            if best == NONE or worse < 0:
                best, best_overlap, best_coverage, best_skew = cut, overlap, coverage, skew
    return best


@kernel
def cut_of(by_lo, by_hi, begin, end, key_lo, key_hi, low, high, alpha, mode):
    """Return the cut of the bucket ``low``..``high`` by data clustering, else (or if rigid) by space."""
    middle = (low + high) >> 1
    if mode == RIGID:
        return middle
    least = max(1, np.int64(np.ceil(alpha * (end - begin))))
    los, his = taken(key_lo, by_lo, begin, end), taken(key_hi, by_hi, begin, end)
    if mode == APPROXIMATE:
        cut = approximate_cut(los, his, least)
    else:
        hi_of, lo_of = taken(key_hi, by_lo, begin, end), taken(key_lo, by_hi, begin, end)
        cut = exhaustive_cut(los, hi_of, his, lo_of, least)
    return middle if cut == NONE else cut


@kernel
def divide(order, begin, end, key_lo, key_hi, cut, spare):
    """Arrange a run as overlap, left and right part, each in its old order; return the two borders."""
    overlaps, lefts = 0, 0
    for i in range(begin, end):
        if key_hi[order[i]] <= cut:
            lefts += 1
        elif key_lo[order[i]] <= cut:
            overlaps += 1
    over, left, right = begin, begin + overlaps, begin + overlaps + lefts
    for i in range(begin, end):
        c = order[i]
        if key_hi[c] <= cut:
            spare[left] = c
            left += 1
        elif key_lo[c] <= cut:
            spare[over] = c
            over += 1
        else:
            spare[right] = c
            right += 1
    copy(spare, begin, end, order, begin)
    return begin + overlaps, begin + overlaps + lefts
