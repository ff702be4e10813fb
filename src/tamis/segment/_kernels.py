"""Find ids in a segment, and gather lists: the ids of subscriptions, the owners of clauses."""

import numpy as np

from tamis.kernel import kernel
from tamis.space.pstree._kernels import compare


@kernel
def find_string(wanted, a, b, order, start, data):
    """Return the number of the string ``wanted[a:b]`` among the strings that ``order`` sorts, or -1."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) >> 1
        at = order[middle]
        if compare(data, int(start[at]), int(start[at + 1]), wanted, a, b) < 0:
            low = middle + 1
        else:
            high = middle
    if low < len(order):
        at = order[low]
        if compare(data, int(start[at]), int(start[at + 1]), wanted, a, b) == 0:
            return np.int64(at)
    return np.int64(-1)


@kernel
def find_strings(wanted_start, wanted, order, start, data, found):
    """Write the number of each wanted string among the strings that ``order`` sorts, or -1."""
    for n in range(len(found)):
        found[n] = find_string(wanted, wanted_start[n], wanted_start[n + 1], order, start, data)


_BYTE = np.uint64(8)
CHUNK = 256  # items whose memory is loaded before they are used, so that many loads are under way at once


@kernel
def sizes_of(chosen, start, out):
    """Write where each chosen list begins (and the last ends) when they stand end to end; return that end."""
    at = np.int64(0)
    for i in range(len(chosen)):
        out[i] = at
        at += np.int64(start[chosen[i] + 1]) - np.int64(start[chosen[i]])
    out[len(chosen)] = at
    return at


@kernel
def take_lists(chosen, start, data, out_start, out):
    """Write the chosen lists end to end, as ``sizes_of`` has laid them out; return a sum of no meaning."""
    first = np.empty(CHUNK, np.int64)
    touched = np.int64(0)
    for begin in range(0, len(chosen), CHUNK):
        count = min(CHUNK, len(chosen) - begin)
        for i in range(count):
            first[i] = np.int64(start[chosen[begin + i]])
        for i in range(count):
            if first[i] < len(data):
                touched += np.int64(data[first[i]])
        for i in range(count):
            low, high = np.int64(out_start[begin + i]), np.int64(out_start[begin + i + 1])
            shift = first[i] - low
            for k in range(low, high):
                out[k] = data[k + shift]
    return touched


@kernel
def pack_strings(start, data, packed):
    """Write each string into words of eight bytes, the first byte lowest; a row has room for the longest."""
    for n in range(len(packed)):
        low = np.int64(start[n])
        for k in range(np.int64(start[n + 1]) - low):
            packed[n, k >> 3] |= np.uint64(data[low + k]) << np.uint64(8 * (k & 7))


@kernel
def total_length(chosen, length):
    """Return the bytes of the chosen strings."""
    total = np.int64(0)
    for i in range(len(chosen)):
        total += np.int64(length[chosen[i]])
    return total


@kernel
def take_packed(chosen, packed, length, out_start, out):
    """Write the chosen strings end to end, eight bytes at a time; ``out`` has a word more than they need."""
    word, used, at, total = np.uint64(0), np.uint64(0), 0, np.int64(0)
    for i in range(len(chosen)):
        c = chosen[i]
        out_start[i] = total
        left = np.int64(length[c])
        total += left
        for part in range((left + 7) >> 3):
            own = packed[c, part]
            size = np.uint64(left if left < 8 else 8)
            left -= 8
            word |= own << (used * _BYTE)
            out[at] = word
            used += size
            if used >= _BYTE:
                at += 1
                used -= _BYTE
                word = own >> ((size - used) * _BYTE) if used > 0 else np.uint64(0)
    out[at] = word
    out_start[len(chosen)] = total


@kernel
def repeat(values, start, out):
    """Write each value as often as its list, laid out by ``sizes_of``, is long."""
    for i in range(len(values)):
        for k in range(start[i], start[i + 1]):
            out[k] = values[i]
