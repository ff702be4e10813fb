"""Build the structures of ``opindex``, and count the predicates in them that an event meets."""

import numpy as np

from tamis.kernel import kernel

EQ, LE, GE, OPERATORS = 0, 1, 2, 3  # the operators, and their number
BITMAP = 64  # bits of a bitmap
LAST, UP = 0, 1  # columns of a trie
COLUMNS = 2


@kernel
def signature_bit(operator, dimension, operand):
    """Return the one bit of 64 that a predicate sets, and that an event's value looks for.

    For ``=`` it depends on dimension and operand. For the others, which many operands meet, it depends on the
    dimension alone.
    """
    mixed = np.uint64(dimension) * np.uint64(0x9E3779B97F4A7C15)
    if operator == EQ:
        mixed = (mixed ^ np.uint64(operand)) * np.uint64(0xD6E8FEB86659FD93)
    return np.uint64(1) << (mixed >> np.uint64(58))


@kernel
def sign_lists(operator, dimension, operand, number, signature):
    """Set the signature bits of all predicates."""
    for i in range(len(operator)):
        signature[number[i]] |= signature_bit(operator[i], dimension[i], operand[i])


@kernel
def keep_nested(pivot, dimension, lo, hi, least, kept):
    """Mark ranges so that any two of a family are disjoint, or one contains the other.

    A family is a (pivot, dimension). Ranges are sorted by family, then by first cell, the longer one first. A
    range is left out if it crosses one that is kept. A family keeps none if it would keep fewer than
    ``least``, or not even half: then its lists are long, and a trie is one more search.
    """
    open_ends, depth, first, count = np.empty(len(lo), np.int64), 0, 0, 0
    for i in range(len(lo)):
        if pivot[i] != pivot[first] or dimension[i] != dimension[first]:
            kept[first:i] &= count >= max(least, (i - first + 1) // 2)
            depth, first, count = 0, i, 0
        while depth and open_ends[depth - 1] < lo[i]:
            depth -= 1
        kept[i] = depth == 0 or hi[i] <= open_ends[depth - 1]
        if kept[i]:
            open_ends[depth] = hi[i]
            depth += 1
            count += 1
    kept[first:] &= count >= max(least, (len(lo) - first + 1) // 2)


@kernel
def link_nested(number, first, last, up):
    """Write for each range how many records before it the range around it ends, 0 if there is none.

    Ranges are sorted by list, then by first cell, the longer one first. Equal ranges are one node: they lead
    to the same record, the last one of the node around theirs.
    """
    open_nodes, depth = np.empty(len(number), np.int64), 0
    for i in range(len(number)):
        before = i - 1
        if i and number[i] == number[before] and first[i] == first[before] and last[i] == last[before]:
            up[i] = up[before] + 1 if up[before] else 0
            open_nodes[depth - 1] = i
            continue
        if i and number[i] != number[before]:
            depth = 0
        while depth and last[open_nodes[depth - 1]] < first[i]:
            depth -= 1
        up[i] = i - open_nodes[depth - 1] if depth else 0
        open_nodes[depth] = i
        depth += 1


@kernel
def lower_bound(begin, end, low, record):
    """Return the first record of a list that is not below ``low``."""
    while begin < end:
        middle = (begin + end) >> 1
        if np.int64(record[middle]) < low:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def count_one(pointer, counter, hits, found):
    """Count one predicate of a clause; return the number of clauses found so far.

    A clause is found when its counter reaches 0. The counter stays at 0, so that no clause is found twice.
    """
    needed = np.int64(counter[pointer])
    hits[found] = pointer
    counter[pointer] = needed - (needed > 0)
    return found + (needed == 1)


@kernel
def count_down(begin, end, low, high, record, pointer_mask, counter, hits, found):
    """Count the predicates of a sorted list from ``low`` to ``high``.

    Return their number, and the number of clauses found so far.
    """
    at = lower_bound(begin, end, low, record)
    i = at
    while i < end and np.int64(record[i]) <= high:
        found = count_one(np.int64(record[i]) & pointer_mask, counter, hits, found)
        i += 1
    return i - at, found


@kernel
def clear_bits(begin, end, low, high, record, pointer_mask, bitmap, hits, found):
    """Do the same as ``count_down`` for clauses with groups: each predicate met clears its group's bit."""
    at = lower_bound(begin, end, low, record)
    i = at
    while i < end and np.int64(record[i]) <= high:
        pointer = np.int64(record[i]) & pointer_mask
        before = bitmap[pointer // BITMAP]
        after = before & ~(np.uint64(1) << np.uint64(pointer % BITMAP))
        bitmap[pointer // BITMAP] = after
        hits[found] = pointer // BITMAP
        found += (before != 0) & (after == 0)
        i += 1
    return i - at, found


@kernel
def climb(begin, end, first, low, high, record, pointer_bits, trie, counter, hits, found):
    """Count the ranges of a trie that meet the cells from ``low`` to ``high`` of the dimension at ``first``.

    Ranges that begin after ``low`` are one run of the list. The others contain ``low``: the last record that
    begins at ``low`` or before is in the innermost of them, or below it, and the rest lies upwards. The last
    ``len(trie) / COLUMNS`` records are those of tries. Return the same as ``count_down``.
    """
    pointer_mask = (np.int64(1) << pointer_bits) - 1
    skipped = len(record) - len(trie) // COLUMNS
    seen = np.int64(0)
    i = lower_bound(begin, end, high + 1, record) - 1
    while i >= begin and np.int64(record[i]) > low | pointer_mask:
        found = count_one(np.int64(record[i]) & pointer_mask, counter, hits, found)
        seen += 1
        i -= 1
    if i < begin or np.int64(record[i]) < first:
        return seen, found
    cell = (low - first) >> pointer_bits
    while True:
        at = COLUMNS * (i - skipped)
        last, up = np.int64(trie[at + LAST]), np.int64(trie[at + UP])
        if last >= cell:
            mine = np.int64(record[i])
            found = count_one(mine & pointer_mask, counter, hits, found)
            seen += 1
            same = i > begin and np.int64(record[i - 1]) >> pointer_bits == mine >> pointer_bits
            if same and np.int64(trie[at - COLUMNS + LAST]) == last:
                i -= 1
                continue
        if up == 0:
            return seen, found
        i -= up
