"""Compiled loops of the space: merging ranges, comparing clauses, locating values."""

import numpy as np
from numba import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(0xBF58476D1CE4E5B9)


@njit(cache=True, nogil=True)
def merge_ranges(entry, lo, hi, out_entry, out_lo, out_hi):
    """Join touching ranges of the same entry; the input is sorted by (entry, lo). Returns the count."""
    count = 0
    for i in range(len(entry)):
        if count > 0 and out_entry[count - 1] == entry[i] and lo[i] <= out_hi[count - 1] + 1:
            if hi[i] > out_hi[count - 1]:
                out_hi[count - 1] = hi[i]
            continue
        out_entry[count] = entry[i]
        out_lo[count] = lo[i]
        out_hi[count] = hi[i]
        count += 1
    return count


NEGATIVE, ABSENT_OK, MANY = 1, 2, 4
NEVER, ALWAYS = 1, 2


@njit(cache=True, nogil=True)
def pack_literals(dimension, flags, count, lo, hi, cells, packed, fate):
    """Write (dimension, flags, lo, hi) of every literal from its ranges, which stand in order.

    A literal left without a range never holds if it is positive, asks for presence (absence, if only
    that is accepted) or, accepting everything, always holds: ``fate`` marks NEVER and ALWAYS.
    """
    at, in_sets = 0, 0
    for i in range(len(dimension)):
        d, f = dimension[i], flags[i]
        fate[i] = 0
        packed[i, 0], packed[i, 1] = d, f
        if count[i] == 1:
            packed[i, 2], packed[i, 3] = lo[at], hi[at]
        elif count[i] > 1:
            packed[i, 1] = f | MANY
            packed[i, 2], packed[i, 3] = in_sets, count[i]
            in_sets += count[i]
        else:
            packed[i, 2], packed[i, 3] = 1, cells[d]
            if f == 0:
                fate[i] = NEVER
            elif f == NEGATIVE | ABSENT_OK:
                fate[i] = ALWAYS
            elif f == NEGATIVE:
                packed[i, 1] = 0
            else:
                packed[i, 1] = NEGATIVE | ABSENT_OK
        at += count[i]


@njit(cache=True, nogil=True)
def mix(state, word):
    """One step of a 64-bit hash."""
    state = (state ^ np.uint64(word)) * _MIX
    return (state ^ (state >> np.uint64(29))) * _FOLD


@njit(cache=True, nogil=True)
def order_literals(start, literal):
    """Sort the literals of each clause, in place, so that equal clauses look equal."""
    for c in range(len(start) - 1):
        for i in range(start[c] + 1, start[c + 1]):
            a, b, x, y = literal[i, 0], literal[i, 1], literal[i, 2], literal[i, 3]
            j = i - 1
            while j >= start[c] and (
                literal[j, 0] > a
                or (literal[j, 0] == a and (literal[j, 1] > b or (literal[j, 1] == b and literal[j, 2] > x)))
            ):
                for k in range(4):
                    literal[j + 1, k] = literal[j, k]
                j -= 1
            literal[j + 1, 0], literal[j + 1, 1], literal[j + 1, 2], literal[j + 1, 3] = a, b, x, y


@njit(cache=True, nogil=True)
def hash_clauses(start, literal, set_lo, set_hi, revise, out):
    """A hash of every clause's content (sets by their ranges, not by their place)."""
    for c in range(len(start) - 1):
        state = mix(np.uint64(start[c + 1] - start[c]), np.uint64(revise[c]))
        for i in range(start[c], start[c + 1]):
            state = mix(mix(state, np.uint64(literal[i, 0])), np.uint64(literal[i, 1]))
            if literal[i, 1] & 4:
                for r in range(literal[i, 2], literal[i, 2] + literal[i, 3]):
                    state = mix(mix(state, np.uint64(set_lo[r])), np.uint64(set_hi[r]))
            else:
                state = mix(mix(state, np.uint64(literal[i, 2])), np.uint64(literal[i, 3]))
        out[c] = state


@njit(cache=True, nogil=True)
def same_as_previous(order, digest, start, literal, set_lo, set_hi, revise, out):
    """For clauses in hash order: whether each has exactly the content of the one before it."""
    for n in range(1, len(order)):
        a, b = order[n - 1], order[n]
        if digest[a] != digest[b] or revise[a] != revise[b]:
            continue
        if start[a + 1] - start[a] != start[b + 1] - start[b]:
            continue
        same = True
        for k in range(start[a + 1] - start[a]):
            i, j = start[a] + k, start[b] + k
            if (
                literal[i, 0] != literal[j, 0]
                or literal[i, 1] != literal[j, 1]
                or literal[i, 3] != literal[j, 3]
            ):
                same = False
                break
            if literal[i, 1] & 4:
                for r in range(literal[i, 3]):
                    p, q = literal[i, 2] + r, literal[j, 2] + r
                    if set_lo[p] != set_lo[q] or set_hi[p] != set_hi[q]:
                        same = False
            elif literal[i, 2] != literal[j, 2]:
                same = False
            if not same:
                break
        out[n] = same


@njit(cache=True, nogil=True)
def rank_numbers(floor, rest, values, value_rest, out):
    """How many of the sorted ``values`` stand at or before each number (floor, rest)."""
    exact = len(value_rest) > 0
    for i in range(len(floor)):
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) >> 1
            if values[middle] <= floor[i]:
                low = middle + 1
            else:
                high = middle
        if exact:
            while low > 0 and values[low - 1] == floor[i] and value_rest[low - 1] > rest[i]:
                low -= 1
        out[i] = low


@njit(cache=True, nogil=True)
def locate_ranks(dimension, rank, cut_start, cut, out):
    """How many cuts of its dimension stand at or before each ranked number."""
    for i in range(len(dimension)):
        first = cut_start[dimension[i]]
        low, high = first, cut_start[dimension[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if cut[middle] < rank[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low - first


@njit(cache=True, nogil=True)
def locate_event(dimension, value, values, rest, cut_start, cut, base, other, out):
    """The cells of one event whose values are all numbers; entries without a dimension (-1) go.

    Writes (dimension, cell) into the rows of ``out``; returns how many, or -1 if a number is beyond
    what floats hold exactly (or is not one).
    """
    count = 0
    for i in range(len(dimension)):
        number = value[i]
        if not -9007199254740992.0 < number < 9007199254740992.0:
            return -1
        d = dimension[i]
        if d < 0:
            continue
        out[0, count] = d
        if base[d] == 0:
            out[1, count] = other[d]
            count += 1
            continue
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) >> 1
            if values[middle] <= number:
                low = middle + 1
            else:
                high = middle
        while len(rest) > 0 and low > 0 and values[low - 1] == number and rest[low - 1] > 0:
            low -= 1
        rank = low
        first = cut_start[d]
        low, high = first, cut_start[d + 1]
        while low < high:
            middle = (low + high) >> 1
            if cut[middle] < rank:
                low = middle + 1
            else:
                high = middle
        out[1, count] = base[d] + low - first
        count += 1
    return count


@njit(cache=True, nogil=True)
def compare_bytes(a, a0, a1, b, b0, b1):
    """-1, 0 or 1 as a[a0:a1] stands before, at or after b[b0:b1]."""
    n = min(a1 - a0, b1 - b0)
    for k in range(n):
        x, y = a[a0 + k], b[b0 + k]
        if x != y:
            return -1 if x < y else 1
    if a1 - a0 == b1 - b0:
        return 0
    return -1 if a1 - a0 < b1 - b0 else 1


@njit(cache=True, nogil=True)
def locate_strings(first, last, key_start, key_data, start, data, cuts_before, sides, out):
    """How many cuts stand at or before each key, among the sorted strings first:last."""
    for i in range(len(key_start) - 1):
        low, high = first, last
        found = False
        while low < high:
            middle = (low + high) >> 1
            order = compare_bytes(
                data, start[middle], start[middle + 1], key_data, key_start[i], key_start[i + 1]
            )
            if order == 0:
                out[i] = cuts_before[middle] + (sides[middle] & 1)
                found = True
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
        if not found:
            if low > first:
                sides_before = sides[low - 1]
                out[i] = cuts_before[low - 1] + (sides_before & 1) + (sides_before >> 1)
            else:
                out[i] = 0


@njit(cache=True, nogil=True)
def gather(event, dimension, lo, hi, start, out_dimension, out_lo, out_hi, multi):
    """Sort entries by event (counting), each event's entries by dimension; mark multi-valued events."""
    fill = start[:-1].copy()
    for i in range(len(event)):
        at = fill[event[i]]
        fill[event[i]] += 1
        d, a, b = dimension[i], lo[i], hi[i]
        if a != b:
            multi[event[i]] = 1
        j = at - 1
        first = start[event[i]]
        while j >= first and out_dimension[j] > d:
            out_dimension[j + 1] = out_dimension[j]
            out_lo[j + 1] = out_lo[j]
            out_hi[j + 1] = out_hi[j]
            j -= 1
        if j >= first and out_dimension[j] == d:
            multi[event[i]] = 1
        out_dimension[j + 1] = d
        out_lo[j + 1] = a
        out_hi[j + 1] = b
