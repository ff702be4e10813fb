"""Search the leaves and the hash table of ``psthash``. ``layout`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.engines.postings._kernels import (
    bounds,
    check_run,
    filter_hits,
    filter_runs,
    first_holds,
    match_general,
    more_levels,
    reach,
    touch_runs,
)
from tamis.engines.psthash.layout._kernels import bucket_of, filter_bit, space_key
from tamis.kernel import kernel

MOST = 1 << 40


@kernel
def enter_event(a, b, dimension, lo, heads, cell, table, visits):
    """Fill the tables of a plain event; write the leaves it visits, and return their number."""
    lists = np.int64(0)
    for k in range(a, b):
        d = np.int64(dimension[k])
        value = np.int64(lo[k])
        packed = np.int64(heads[4 * d])
        cell[d] = value
        table[d] = value >> ((packed >> 8) & 255)
        visits[lists] = np.int64(heads[4 * d + 1]) + (value >> (packed >> 16))
        lists += (packed & 255) > 0
    return lists


@kernel
def enter_spaces(a, b, dimension, lo, spaces, used, own, keys):
    """Write a plain event's spaces with their keys in the order of dimensions, and return their number.

    A space that no access predicate covers is left out. The entries of a plain event may have any order. They
    are seldom out of order, so the spaces are sorted as they come.
    """
    count = np.int64(0)
    for k in range(a, b):
        d = np.int64(dimension[k])
        base = np.int64(spaces[2 * d + 1])
        if base == 0:
            continue
        space = base - 1 + (np.int64(lo[k]) >> np.int64(spaces[2 * d]))
        if not (used[space >> 5] >> np.uint32(space & 31)) & np.uint32(1):
            continue
        at = count
        while at > 0 and own[at - 1] > space:
            own[at] = own[at - 1]
            keys[at] = keys[at - 1]
            at -= 1
        own[at] = space
        keys[at] = space_key(space)
        count += 1
    return count


@kernel
def combinations(count, size):
    """Return the number of ways to choose ``size`` of ``count`` spaces, at most ``MOST``."""
    ways = np.int64(1)
    for n in range(size):
        ways = ways * (count - n) // (n + 1)
        if ways > MOST:
            return np.int64(MOST)
    return max(ways, np.int64(0))


@kernel(inline="always")
def may_know(key, row, size, known):
    """Return 1 if some clause of a row may have the key, else 0."""
    bit = filter_bit(key, row, size)
    return np.int64(known[bit >> 5] >> np.uint32(bit & 31) & np.uint32(1))


@kernel
def pair_buckets(own, keys, count, rows, first, known, visits, at):
    """Write the bucket of every pair of spaces that a clause may have, from ``at`` on; return the end."""
    for i in range(count - 1):
        row = np.int64(rows[own[i]])
        size = np.int64(rows[own[i] + 1]) - row
        if size == 0:
            continue
        for j in range(i + 1, count):
            visits[at] = first + bucket_of(keys[j], row, size)
            at += may_know(keys[j], row, size, known)
    return at


@kernel
def tuple_buckets(own, keys, count, wanted, rows, first, known, visits, at):
    """Do the same as ``pair_buckets`` for ``wanted`` spaces, but do not extend keys that no clause has."""
    chosen = np.empty(wanted, np.int64)
    key = np.zeros(wanted, np.uint64)
    for i in range(count - wanted + 1):
        row = np.int64(rows[own[i]])
        size = np.int64(rows[own[i] + 1]) - row
        if size == 0:
            continue
        depth = 1
        chosen[1] = i
        while depth > 0:
            chosen[depth] += 1
            if chosen[depth] > count - wanted + depth:
                depth -= 1
                continue
            key[depth] = key[depth - 1] ^ keys[chosen[depth]]
            if not may_know(key[depth], row, size, known):
                continue
            if depth == wanted - 1:
                visits[at] = first + bucket_of(key[depth], row, size)
                at += 1
                continue
            chosen[depth + 1] = chosen[depth]
            depth += 1
    return at


@kernel
def find_buckets(own, keys, count, wanted, rows, first, known, visits, at):
    """Write the bucket of every combination of spaces that a clause may have; return the end."""
    if wanted == 2:
        return pair_buckets(own, keys, count, rows, first, known, visits, at)
    return tuple_buckets(own, keys, count, wanted, rows, first, known, visits, at)


@kernel
def without_repeats(clause, begin, end):
    """Move the different clauses of begin:end to the front; return their end.

    Two keys may share a bucket, and the event may then meet a clause twice.
    """
    size = 4
    while size < 2 * (end - begin):
        size *= 2
    seen = np.zeros(size, np.uint32)
    kept = begin
    for at in range(begin, end):
        c = clause[at]
        slot = (c * 0x9E3779B1) & (size - 1)
        while seen[slot] != 0 and seen[slot] != c + 1:
            slot = (slot + 1) & (size - 1)
        clause[kept] = c
        kept += seen[slot] == 0
        seen[slot] = c + 1
    return kept


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, table, visits, begins, ends, hits, words32,
    words, inlines, place, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    Stop before ``out`` overflows. If ``hits`` would overflow, stop and write the necessary room to
    ``work[2]``. ``place`` holds begin and end of each array: the clauses', then the engine's ``arrays``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    cells = words32[place[8] : place[9]]
    heads = words32[place[10] : place[11]]
    levels = words32[place[12] : place[13]]
    list_start = words32[place[14] : place[15]]
    posting = words32[place[16] : place[17]]
    residual = words32[place[18] : place[19]]
    hull = words32[place[20] : place[21]]
    layout = words32[place[22] : place[23]]
    spaces = words32[place[24] : place[25]]
    used = words32[place[26] : place[27]]
    rows = words32[place[28] : place[29]]
    known = words32[place[30] : place[31]]
    inline = inlines[place[32] : place[33]]
    second = inlines[place[34] : place[35]]
    dimension_bits, cell_bits = np.uint64(layout[0]), np.uint64(layout[1])
    several = layout[5] > 1
    first, wanted = np.int64(layout[4]), np.int64(layout[6])
    low, high = np.int64(layout[7]), np.int64(layout[8])
    keys = begins.view(np.uint64)  # begins and ends hold the keys and spaces until the bounds overwrite them
    room = len(out_event)
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        mark = written
        if multi[e]:
            written = match_general(
                e, a, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, cells, heads, levels,
                list_start, posting, residual, hull, 0, 0, 0, out_event, out_clause, written, work,
            )  # fmt: skip
            written = hashed_general(
                e, a, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, list_start, posting, hull,
                spaces, used, rows, known, first, wanted, low, high, out_event, out_clause, written, work,
            )  # fmt: skip
            if written < 0:
                return e, mark
            continue
        lists = enter_event(a, b, dimension, lo, heads, cell, table, visits)
        if several:
            lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
        own = enter_spaces(a, b, dimension, lo, spaces, used, ends, keys)
        # An event of very many values has more combinations than there are clauses, so check the clauses.
        all_of_them = combinations(own, wanted) > high - low
        if not all_of_them:
            lists = find_buckets(ends, keys, own, wanted, rows, first, known, visits, lists)
        runs, probed = bounds(visits, lists, list_start, begins, ends)
        full = False
        if probed > len(hits):
            work[2] = probed
            full = True
        else:
            touch_runs(begins, ends, runs, inline, work)
            found = filter_runs(begins, ends, runs, inline, dimension_bits, cell_bits, table, hits)
            clauses_of(hits, found, posting)
            found = filter_hits(hits, found, second, dimension_bits, cell_bits, table)
            work[0] += probed
            work[1] += found
            work[3] += lists
            found = first_holds(hits, found, start, literal, cell)
            for h in range(found):
                c = hits[h]
                if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                    if written == room:
                        full = True
                        break
                    out_clause[written] = c
                    written += 1
            if not full:
                written = without_repeats(out_clause, mark, written)
                more = len(residual) + (high - low if all_of_them else 0)
                work[0] += more
                work[1] += more
                for h in range(more):
                    c = np.int64(residual[h]) if h < len(residual) else low + h - len(residual)
                    if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                        if written == room:
                            full = True
                            break
                        out_clause[written] = c
                        written += 1
        for k in range(a, b):
            cell[dimension[k]] = 0
            table[dimension[k]] = 0
        if full:
            return e, mark
        out_event[mark:written] = e
    return count, written


@kernel
def clauses_of(hits, hit_count, posting):
    """Replace hits by their clauses."""
    for h in range(hit_count):
        hits[h] = posting[hits[h]]


@kernel
def spaces_touched(a, b, dimension, lo, hi, hull, spaces, used):
    """Return all spaces that an event with several or wide entries touches."""
    room = 0
    for k in range(a, b):
        low, high = reach(k, a, b, dimension, lo, hi, hull)
        room += max(high - low + 1, 0)
    own = np.empty(room, np.int64)
    count = 0
    for k in range(a, b):
        d = np.int64(dimension[k])
        low, high = reach(k, a, b, dimension, lo, hi, hull)
        base, grain = np.int64(spaces[2 * d + 1]) - 1, np.int64(spaces[2 * d])
        if base < 0 or high < low:
            continue
        # Skip spaces that the previous entry has touched.
        begin = low >> grain
        if k > a and dimension[k - 1] == d:
            begin = max(begin, (np.int64(hi[k - 1]) >> grain) + 1)
        for space in range(base + begin, base + (high >> grain) + 1):
            if (used[space >> 5] >> np.uint32(space & 31)) & np.uint32(1):
                own[count] = space
                count += 1
    return own[:count]


@kernel
def keys_of(own):
    """Return the keys of spaces."""
    keys = np.empty(len(own), np.uint64)
    for i in range(len(own)):
        keys[i] = space_key(own[i])
    return keys


@kernel
def hashed_general(
    e, a, b, dimension, lo, hi, first_entry, start, literal, set_lo, set_hi, list_start, posting, hull,
    spaces, used, rows, known, first, wanted, low, high, out_event, out_clause, written, work,
):  # fmt: skip
    """Match the hashed clauses with one event that has several or wide entries; return the pairs written.

    Pass -1 on, and return it if there is no room.
    """
    if written < 0:
        return written
    own = spaces_touched(a, b, dimension, lo, hi, hull, spaces, used)
    for k in range(b - 1, a - 1, -1):
        first_entry[dimension[k]] = k + 1
    ways = combinations(np.int64(len(own)), wanted)
    if ways > high - low:
        work[0] += high - low
        work[1] += high - low
        for c in range(low, high):
            begin, end = start[c], start[c + 1]
            if holds_general(literal, begin, end, first_entry, b, dimension, lo, hi, set_lo, set_hi):
                if written == len(out_event):
                    written = np.int64(-1)
                    break
                out_event[written] = e
                out_clause[written] = c
                written += 1
    else:
        visits = np.empty(ways, np.int64)
        lists = find_buckets(own, keys_of(own), len(own), wanted, rows, first, known, visits, 0)
        work[3] += lists
        for v in range(lists):
            begin, end = list_start[visits[v]], list_start[visits[v] + 1]
            written = check_run(
                e, begin, end, posting, b, dimension, lo, hi, first_entry, start, literal, set_lo, set_hi,
                out_event, out_clause, written, work,
            )  # fmt: skip
    for k in range(a, b):
        first_entry[dimension[k]] = 0
    return written
