"""Check all clauses, one after the other: the loop of ``scan``."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.kernel import kernel


@kernel
def scan_plain(cell, start, literal, set_lo, set_hi, found):
    """Write the numbers of all clauses that hold for a plain event; return their number.

    Most clauses fail at their first literal, and most literals are plain ranges. That test is written out
    here, since a call per clause would cost several times as much.
    """
    count = 0
    for c in range(len(start) - 1):
        begin, end = np.int64(start[c]), np.int64(start[c + 1])
        if begin < end and literal[4 * begin + 1] == 0:
            value = cell[literal[4 * begin]]
            if value < literal[4 * begin + 2] or value > literal[4 * begin + 3]:
                continue
        if holds_plain(literal, begin, end, cell, set_lo, set_hi):
            found[count] = c
            count += 1
    return count


@kernel
def scan_general(first, last, dimension, lo, hi, start, literal, set_lo, set_hi, found):
    """Do the same as ``scan_plain`` for an event with several or wide entries."""
    count = 0
    for c in range(len(start) - 1):
        if holds_general(literal, start[c], start[c + 1], first, last, dimension, lo, hi, set_lo, set_hi):
            found[count] = c
            count += 1
    return count


@kernel
def scan_events(
    begin,
    count,
    event_start,
    dimension,
    lo,
    hi,
    multi,
    cell,
    found,
    start,
    literal,
    set_lo,
    set_hi,
    out_event,
    out_clause,
):
    """Match events from ``begin``; return (events done, pairs written). Stop before ``out`` overflows."""
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        for k in range(b - 1, a - 1, -1):
            cell[dimension[k]] = k + 1 if multi[e] else lo[k]
        if multi[e]:
            hits = scan_general(cell, b, dimension, lo, hi, start, literal, set_lo, set_hi, found)
        else:
            hits = scan_plain(cell, start, literal, set_lo, set_hi, found)
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written + hits > len(out_event):
            return e, written
        for h in range(hits):
            out_event[written + h] = e
            out_clause[written + h] = found[h]
        written += hits
    return count, written
