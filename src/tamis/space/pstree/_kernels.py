"""Compiled loops that locate many values in a frozen PS-Tree."""

import numpy as np

from tamis.kernel import kernel


@kernel
def fill_directory(cut, shift, directory):
    """Write to ``directory[b]`` how many cuts lie before the cuts with the leading bits b.

    The leading bits are those of the distance from the first cut.
    """
    at = 0
    for bucket in range(len(directory)):
        while at < len(cut) and (cut[at] - cut[0]) >> shift < np.uint64(bucket):
            at += 1
        directory[bucket] = at


@kernel
def locate_keys(keys, cut, after, directory, shift, leaf):
    """Write the leaf of each key. The directory leads to a few cuts; bisection among them finds the place."""
    count = len(cut)
    for k in range(len(keys)):
        key = keys[k]
        if count == 0 or key < cut[0]:
            leaf[k] = 0
            continue
        bucket = min((key - cut[0]) >> shift, np.uint64(len(directory) - 2))
        low, high = np.int64(directory[bucket]), np.int64(directory[bucket + np.uint64(1)])
        while low < high:
            middle = (low + high) >> 1
            if cut[middle] < key:
                low = middle + 1
            else:
                high = middle
        leaf[k] = low + (low < count and cut[low] == key and not after[low])


@kernel
def compare(one, one_begin, one_end, two, two_begin, two_end):
    """Return a number below, equal to or above 0 if one string's bytes come before, at or after another's."""
    one_length, two_length = one_end - one_begin, two_end - two_begin
    for at in range(min(one_length, two_length)):
        a, b = one[one_begin + at], two[two_begin + at]
        if a != b:
            return -1 if a < b else 1
    return one_length - two_length


@kernel
def locate_strings(start, data, cut_start, cut_data, after, leaf):
    """Write the leaf of each string; strings and cuts are runs of bytes."""
    count = len(after)
    for k in range(len(start) - 1):
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            begin, end = cut_start[middle], cut_start[middle + 1]
            if compare(cut_data, begin, end, data, start[k], start[k + 1]) < 0:
                low = middle + 1
            else:
                high = middle
        if low < count and not after[low]:
            begin, end = cut_start[low], cut_start[low + 1]
            low += compare(cut_data, begin, end, data, start[k], start[k + 1]) == 0
        leaf[k] = low


@kernel
def gather_pairs(leaf, start, predicate, out_point, out_predicate):
    """Write all pairs of a point and a predicate that covers its leaf."""
    at = 0
    for k in range(len(leaf)):
        for i in range(start[leaf[k]], start[leaf[k] + 1]):
            out_point[at] = k
            out_predicate[at] = predicate[i]
            at += 1


@kernel
def cover_leaves(first, last, fill, predicate):
    """Write every interval into the leaves first..last that it covers; ``fill`` holds the next places."""
    for n in range(len(first)):
        for leaf in range(first[n], last[n] + 1):
            predicate[fill[leaf]] = n
            fill[leaf] += 1
