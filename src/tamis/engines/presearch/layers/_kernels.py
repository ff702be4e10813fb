"""Search batches of documents in two layers over an inverted bit map.

Bit arrays are rows of ``width`` words: bit ``d`` of a term's row says whether document ``d`` of the batch has
the term. Row 0 belongs to no term. ``slot`` gives the row of a place, 0 if the batch does not have the term,
``NEVER`` if no clause asks for it.
"""

import numpy as np

from tamis.engines._kernels import place_of_bit
from tamis.kernel import kernel

NEVER = np.uint32(0xFFFFFFFF)
TERM, END, CLAUSE, DEPTH, NODE = 0, 1, 2, 3, 4  # the fields of a node, and their number
# The fields of a place: first and last child of its root, first and last clause at the root itself, last
# clause below it; all 0 if it represents nothing.
TOP, LAST = 5, 4
LEAPFROG = 2  # the field of the layout, which older files lack
FULL = -1
SCAN = 8  # up to this many times as many places as the batch has terms, reading all in order is faster

_ONE = np.uint64(1)


@kernel
def places_of(a, b, dimension, lo, heads, levels, places):
    """Write the places of all terms of a plain document; return their number.

    A cell lies in one block of level 0 and in two of every other.
    """
    count = 0
    for k in range(a, b):
        head = 4 * np.int64(dimension[k])
        cell = np.int64(lo[k])
        left = np.int64(heads[head])
        level, base = np.int64(heads[head + 1]), np.int64(heads[head + 2])
        further = np.int64(heads[head + 3])
        while left > 0:
            block = cell if level == 0 else cell >> (level - 1)
            places[count] = base + block
            count += 1
            if level > 0 and block > 0:
                places[count] = base + block - 1
                count += 1
            left -= 1
            if left > 0:
                further += 1
                level, base = np.int64(levels[2 * further]), np.int64(levels[2 * further + 1])
    return count


@kernel
def rows_of(places, count, slot, row_place, bits, width, rows):
    """Replace places by their rows, adding new rows; return (places kept, number of rows)."""
    kept = 0
    for i in range(count):
        place = places[i]
        row = slot[place]
        if row == 0:
            row = np.uint32(rows)
            slot[place] = row
            row_place[rows] = place
            for w in range(rows * width, (rows + 1) * width):
                bits[w] = 0
            rows += 1
        places[kept] = row
        kept += row != NEVER
    return kept, rows


@kernel
def invert(begin, stop, start, dimension, lo, multi, heads, levels, slot, row_place, bits, width, places):
    """Write the inverted bit map of the plain documents begin:stop; return its number of rows.

    A separate loop for each array keeps many loads under way at once.
    """
    rows = 1
    for e in range(begin, stop):
        if multi[e]:
            continue
        word = (e - begin) >> 6
        bit = _ONE << np.uint64((e - begin) & 63)
        count = places_of(start[e], start[e + 1], dimension, lo, heads, levels, places)
        count, rows = rows_of(places, count, slot, row_place, bits, width, rows)
        for i in range(count):
            bits[places[i] * width + word] |= bit
    return rows


@kernel
def forget(rows, slot, row_place):
    """Free all rows."""
    for row in range(1, rows):
        slot[row_place[row]] = 0


@kernel
def emit(first, last, decided, partial, own, words, count, hits, found):
    """Write (document, clause, whether to evaluate it) for every set bit; return FULL if there is no room."""
    for c in range(first, last):
        code = (np.int64(c) << 1) | (np.int64(1) - np.int64(decided[c]))
        for k in range(count):
            rest = partial[own + k]
            if found + 64 > len(hits):
                return FULL
            while rest != 0:
                lowest = rest & (~rest + _ONE)
                document = (words[k] << 6) + place_of_bit(lowest)
                hits[found] = (document << 34) | code
                found += 1
                rest ^= lowest
    return found


@kernel
def and_rows(partial, up, own, bits, row, words, count, width):
    """Set ``partial`` at ``own`` to that at ``up`` AND a term's row; return all its bits, ORed together.

    The kernel reads only the words in which the representative term has a document.
    """
    left = np.uint64(0)
    if count == width:
        for w in range(width):
            both = partial[up + w] & bits[row + w]
            partial[own + w] = both
            left |= both
        return left
    for k in range(count):
        both = partial[up + k] & bits[row + words[k]]
        partial[own + k] = both
        left |= both
    return left


@kernel
def descend(at, row, node, slot, bits, width, partial, words, count, decided, hits, found, work):
    """Search the second layer from node ``at`` down, whose term has promising documents in ``row``.

    The search leaves a node without promising documents, and everything below it. Return the hits so far, or
    FULL.
    """
    end = np.int64(node[NODE * at + END])
    looked = 0
    while at < end and found != FULL:
        here = NODE * at
        own = np.int64(node[here + DEPTH]) * width
        if looked > 0:
            row = np.int64(slot[node[here + TERM]]) * width
        looked += 1
        if row == 0 or and_rows(partial, own - width, own, bits, row, words, count, width) == 0:
            at = np.int64(node[here + END])
            continue
        first, last = np.int64(node[here + CLAUSE]), np.int64(node[here + NODE + CLAUSE])
        if first < last:
            found = emit(first, last, decided, partial, own, words, count, hits, found)
        at += 1
    work[0] += looked - 1
    return found


@kernel
def lead(row, bits, width, partial, words):
    """Begin a partial query with the words of its representative term's row that hold a document."""
    count = 0
    for w in range(width):
        words[count] = w
        partial[count] = bits[row + w]
        count += partial[count] != 0
    return count


@kernel
def promising(pairs, count, child, slot, bits, width):
    """Keep the pairs (row of a root, one of its children) with a common document; add the child's row.

    The kernel has no branches and a separate loop for each array, so that many loads are under way at once.
    """
    for i in range(count):
        pairs[3 * i + 2] = np.int64(slot[child[2 * pairs[3 * i + 1]]]) * width
    kept = 0
    for i in range(count):
        one, at, two = pairs[3 * i], pairs[3 * i + 1], pairs[3 * i + 2]
        left = np.uint64(0)
        for w in range(width):
            left |= bits[one + w] & bits[two + w]
        pairs[3 * kept], pairs[3 * kept + 1], pairs[3 * kept + 2] = one, at, two
        kept += left != 0
    return kept


@kernel
def filter_candidates(
    pairs, count, child, node, slot, bits, width, partial, words, decided, hits, found, work
):
    """Search the second layer for pairs (row of a root, one of its children); return the hits, or FULL."""
    root, used = np.int64(-1), 0
    for i in range(promising(pairs, count, child, slot, bits, width)):
        if found == FULL:
            break
        if pairs[3 * i] != root:
            root = pairs[3 * i]
            used = lead(root, bits, width, partial, words)
        at = np.int64(child[2 * pairs[3 * i + 1] + 1])
        found = descend(
            at, pairs[3 * i + 2], node, slot, bits, width, partial, words, used, decided, hits, found, work
        )
    return found


@kernel
def presearch(
    rows, row_place, top, child, node, slot, bits, width, partial, words, pairs, decided, hits, work
):
    """Search both layers for a batch; return the number of hits, which are not in order, or FULL.

    FULL means that ``hits`` cannot hold them. A large batch has a good part of all terms. Then they are
    visited in their own order, which is that of the nodes in memory.
    """
    bits[:width] = 0  # row 0: the terms that the batch does not have
    in_order = SCAN * rows > len(top) // TOP
    at, end = (0, len(top) // TOP) if in_order else (1, rows)
    found, count = 0, 0
    row, next_child, last_child = np.int64(0), np.int64(0), np.int64(0)
    while found != FULL and (at < end or next_child < last_child or count > 0):
        if next_child < last_child and 3 * count < len(pairs):
            pairs[3 * count], pairs[3 * count + 1] = row, next_child
            next_child += 1
            count += 1
        elif at == end or next_child < last_child:  # no more roots, or no more room
            found = filter_candidates(
                pairs, count, child, node, slot, bits, width, partial, words, decided, hits, found, work
            )
            count = 0
        else:
            place = np.int64(at) if in_order else np.int64(row_place[at])
            row = np.int64(slot[place]) * width
            at += 1
            if row == 0 or top[TOP * place + LAST] == 0:
                continue
            next_child, last_child = np.int64(top[TOP * place]), np.int64(top[TOP * place + 1])
            work[3] += 1
            work[0] += 1 + last_child - next_child
            first, last = np.int64(top[TOP * place + 2]), np.int64(top[TOP * place + 3])
            if first < last:
                used = lead(row, bits, width, partial, words)
                found = emit(first, last, decided, partial, 0, words, used, hits, found)
    return found
