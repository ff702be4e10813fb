"""Building and searching the postings of ``hybrid``."""

import numpy as np
from numba import njit

from tamis.index._kernels import holds_general, holds_plain

NONE = -1


@njit(cache=True, nogil=True)
def best_three(unit_start, share, usable, access, inline, second):
    """Per clause the usable condition with the least share and the two next ones (or NONE)."""
    for c in range(len(unit_start) - 1):
        one, two, three = NONE, NONE, NONE
        for u in range(unit_start[c], unit_start[c + 1]):
            if not usable[u]:
                continue
            if one == NONE or share[u] < share[one]:
                one, two, three = u, one, two
            elif two == NONE or share[u] < share[two]:
                two, three = u, two
            elif three == NONE or share[u] < share[three]:
                three = u
        access[c], inline[c], second[c] = one, two, three


@njit(cache=True, nogil=True)
def level_for(lo, hi, most, level):
    """The lowest level from ``level`` up at which the range lo..hi touches at most ``most`` blocks."""
    while (hi >> level) - (lo >> level) + 1 > most:
        level += 1
    return level


@njit(cache=True, nogil=True)
def choose_levels(
    access, lo, hi, set_at, set_count, set_lo, set_hi, bottom, top, crowded, dimension, most, level, count
):
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
def sort_postings(start, lists, list_start, owner):
    """Distribute postings to their lists: ``owner`` receives the clauses of every list in order.

    ``list_start`` holds, one place up, how many postings each list has; it ends as the lists' starts.
    """
    for n in range(1, len(list_start)):
        list_start[n] += list_start[n - 1]
    fill = list_start[:-1].copy()
    for c in range(len(start) - 1):
        for i in range(start[c], start[c + 1]):
            owner[fill[lists[i]]] = c
            fill[lists[i]] += 1


@njit(cache=True, nogil=True)
def order_for_checks(clause_order, start, unit_of, access, inline, second, share, out):
    """New order of all literals: undecided ones by share, then those looked at before."""
    at = 0
    for n in range(len(clause_order)):
        c = clause_order[n]
        begin = at
        for i in range(start[c], start[c + 1]):
            out[at] = i
            at += 1
        for i in range(begin + 1, at):
            literal = out[i]
            unit = unit_of[literal]
            late = unit == access[c] or unit == inline[c] or unit == second[c]
            j = i - 1
            while j >= begin:
                other = out[j]
                unit = unit_of[other]
                other_late = unit == access[c] or unit == inline[c] or unit == second[c]
                if (other_late == late and share[other] <= share[literal]) or (late and not other_late):
                    break
                out[j + 1] = other
                j -= 1
            out[j + 1] = literal


@njit(cache=True, nogil=True)
def filter_runs(visits, visit_count, inline, bits, table, hits):
    """Postings of all visited lists whose inline condition the event satisfies. No branches.

    An inline record is (dimension, lowest cell, width) in ``bits[0]``, ``bits[1]`` and the rest of a
    word; cells in records and in ``table`` are rounded alike, which can only let more pass.
    """
    dimension_mask = (np.uint64(1) << np.uint64(bits[0])) - np.uint64(1)
    cell_mask = (np.uint64(1) << np.uint64(bits[1])) - np.uint64(1)
    low_at = np.uint64(bits[0])
    span_at = np.uint64(bits[0] + bits[1])
    count = np.uint64(0)
    for v in range(visit_count):
        i = np.uint64(visits[2 * v])
        end = np.uint64(visits[2 * v + 1])
        while i < end:
            hits[count] = i
            record = np.uint64(inline[i])
            distance = np.uint64(table[record & dimension_mask]) - ((record >> low_at) & cell_mask)
            count += np.uint64(distance <= (record >> span_at))
            i += np.uint64(1)
    return np.int64(count)


@njit(cache=True, nogil=True)
def filter_hits(hits, hit_count, inline, bits, table):
    """The hits, moved to the front, that also satisfy a further inline condition."""
    dimension_mask = (np.uint64(1) << np.uint64(bits[0])) - np.uint64(1)
    cell_mask = (np.uint64(1) << np.uint64(bits[1])) - np.uint64(1)
    low_at = np.uint64(bits[0])
    span_at = np.uint64(bits[0] + bits[1])
    count = np.uint64(0)
    for h in range(np.uint64(hit_count)):
        i = np.uint64(hits[h])
        hits[count] = i
        record = np.uint64(inline[i])
        distance = np.uint64(table[record & dimension_mask]) - ((record >> low_at) & cell_mask)
        count += np.uint64(distance <= (record >> span_at))
    return np.int64(count)


@njit(cache=True, nogil=True)
def collect_visits(a, b, dimension, lo, level_start, level_shift, level_base, list_start, visits):
    """Begin and end of every list that a plain event visits; returns (lists, postings).

    Loops of their own for each array keep many loads under way at once.
    """
    count = kept = probed = np.int64(0)
    for k in range(a, b):
        d = dimension[k]
        for n in range(np.int64(level_start[d]), np.int64(level_start[d + 1])):
            visits[2 * count] = np.int64(level_base[n]) + (np.int64(lo[k]) >> np.int64(level_shift[n]))
            count += 1
    for v in range(count):
        at = visits[2 * v]
        begin, end = np.int64(list_start[at]), np.int64(list_start[at + 1])
        visits[2 * kept] = begin
        visits[2 * kept + 1] = end
        kept += end > begin
        probed += end - begin
    return kept, probed


@njit(cache=True, nogil=True)
def match_events(
    begin,
    count,
    event_start,
    dimension,
    lo,
    hi,
    multi,
    cell,
    table,
    visits,
    hits,
    words32,
    words,
    inlines,
    place,
    out_event,
    out_clause,
    work,
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
    residual = words32[place[18] : place[19]]
    hull = words32[place[20] : place[21]]
    rounding = words32[place[22] : place[23]]
    bits = words32[place[24] : place[25]]
    inline = inlines[place[26] : place[27]]
    second = inlines[place[28] : place[29]]
    room = len(out_event)
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        mark = written
        if multi[e]:
            written = match_general(
                e,
                a,
                b,
                dimension,
                lo,
                hi,
                cell,
                start,
                literal,
                set_lo,
                set_hi,
                level_start,
                level_shift,
                level_base,
                list_start,
                posting,
                residual,
                hull,
                out_event,
                out_clause,
                written,
                work,
            )
            if written < 0:
                return e, mark
            continue
        for k in range(a, b):
            d = dimension[k]
            cell[d] = lo[k]
            table[d] = np.uint32(lo[k]) >> rounding[d]
        lists, probed = collect_visits(
            a, b, dimension, lo, level_start, level_shift, level_base, list_start, visits
        )
        found = filter_runs(visits, lists, inline, bits, table, hits)
        found = filter_hits(hits, found, second, bits, table)
        for h in range(found):
            hits[h] = posting[hits[h]]
        full = False
        for h in range(found):
            c = hits[h]
            if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                if written == room:
                    full = True
                    break
                out_event[written] = e
                out_clause[written] = c
                written += 1
        for i in range(len(residual)):
            c = residual[i]
            if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                if written == room:
                    full = True
                    break
                out_event[written] = e
                out_clause[written] = c
                written += 1
        work[0] += probed + len(residual)
        work[1] += found + len(residual)
        for k in range(a, b):
            cell[dimension[k]] = 0
            table[dimension[k]] = 0
        if full:
            return e, mark
    return count, written


@njit(cache=True, nogil=True)
def match_general(
    e,
    a,
    b,
    dimension,
    lo,
    hi,
    first,
    start,
    literal,
    set_lo,
    set_hi,
    level_start,
    level_shift,
    level_base,
    list_start,
    posting,
    residual,
    hull,
    out_event,
    out_clause,
    written,
    work,
):
    """Match one event with several or wide entries; returns the pairs written, -1 if there is no room."""
    room = len(out_event)
    full = False
    for k in range(b - 1, a - 1, -1):
        first[dimension[k]] = k + 1
    for k in range(a, b):
        d = dimension[k]
        low, high = np.int64(lo[k]), np.int64(hi[k])
        if hull[d]:
            # Conditions on this dimension were joined: visit all cells between its extremes, once.
            if k > a and dimension[k - 1] == d:
                continue
            for j in range(k, b):
                if dimension[j] == d:
                    low, high = min(low, np.int64(lo[j])), max(high, np.int64(hi[j]))
        for n in range(np.int64(level_start[d]), np.int64(level_start[d + 1])):
            shift, base = np.int64(level_shift[n]), np.int64(level_base[n])
            for at in range(base + (low >> shift), base + (high >> shift) + 1):
                for i in range(np.int64(list_start[at]), np.int64(list_start[at + 1])):
                    c = posting[i]
                    work[0] += 1
                    work[1] += 1
                    if holds_general(
                        literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi
                    ):
                        if written == room:
                            full = True
                            break
                        out_event[written] = e
                        out_clause[written] = c
                        written += 1
    for i in range(len(residual)):
        c = residual[i]
        work[0] += 1
        work[1] += 1
        if holds_general(literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi):
            if written == room:
                full = True
                break
            out_event[written] = e
            out_clause[written] = c
            written += 1
    for k in range(a, b):
        first[dimension[k]] = 0
    return -1 if full else written
