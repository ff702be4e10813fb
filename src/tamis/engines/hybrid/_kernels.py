"""Search the postings of ``hybrid``. ``layout.py`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import rest_holds
from tamis.engines.postings._kernels import (
    CLAUSE,
    bounds,
    filter_hits,
    filter_runs,
    first_holds,
    match_general,
    more_levels,
    satisfied,
    touch_runs,
)
from tamis.engines.postings.layout._kernels import triangle
from tamis.kernel import kernel


@kernel
def enter_event(a, b, dimension, lo, heads, cell, table, visits, zones, cells):
    """Fill the tables of a plain event; write the lists it visits and, from the end, its zones.

    Return the number of each. A separate loop for each array keeps many loads under way at once.
    """
    lists, pairs = np.int64(0), np.int64(0)
    last = len(visits) - 1
    for k in range(a, b):
        d = np.int64(dimension[k])
        value = np.int64(lo[k])
        packed = np.int64(heads[4 * d])
        cell[d] = value
        table[d] = value >> ((packed >> 8) & 255)
        levels = packed & 255
        if levels > 0:
            visits[lists] = np.int64(heads[4 * d + 1]) + (value >> (packed >> 16))
            lists += 1
        slot = np.int64(heads[4 * d + 3]) - 1
        if slot >= 0:
            # The zones of a dimension divide its cells (and absence) evenly.
            visits[last - pairs] = slot * zones + value * zones // (np.int64(cells[d]) + 1)
            pairs += 1
    return lists, pairs


@kernel
def pair_lists(visits, pairs, width, first_pair, count):
    """Add the lists of all pairs of zones, which stand at the end of ``visits`` in any order."""
    last = len(visits) - 1
    for i in range(pairs):
        one = visits[last - i]
        for j in range(i + 1, pairs):
            two = visits[last - j]
            visits[count] = first_pair + triangle(min(one, two), max(one, two), width)
            count += 1
    return count


@kernel
def filter_rows(hits, hit_count, rows, stride, dimension_bits, cell_bits, table):
    """Move the hits that satisfy the records in their rows to the front; return their number.

    The first record is checked alone, which fetches the row, then the others.
    """
    count = filter_hits(hits, hit_count, rows[1::stride], dimension_bits, cell_bits, table)
    if stride == 2:
        return count
    kept = np.int64(0)
    for h in range(count):
        i = np.uint64(hits[h]) * np.uint64(stride)
        true = np.uint64(1)
        for n in range(np.uint64(2), np.uint64(stride)):
            true &= satisfied(np.uint64(rows[i + n]), dimension_bits, cell_bits, table)
        hits[kept] = hits[h]
        kept += np.int64(true)
    return kept


@kernel
def take_decided(hits, hit_count, posting, out_clause, written):
    """Write the decided clauses; return their end and the number of other hits, which are now clauses."""
    left = np.int64(0)
    for h in range(hit_count):
        packed = np.int64(posting[hits[h]])
        decided = (packed >> 31) & 1
        out_clause[written] = hits[left] = packed & CLAUSE
        written += decided
        left += 1 - decided
    return written, left


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
    residual = words32[place[16] : place[17]]
    hull = words32[place[18] : place[19]]
    layout = words32[place[20] : place[21]]
    until = words32[place[22] : place[23]]
    inline = inlines[place[24] : place[25]]
    rows = inlines[place[26] : place[27]]
    stride = np.int64(layout[6])
    posting = rows[0::stride]
    dimension_bits, cell_bits = np.uint64(layout[0]), np.uint64(layout[1])
    zones, width, first_pair = np.int64(layout[2]), np.int64(layout[3]), np.int64(layout[4])
    several = layout[5] > 1
    room = len(out_event)
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        mark = written
        if multi[e]:
            written = match_general(
                e, a, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, cells, heads, levels,
                list_start, posting, residual, hull, zones, width, first_pair, out_event, out_clause,
                written, work, )  # fmt: skip
            if written < 0:
                return e, mark
            continue
        lists, pairs = enter_event(a, b, dimension, lo, heads, cell, table, visits, zones, cells)
        if several:
            lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
        if pairs > 1:
            lists = pair_lists(visits, pairs, width, first_pair, lists)
        runs, probed = bounds(visits, lists, list_start, begins, ends)
        full = probed > len(hits)
        if full:
            work[2] = probed
        else:
            touch_runs(begins, ends, runs, inline, work)
            found = filter_runs(begins, ends, runs, inline, dimension_bits, cell_bits, table, hits)
            found = filter_rows(hits, found, rows, stride, dimension_bits, cell_bits, table)
            full = written + found + len(residual) > room
        if not full:
            written, left = take_decided(hits, found, posting, out_clause, written)
            left = first_holds(hits, left, start, literal, cell)
            work[0] += probed + len(residual)
            work[1] += left + len(residual)
            work[3] += lists
            for h in range(left + len(residual)):
                c = hits[h] if h < left else np.int64(residual[h - left])
                end = np.int64(until[c]) if h < left else np.int64(start[c + 1])
                if rest_holds(np.int64(start[c]), end, literal, cell, set_lo, set_hi):
                    out_clause[written] = c
                    written += 1
            out_event[mark:written] = e
        for k in range(a, b):
            cell[dimension[k]] = 0
            table[dimension[k]] = 0
        if full:
            return e, mark
    return count, written
