"""The loop of ``scan``: all clauses, one after the other."""

from numba import njit

from tamis.index._kernels import holds_general, holds_plain


@njit(cache=True, nogil=True)
def scan_events(
    begin,
    count,
    event_start,
    dimension,
    lo,
    hi,
    multi,
    cell,
    start,
    literal,
    set_lo,
    set_hi,
    out_event,
    out_clause,
):
    """Match events from ``begin``; returns (events done, pairs written). Stops before ``out`` overflows."""
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        mark = written
        for k in range(b - 1, a - 1, -1):
            cell[dimension[k]] = k + 1 if multi[e] else lo[k]
        full = False
        for c in range(len(start) - 1):
            if multi[e]:
                ok = holds_general(
                    literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                ok = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
            if ok:
                if written == len(out_event):
                    full = True
                    break
                out_event[written] = e
                out_clause[written] = c
                written += 1
        for k in range(a, b):
            cell[dimension[k]] = 0
        if full:
            return e, mark
    return count, written
