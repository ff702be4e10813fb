"""Search postings: from the lists that an event visits to the clauses that may hold."""

import numpy as np

from tamis.engines._kernels import holds_general
from tamis.engines.postings.layout._kernels import triangle
from tamis.kernel import kernel

CLAUSE = 0x7FFFFFFF  # of a posting; the bit above says that list and inline records decide the clause
TOUCHED = 4  # the place in ``work`` that receives the words touch_runs has read


@kernel
def more_levels(a, b, dimension, lo, heads, levels, visits, count):
    """Add the lists of further levels for dimensions that have several."""
    for k in range(a, b):
        d = np.int64(dimension[k])
        n = np.int64(heads[4 * d]) & 255
        for at in range(np.int64(heads[4 * d + 2]) + 1, np.int64(heads[4 * d + 2]) + n):
            visits[count] = np.int64(levels[2 * at + 1]) + (np.int64(lo[k]) >> np.int64(levels[2 * at]))
            count += 1
    return count


@kernel
def bounds(visits, count, list_start, begins, ends):
    """Write begin and end of every visited list that is not empty; return (lists, postings)."""
    kept, probed = np.int64(0), np.int64(0)
    for v in range(count):
        at = visits[v]
        begin, end = np.int64(list_start[at]), np.int64(list_start[at + 1])
        begins[kept] = begin
        ends[kept] = end
        kept += end > begin
        probed += end - begin
    return kept, probed


@kernel
def touch_runs(begins, ends, runs, words, work):
    """Read the first and last word of every run, so that all of them are fetched at once.

    The lists of an event lie scattered over memory. A loop that also filters has room for a few of them in
    the processor's queues; a loop that does nothing else has room for dozens. The kernel must store the words
    it reads, or the compiler removes the loop.
    """
    seen = np.uint64(0)
    for r in range(runs):
        seen ^= np.uint64(words[begins[r]]) ^ np.uint64(words[ends[r] - 1])
    work[TOUCHED] = np.int64(seen >> np.uint64(1))


@kernel(inline="always")
def satisfied(record, dimension_bits, cell_bits, table):
    """Return 1 if the event in ``table`` satisfies a record (dimension, lowest cell, width), else 0.

    Cells in records and in ``table`` are rounded alike, which can only let more pass.
    """
    dimension = record & ((np.uint64(1) << dimension_bits) - np.uint64(1))
    low = (record >> dimension_bits) & ((np.uint64(1) << cell_bits) - np.uint64(1))
    return np.uint64(np.uint64(table[dimension]) - low <= record >> (dimension_bits + cell_bits))


@kernel
def filter_runs(begins, ends, runs, inline, dimension_bits, cell_bits, table, hits):
    """Collect the postings of all visited lists whose inline condition the event satisfies. No branches."""
    count = np.uint64(0)
    for r in range(runs):
        i, end = np.uint64(begins[r]), np.uint64(ends[r])
        while i < end:
            hits[count] = i
            count += satisfied(np.uint64(inline[i]), dimension_bits, cell_bits, table)
            i += np.uint64(1)
    return np.int64(count)


@kernel
def filter_hits(hits, hit_count, inline, dimension_bits, cell_bits, table):
    """Move the hits that also satisfy a further inline condition to the front; return their number."""
    count = np.uint64(0)
    for h in range(np.uint64(hit_count)):
        i = np.uint64(hits[h])
        hits[count] = i
        count += satisfied(np.uint64(inline[i]), dimension_bits, cell_bits, table)
    return np.int64(count)


@kernel
def check_first(hits, hit_count, posting, start, literal, cell):
    """Replace hits by their clauses, and keep those whose first literal may hold. No branches.

    Only plain ranges are decided here. This also fetches the clauses, which matters as much: loads that do
    not wait for each other hide most of the memory latency.
    """
    for h in range(hit_count):
        hits[h] = posting[hits[h]]
    return first_holds(hits, hit_count, start, literal, cell)


@kernel
def first_holds(hits, hit_count, start, literal, cell):
    """Do the same as ``check_first`` for hits that are already clauses."""
    for h in range(hit_count):
        hits[h] = (np.int64(start[hits[h]]) << 32) | hits[h]
    count = 0
    for h in range(hit_count):
        row = 4 * (hits[h] >> 32)
        value = cell[literal[row]]
        inside = (literal[row + 2] <= value) & (value <= literal[row + 3])
        hits[count] = hits[h] & 0xFFFFFFFF
        count += inside | (literal[row + 1] != 0)
    return count


@kernel
def zones_of(a, b, dimension, lo, hi, cells, heads, hull, zones, width):
    """Mark the zones that an event with several or wide entries touches."""
    marks = np.zeros(width, np.uint8)
    for k in range(a, b):
        d = np.int64(dimension[k])
        slot = np.int64(heads[4 * d + 3]) - 1
        if slot < 0:
            continue
        low, high = reach(k, a, b, dimension, lo, hi, hull)
        if high < low:
            continue
        size = np.int64(cells[d]) + 1
        for zone in range(low * zones // size, high * zones // size + 1):
            marks[slot * zones + zone] = 1
    return np.flatnonzero(marks)


@kernel
def reach(k, a, b, dimension, lo, hi, hull):
    """Return the lowest and highest cell to visit for entry ``k``; (1, 0) if an earlier entry covers it.

    If conditions on the dimension were joined, two values on either side of a clause's range may meet it
    together. Then the first entry visits everything up to the last one.
    """
    low, high = np.int64(lo[k]), np.int64(hi[k])
    if hull[dimension[k]]:
        if k > a and dimension[k - 1] == dimension[k]:
            return np.int64(1), np.int64(0)
        while k + 1 < b and dimension[k + 1] == dimension[k]:
            k += 1
        high = np.int64(hi[k])
    return low, high


@kernel
def match_general(
    e, a, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, cells, heads, levels, list_start,
    posting, residual, hull, zones, width, first_pair, out_event, out_clause, written, work,
):  # fmt: skip
    """Match one event with several or wide entries; return the pairs written, -1 if there is no room."""
    for k in range(b - 1, a - 1, -1):
        first[dimension[k]] = k + 1
    for k in range(a, b):
        d = np.int64(dimension[k])
        low, high = reach(k, a, b, dimension, lo, hi, hull)
        if high < low:
            continue
        # Skip blocks that the previous entry has visited.
        again = k > a and dimension[k - 1] == d
        at = np.int64(heads[4 * d + 2])
        for n in range(at, at + (np.int64(heads[4 * d]) & 255)):
            shift, base = np.int64(levels[2 * n]), np.int64(levels[2 * n + 1])
            begin = max(low >> shift, (np.int64(hi[k - 1]) >> shift) + 1) if again else low >> shift
            for block in range(base + begin, base + (high >> shift) + 1):
                work[3] += 1
                written = check_run(
                    e, list_start[block], list_start[block + 1], posting, b, dimension, lo, hi, first,
                    start, literal, set_lo, set_hi, out_event, out_clause, written, work,
                )  # fmt: skip
    touched = zones_of(a, b, dimension, lo, hi, cells, heads, hull, zones, width)
    for i in range(len(touched)):
        for j in range(i + 1, len(touched)):
            block = first_pair + triangle(touched[i], touched[j], width)
            work[3] += 1
            written = check_run(
                e, list_start[block], list_start[block + 1], posting, b, dimension, lo, hi, first, start,
                literal, set_lo, set_hi, out_event, out_clause, written, work,
            )  # fmt: skip
    written = check_run(
        e, 0, len(residual), residual, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, out_event,
        out_clause, written, work,
    )  # fmt: skip
    for k in range(a, b):
        first[dimension[k]] = 0
    return written


@kernel
def check_run(
    e, begin, end, posting, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, out_event,
    out_clause, written, work,
):  # fmt: skip
    """Check the clauses of one list; return the pairs written. Pass -1 on; -1 means no room."""
    if written < 0:
        return written
    for i in range(np.int64(begin), np.int64(end)):
        c = posting[i] & CLAUSE
        work[0] += 1
        work[1] += 1
        if holds_general(literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi):
            if written == len(out_event):
                return np.int64(-1)
            out_event[written] = e
            out_clause[written] = c
            written += 1
    return written
