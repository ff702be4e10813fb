"""Build and search a segment tree and an interval tree over closed intervals of whole numbers.

Both stand in flat arrays.
"""

import numpy as np

from tamis.kernel import kernel


@kernel
def insert_segments(first, last, leaves, fill, owner, counting):
    """Give every interval first..last (elementary segments) to the nodes that it covers, bottom up.

    ``leaves`` is a power of two; node 1 is the root and node ``leaves + s`` is segment ``s``. With
    ``counting``, ``fill`` receives the number of intervals of each node; else it holds the next free place.
    """
    for n in range(len(first)):
        low, high = first[n] + leaves, last[n] + leaves + 1
        while low < high:
            if low & 1:
                if not counting:
                    owner[fill[low]] = n
                fill[low] += 1
                low += 1
            if high & 1:
                high -= 1
                if not counting:
                    owner[fill[high]] = n
                fill[high] += 1
            low >>= 1
            high >>= 1


@kernel
def stab_segments(points, bound, after, leaves, start, owner, out_point, out_interval):
    """Write all pairs of a point and an interval around it; return their number, even if room is short."""
    written = 0
    for k in range(len(points)):
        low, high = 0, len(bound)
        while low < high:
            middle = (low + high) >> 1
            if bound[middle] < points[k] or (bound[middle] == points[k] and not after[middle]):
                low = middle + 1
            else:
                high = middle
        node = low + leaves
        while node > 0:
            begin, end = start[node], start[node + 1]
            if written + end - begin <= len(out_point):
                for i in range(begin, end):
                    out_point[written + i - begin] = k
                    out_interval[written + i - begin] = owner[i]
            written += end - begin
            node >>= 1
    return written


@kernel
def greatest_ends(high, begin, end, greatest):
    """Return the greatest end below every node of the balanced tree over intervals sorted by begin."""
    if begin >= end:
        return np.iinfo(np.int64).min
    middle = (begin + end) >> 1
    left = greatest_ends(high, begin, middle, greatest)
    right = greatest_ends(high, middle + 1, end, greatest)
    greatest[middle] = max(high[middle], left, right)
    return greatest[middle]


@kernel
def stab_intervals(points, low, high, owner, greatest, out_point, out_interval):
    """Write all pairs of a point and an interval around it; return their number, even if room is short."""
    written = 0
    begins, ends = np.empty(128, np.int64), np.empty(128, np.int64)
    for k in range(len(points)):
        point = points[k]
        begins[0], ends[0] = 0, len(low)
        depth = 1
        while depth > 0:
            depth -= 1
            begin, end = begins[depth], ends[depth]
            if begin >= end:
                continue
            middle = (begin + end) >> 1
            if greatest[middle] < point:
                continue
            begins[depth], ends[depth] = begin, middle
            depth += 1
            if low[middle] <= point:
                if high[middle] >= point:
                    if written < len(out_point):
                        out_point[written] = k
                        out_interval[written] = owner[middle]
                    written += 1
                begins[depth], ends[depth] = middle + 1, end
                depth += 1
    return written


@kernel
def scan_intervals(points, low, high):
    """Return the number of pairs, by testing all of them."""
    found = 0
    for k in range(len(points)):
        for n in range(len(low)):
            found += (low[n] <= points[k]) & (points[k] <= high[n])
    return found
