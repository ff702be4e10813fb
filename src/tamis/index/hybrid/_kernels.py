"""Building and searching the postings of ``hybrid``."""

import numpy as np
from numba import njit

from tamis.index._kernels import holds_general, holds_plain

NONE = -1


@njit(cache=True, nogil=True)
def best_two(unit_start, share, usable, access, inline):
    """Per clause the usable condition with the least share, and the next one (or NONE)."""
    for c in range(len(unit_start) - 1):
        first, second = NONE, NONE
        for u in range(unit_start[c], unit_start[c + 1]):
            if not usable[u]:
                continue
            if first == NONE or share[u] < share[first]:
                first, second = u, first
            elif second == NONE or share[u] < share[second]:
                second = u
        access[c] = first
        inline[c] = second


@njit(cache=True, nogil=True)
def level_for(lo, hi, most, level):
    """The lowest level from ``level`` up at which the range lo..hi touches at most ``most`` blocks."""
    while (hi >> level) - (lo >> level) + 1 > most:
        level += 1
    return level


@njit(cache=True, nogil=True)
def choose_levels(access, lo, hi, set_at, set_count, set_lo, set_hi, bottom, top, crowded, dimension, most, level, count):
    """Per clause the level of its postings and how many there are."""
    for c in range(len(access)):
        u = access[c]
        if u == NONE:
            level[c], count[c] = 0, 0
            continue
        lowest, highest = bottom[dimension[u]], top[dimension[u]]
        if set_count[u] > 0:
            chosen = lowest
            while True:
                blocks, previous = 0, -1
                for r in range(set_at[u], set_at[u] + set_count[u]):
                    a, b = np.int64(set_lo[r]) >> chosen, np.int64(set_hi[r]) >> chosen
                    if a == previous:
                        a += 1
                    if b >= a:
                        blocks += b - a + 1
                        previous = b
                if blocks <= 4 * most or chosen >= highest:
                    break
                chosen += 1
            level[c], count[c] = chosen, blocks
            continue
        if lo[u] == hi[u]:
            level[c], count[c] = lowest, 1
        elif not crowded[dimension[u]]:
            level[c], count[c] = highest, 1
        else:
            chosen = min(level_for(lo[u], hi[u], most, lowest), highest)
            level[c], count[c] = chosen, (hi[u] >> chosen) - (lo[u] >> chosen) + 1


@njit(cache=True, nogil=True)
def post(access, lo, hi, set_at, set_count, set_lo, set_hi, dimension, level, base, start, out_list):
    """Write the list number of every posting; clause ``c`` owns start[c]:start[c + 1]."""
    for c in range(len(access)):
        u = access[c]
        if u == NONE:
            continue
        at = start[c]
        first = base[dimension[u], level[c]]
        if set_count[u] > 0:
            previous = -1
            for r in range(set_at[u], set_at[u] + set_count[u]):
                a, b = np.int64(set_lo[r]) >> level[c], np.int64(set_hi[r]) >> level[c]
                if a == previous:
                    a += 1
                for block in range(a, b + 1):
                    out_list[at] = first + block
                    at += 1
                    previous = block
        else:
            for block in range(lo[u] >> level[c], (hi[u] >> level[c]) + 1):
                out_list[at] = first + block
                at += 1


@njit(cache=True, nogil=True)
def order_for_checks(clause_order, start, unit_of, access, inline, share, out):
    """New order of all literals: undecided ones by share, then those of access and inline."""
    at = 0
    for n in range(len(clause_order)):
        c = clause_order[n]
        begin = at
        for i in range(start[c], start[c + 1]):
            out[at] = i
            at += 1
        for i in range(begin + 1, at):
            literal = out[i]
            late = unit_of[literal] == access[c] or unit_of[literal] == inline[c]
            j = i - 1
            while j >= begin:
                other = out[j]
                other_late = unit_of[other] == access[c] or unit_of[other] == inline[c]
                if other_late == late and share[other] <= share[literal] or (late and not other_late):
                    break
                out[j + 1] = other
                j -= 1
            out[j + 1] = literal


@njit(cache=True, nogil=True)
def survivors(begin, end, inline_dimension, inline_lo, inline_span, cell, hits):
    """Postings begin:end whose inline condition a plain event satisfies. No branches."""
    count = 0
    for i in range(begin, end):
        hits[count] = i
        value = np.uint32(cell[inline_dimension[i]]) - np.uint32(inline_lo[i])
        count += np.uint32(value) <= np.uint32(inline_span[i])
    return count


@njit(cache=True, nogil=True)
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, hits, words32, words, place, out_event, out_clause, work
):
    """Match events from ``begin``; returns (events done, pairs written). Stops before ``out`` overflows.

    ``place`` holds begin and end of each array in the arena, in the order of ``ARRAYS``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    level_start = words32[place[8] : place[9]]
    level_shift = words32[place[10] : place[11]]
    level_base = words32[place[12] : place[13]]
    list_start = words32[place[14] : place[15]]
    posting = words32[place[16] : place[17]]
    inline_dimension = words[place[18] : place[19]]
    inline_lo = words[place[20] : place[21]]
    inline_span = words[place[22] : place[23]]
    residual = words32[place[24] : place[25]]
    hull = words32[place[26] : place[27]]
    room = len(out_event)
    written = 0
    probed = 0
    verified = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        mark = written
        full = False
        general = multi[e] != 0
        for k in range(b - 1, a - 1, -1):
            cell[dimension[k]] = k - a + 1 if general else lo[k]
        for k in range(a, b):
            d = dimension[k]
            first_cell, last_cell = lo[k], hi[k]
            if general and hull[d]:
                # Conditions on this dimension were joined: visit all cells between its extremes, once.
                if k > a and dimension[k - 1] == d:
                    continue
                j = k
                while j < b and dimension[j] == d:
                    first_cell = min(first_cell, lo[j])
                    last_cell = max(last_cell, hi[j])
                    j += 1
            for n in range(np.int64(level_start[d]), np.int64(level_start[d + 1])):
                shift = np.int64(level_shift[n])
                base = np.int64(level_base[n])
                for block in range(first_cell >> shift, (last_cell >> shift) + 1):
                    p, q = np.int64(list_start[base + block]), np.int64(list_start[base + block + 1])
                    probed += q - p
                    if general:
                        for i in range(p, q):
                            c = posting[i]
                            verified += 1
                            if holds_general(
                                literal, start[c], start[c + 1], cell, b - a, dimension[a:b], lo[a:b], hi[a:b],
                                set_lo, set_hi,
                            ):
                                if written == room:
                                    full = True
                                    break
                                out_event[written] = e
                                out_clause[written] = c
                                written += 1
                        continue
                    found = survivors(p, q, inline_dimension, inline_lo, inline_span, cell, hits)
                    verified += found
                    for h in range(found):
                        c = posting[hits[h]]
                        if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                            if written == room:
                                full = True
                                break
                            out_event[written] = e
                            out_clause[written] = c
                            written += 1
        for i in range(len(residual)):
            c = residual[i]
            if general:
                ok = holds_general(
                    literal, start[c], start[c + 1], cell, b - a, dimension[a:b], lo[a:b], hi[a:b], set_lo, set_hi
                )
            else:
                ok = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
            if ok:
                if written == room:
                    full = True
                    break
                out_event[written] = e
                out_clause[written] = c
                written += 1
        probed += len(residual)
        verified += len(residual)
        for k in range(a, b):
            cell[dimension[k]] = 0
        if full:
            work[0] += probed
            work[1] += verified
            return e, mark
    work[0] += probed
    work[1] += verified
    return count, written
