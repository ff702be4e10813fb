"""Compiled loops that locate values."""

import numpy as np

from tamis.kernel import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(0xBF58476D1CE4E5B9)


@kernel
def sort_run(key, a, b, first, last):
    """Sort first:last by key in place and move ``a`` and ``b`` with it (Shell's sort: runs are short)."""
    for gap in (44842, 19930, 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1):
        if gap > 1 and gap >= last - first:
            continue
        for i in range(first + gap, last):
            k, x, y = key[i], a[i], b[i]
            j = i - gap
            while j >= first and key[j] > k:
                key[j + gap], a[j + gap], b[j + gap] = key[j], a[j], b[j]
                j -= gap
            key[j + gap], a[j + gap], b[j + gap] = k, x, y


@kernel
def mix(state, word):
    """Return one step of a 64-bit hash."""
    state = (state ^ np.uint64(word)) * _MIX
    return (state ^ (state >> np.uint64(29))) * _FOLD


@kernel
def cuts_before(number, rest, values, value_rest, cut, first, last):
    """Return how many of the sorted cuts first:last stand at or before the number (number, rest).

    The search has no branches that depend on a comparison, because a processor cannot predict them.
    """
    low, left = first, last - first
    if len(value_rest) == 0:
        while left > 1:
            half = left >> 1
            low += half * (values[cut[low + half - 1]] <= number)
            left -= half
        if left == 1:
            low += values[cut[low]] <= number
        return low - first
    while left > 0:
        half = left >> 1
        place = cut[low + half]
        if values[place] < number or (values[place] == number and value_rest[place] <= rest):
            low += half + 1
            left -= half + 1
        else:
            left = half
    return low - first


@kernel
def locate_numbers(dimension, floor, rest, values, value_rest, cut_start, cut, base, other, out):
    """Write the cell of each number (floor, rest) to ``out``; ``other`` if its dimension has no numbers."""
    for i in range(len(dimension)):
        d = dimension[i]
        if base[d] == 0:
            out[i] = other[d]
        else:
            out[i] = base[d] + cuts_before(
                floor[i], rest[i], values, value_rest, cut, cut_start[d], cut_start[d + 1]
            )


@kernel
def locate_event(dimension, value, values, rest, cut_start, cut, base, other, out):
    """Locate one event whose values are all numbers; skip entries without a dimension (-1).

    Write (dimension, cell) into the rows of ``out``. Return their number, or -1 if a value is not a number or
    is beyond the integers that floats hold exactly.
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
        else:
            out[1, count] = base[d] + cuts_before(
                number, 0, values, rest, cut, cut_start[d], cut_start[d + 1]
            )
        count += 1
    return count


@kernel
def compare_bytes(a, a0, a1, b, b0, b1):
    """Return -1, 0 or 1 if a[a0:a1] stands before, at or after b[b0:b1]."""
    n = min(a1 - a0, b1 - b0)
    for k in range(n):
        x, y = a[a0 + k], b[b0 + k]
        if x != y:
            return -1 if x < y else 1
    if a1 - a0 == b1 - b0:
        return 0
    return -1 if a1 - a0 < b1 - b0 else 1


@kernel
def hash_bytes(data, first, last, seed):
    """Return a hash of data[first:last], eight bytes at a time."""
    state = mix(seed, np.uint64(last - first))
    word = np.uint64(0)
    for k in range(first, last):
        word = (word << np.uint64(8)) | np.uint64(data[k])
        if (k - first) & 7 == 7:
            state = mix(state, word)
            word = np.uint64(0)
    state = mix(state, word)
    return state ^ (state >> np.uint64(32))


@kernel
def fill_name_table(start, data, seed, table):
    """Enter distinct strings into an open hash table, whose size is a power of two."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(start) - 1):
        at = hash_bytes(data, start[i], start[i + 1], seed) & mask
        while table[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table[at] = i


@kernel
def find_names(key_start, key_data, longest, start, data, seed, table, out):
    """Write the place of each key in the table, or -1; return false if a key is too long or not ASCII."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(key_start) - 1):
        first, last = key_start[i], key_start[i + 1]
        if last - first > longest:
            return False
        for k in range(first, last):
            if key_data[k] > 127:
                return False
        at = hash_bytes(key_data, first, last, seed) & mask
        out[i] = -1
        while table[at] >= 0:
            n = table[at]
            if (
                start[n + 1] - start[n] == last - first
                and compare_bytes(data, start[n], start[n + 1], key_data, first, last) == 0
            ):
                out[i] = n
                break
            at = (at + np.uint64(1)) & mask
    return True


@kernel
def locate_strings(first, last, key_start, key_data, start, data, cuts_before, sides, out):
    """Write how many cuts stand at or before each key, among the sorted strings first:last."""
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


@kernel
def repeats(dimension, lo, hi, first, last, seen, mark):
    """Return whether some entries first:last are wide or share a dimension; note them in ``seen``."""
    found = False
    for i in range(first, last):
        found |= seen[dimension[i]] == mark or lo[i] != hi[i]
        seen[dimension[i]] = mark
    return found


@kernel
def gather(event, dimension, lo, hi, start, out_dimension, out_lo, out_hi, multi, seen):
    """Group entries by event; sort the entries of an event by dimension and cell and join touching ranges.

    Events with several or wide entries are marked. With ``seen``, zeros for every dimension, all other events
    are left unsorted. ``start`` is brought up to date. Return the number of remaining entries.
    """
    fill = start[:-1].copy()
    for i in range(len(event)):
        at = fill[event[i]]
        fill[event[i]] += 1
        out_dimension[at], out_lo[at], out_hi[at] = dimension[i], lo[i], hi[i]
    kept, last = 0, start[0]
    for e in range(len(start) - 1):
        first, last = last, start[e + 1]
        start[e] = kept
        if len(seen) > 0 and not repeats(out_dimension, out_lo, out_hi, first, last, seen, e + 1):
            for i in range(first, last):
                out_dimension[kept], out_lo[kept], out_hi[kept] = out_dimension[i], out_lo[i], out_hi[i]
                kept += 1
            continue
        sort_run(out_dimension, out_lo, out_hi, first, last)
        while first < last:
            d, end = out_dimension[first], first + 1
            while end < last and out_dimension[end] == d:
                end += 1
            if end - first > 1:
                multi[e] = 1
                sort_run(out_lo, out_hi, out_dimension, first, end)
            own = kept
            for i in range(first, end):
                if kept > own and out_lo[i] <= out_hi[kept - 1] + 1:
                    out_hi[kept - 1] = max(out_hi[kept - 1], out_hi[i])
                else:
                    out_dimension[kept], out_lo[kept], out_hi[kept] = d, out_lo[i], out_hi[i]
                    kept += 1
            if out_lo[own] != out_hi[own]:
                multi[e] = 1
            first = end
    start[len(start) - 1] = kept
    return kept
