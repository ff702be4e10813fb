"""Find the terms of ASCII texts: tokens are packed into words as they are read, then looked up.

The key of a term of up to eight bytes is these bytes, and equal keys are equal terms. The key of a longer
term is a hash, and the bytes are compared.
"""

import numpy as np

from tamis.kernel import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_BYTE = np.uint64(8)
# Letters in lower case and digits; 0 for all other bytes.
FOLDED = np.zeros(256, np.uint8)
for _byte in b"abcdefghijklmnopqrstuvwxyz0123456789":
    FOLDED[_byte] = _byte
    FOLDED[ord(chr(_byte).upper())] = _byte
_LONG = np.uint64(1 << 32)
SHORT = 8


@kernel
def more(key, length, letter):
    """Return the key of a token with one more letter, now of ``length`` in all."""
    if length > SHORT:
        key = (key ^ (key >> np.uint64(29))) * _MIX
    return (key << _BYTE) ^ letter if length <= SHORT else key ^ letter


@kernel
def slot_of(key, shift):
    """Return the slot where the search for a key begins."""
    return np.int64(((key ^ (key >> np.uint64(32))) * _MIX) >> shift)


@kernel
def index_terms(start, data, shift, table):
    """Enter the terms; a place holds a key, then the term's number plus one and whether it is long.

    The table has ``2^(64 - shift)`` places.
    """
    mask = len(table) // 2 - 1
    for n in range(len(start) - 1):
        key = np.uint64(0)
        for i in range(start[n], start[n + 1]):
            key = more(key, i - start[n] + 1, np.uint64(data[i]))
        at = slot_of(key, shift)
        while table[2 * at + 1] != 0:
            at = (at + 1) & mask
        table[2 * at] = key
        table[2 * at + 1] = np.uint64(n + 1)
        if start[n + 1] - start[n] > SHORT:
            table[2 * at + 1] |= _LONG


@kernel
def same(begin, end, text, first, last, data):
    """Return whether a token is, letter by letter, a term."""
    length = end - begin
    if length != last - first:
        return False
    at = 0
    while at < length and FOLDED[text[begin + at]] == data[first + at]:
        at += 1
    return at == length


@kernel
def look_up(key, begin, end, text, shift, table, start, data):
    """Return the number of the term that equals the token text[begin:end], or -1."""
    at = slot_of(key, shift)
    mask = len(table) // 2 - 1
    while table[2 * at + 1] != 0:
        if table[2 * at] == key:
            found = table[2 * at + 1]
            n = np.int64(found & ~_LONG) - 1
            if end - begin <= SHORT:
                if found & _LONG == 0:
                    return n
            elif same(begin, end, text, start[n], start[n + 1], data):
                return n
        at = (at + 1) & mask
    return np.int64(-1)


@kernel
def tokens(text, begin, end, keys, ends):
    """Write the keys, ends and beginnings of all tokens of text[begin:end]; return their number."""
    count, key, length = 0, np.uint64(0), 0
    for i in range(begin, end):
        letter = FOLDED[text[i]]
        if letter != 0:
            length += 1
            key = more(key, length, np.uint64(letter))
        elif length > 0:
            keys[count] = key
            ends[2 * count], ends[2 * count + 1] = i - length, i
            count += 1
            key, length = np.uint64(0), 0
    if length > 0:
        keys[count] = key
        ends[2 * count], ends[2 * count + 1] = end - length, end
        count += 1
    return count


@kernel
def find_terms(text_start, text, shift, table, start, data, keys, ends, seen, out_row, out_term):
    """Write the distinct terms of every text, in order of appearance; return their total number.

    ``seen`` is zeros, one for each term. Tokens are read first and looked up in a loop of its own, so that
    many loads are under way at once.
    """
    count = 0
    for row in range(len(text_start) - 1):
        for t in range(tokens(text, text_start[row], text_start[row + 1], keys, ends)):
            n = look_up(keys[t], ends[2 * t], ends[2 * t + 1], text, shift, table, start, data)
            if n >= 0 and seen[n] != row + 1:
                seen[n] = row + 1
                out_row[count] = row
                out_term[count] = n
                count += 1
    return count
