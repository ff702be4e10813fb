"""Search the leaves and the hash table of ``psthash``. ``layout`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.engines.postings._kernels import (
    bounds,
    check_first,
    check_run,
    filter_hits,
    filter_runs,
    match_general,
    more_levels,
    reach,
    touch_runs,
)
from tamis.engines.psthash.layout._kernels import space_key
from tamis.kernel import kernel

MOST = 1 << 40


@kernel
def enter_event(a, b, dimension, lo, heads, spaces, used, cell, table, visits, keys):
    """Fill the tables of a plain event; write the leaves it visits and the keys of its spaces.

    Return the number of each. A space that no access predicate covers is left out.
    """
    lists, count = np.int64(0), np.int64(0)
    for k in range(a, b):
        d = np.int64(dimension[k])
        value = np.int64(lo[k])
        packed = np.int64(heads[4 * d])
        cell[d] = value
        table[d] = value >> ((packed >> 8) & 255)
        visits[lists] = np.int64(heads[4 * d + 1]) + (value >> (packed >> 16))
        lists += (packed & 255) > 0
        base = np.int64(spaces[2 * d + 1])
        if base > 0:
            space = base - 1 + (value >> np.int64(spaces[2 * d]))
            keys[count] = space_key(space)
            count += (used[space >> 5] >> np.uint32(space & 31)) & np.uint32(1)
    return lists, count


@kernel
def combinations(count, size):
    """Return the number of ways to choose ``size`` of ``count`` spaces, at most ``MOST``."""
    ways = np.int64(1)
    for n in range(size):
        ways = ways * (count - n) // (n + 1)
        if ways > MOST:
            return np.int64(MOST)
    return max(ways, np.int64(0))


@kernel
def pair_buckets(keys, count, first, shift, visits, at):
    """Write the bucket of every pair of spaces from ``visits[at]`` on; return the end."""
    for i in range(1, count):
        key = keys[i]
        for j in range(i):
            visits[at + j] = first + np.int64((key ^ keys[j]) >> shift)
        at += i
    return at


@kernel
def tuple_buckets(keys, count, size, first, shift, parts, visits, at):
    """Do the same as ``pair_buckets`` for ``size`` spaces, but do not extend parts that no clause has."""
    chosen = np.empty(size, np.int64)
    key = np.zeros(size + 1, np.uint64)
    mask = np.uint64(32 * len(parts) - 1)
    depth = 0
    chosen[0] = -1
    while depth >= 0:
        chosen[depth] += 1
        if chosen[depth] > count - size + depth:
            depth -= 1
            continue
        key[depth + 1] = key[depth] ^ keys[chosen[depth]]
        if depth == size - 1:
            visits[at] = first + np.int64(key[size] >> shift)
            at += 1
            continue
        bit = key[depth + 1] & mask
        if depth == 0 or (parts[bit >> np.uint64(5)] >> np.uint32(bit & np.uint64(31))) & np.uint32(1):
            chosen[depth + 1] = chosen[depth]
            depth += 1
    return at


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
    parts = words32[place[28] : place[29]]
    inline = inlines[place[30] : place[31]]
    second = inlines[place[32] : place[33]]
    dimension_bits, cell_bits = np.uint64(layout[0]), np.uint64(layout[1])
    several = layout[5] > 1
    first, shift, size = np.int64(layout[4]), np.uint64(64) - np.uint64(layout[6]), np.int64(layout[7])
    low, high = np.int64(layout[8]), np.int64(layout[9])
    keys = begins.view(np.uint64)  # the keys are used before the bounds overwrite them
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
                spaces, used, parts, first, shift, size, low, high, out_event, out_clause, written, work,
            )  # fmt: skip
            if written < 0:
                return e, mark
            continue
        lists, own = enter_event(a, b, dimension, lo, heads, spaces, used, cell, table, visits, keys)
        if several:
            lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
        # An event of very many values has more combinations than there are clauses, so check the clauses.
        all_of_them = combinations(own, size) > high - low
        if not all_of_them:
            if size == 2:
                lists = pair_buckets(keys, own, first, shift, visits, lists)
            else:
                lists = tuple_buckets(keys, own, size, first, shift, parts, visits, lists)
        runs, probed = bounds(visits, lists, list_start, begins, ends)
        full = False
        if probed > len(hits):
            work[2] = probed
            full = True
        else:
            touch_runs(begins, ends, runs, inline, work)
            found = filter_runs(begins, ends, runs, inline, dimension_bits, cell_bits, table, hits)
            found = filter_hits(hits, found, second, dimension_bits, cell_bits, table)
            found = check_first(hits, found, posting, start, literal, cell)
            work[0] += probed
            work[1] += found
            work[3] += lists
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
def keys_of(a, b, dimension, lo, hi, hull, spaces, used):
    """Return the keys of all spaces that an event with several or wide entries touches."""
    room = 0
    for k in range(a, b):
        low, high = reach(k, a, b, dimension, lo, hi, hull)
        room += max(high - low + 1, 0)
    keys = np.empty(room, np.uint64)
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
                keys[count] = space_key(space)
                count += 1
    return keys[:count]


@kernel
def hashed_general(
    e, a, b, dimension, lo, hi, first_entry, start, literal, set_lo, set_hi, list_start, posting, hull,
    spaces, used, parts, first, shift, size, low, high, out_event, out_clause, written, work,
):  # fmt: skip
    """Match the hashed clauses with one event that has several or wide entries; return the pairs written.

    Pass -1 on, and return it if there is no room.
    """
    if written < 0:
        return written
    keys = keys_of(a, b, dimension, lo, hi, hull, spaces, used)
    for k in range(b - 1, a - 1, -1):
        first_entry[dimension[k]] = k + 1
    ways = combinations(np.int64(len(keys)), size)
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
        if size == 2:
            lists = pair_buckets(keys, len(keys), first, shift, visits, 0)
        else:
            lists = tuple_buckets(keys, len(keys), size, first, shift, parts, visits, 0)
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
