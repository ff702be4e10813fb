"""Search the leaves of ``pstbloom``, and compute the signatures."""

import numpy as np

from tamis.engines._kernels import holds_plain
from tamis.engines.postings._kernels import bounds, check_first, match_general, more_levels, touch_runs
from tamis.kernel import kernel


@kernel(inline="always")
def signature_bit(dimension, space):
    """Return the bit of a dimension's space in a signature of 64 bits."""
    mixed = np.uint64(dimension) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(space)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.uint64(1) << (mixed >> np.uint64(58))


@kernel
def sign_clauses(unit_start, dimension, lo, hi, usable, access, grain, signature):
    """Compute the signature of each clause: a bit for every predicate beside the access predicate.

    A predicate whose leaves lie in several signature spaces has no bit that every matching event has.
    """
    for c in range(len(access)):
        bits = np.uint64(0)
        for u in range(unit_start[c], unit_start[c + 1]):
            d = dimension[u]
            if usable[u] and u != access[c] and lo[u] >> grain[d] == hi[u] >> grain[d]:
                bits |= signature_bit(d, lo[u] >> grain[d])
        signature[c] = bits


@kernel
def count_fitting(dimension, lo, hi, usable, fitting, total):
    """Count per dimension and grain the predicates that lie in one signature space of that grain."""
    for u in range(len(dimension)):
        if not usable[u]:
            continue
        d = dimension[u]
        total[d] += 1
        for grain in range(fitting.shape[1]):
            fitting[d, grain] += lo[u] >> grain == hi[u] >> grain


@kernel
def enter_event(a, b, dimension, lo, heads, cell, visits):
    """Fill the table of a plain event, write the leaves it visits; return their number and its signature."""
    lists, signature = np.int64(0), np.uint64(0)
    for k in range(a, b):
        d = np.int64(dimension[k])
        value = np.int64(lo[k])
        packed = np.int64(heads[4 * d])
        cell[d] = value
        signature |= signature_bit(d, value >> ((packed >> 8) & 255))
        visits[lists] = np.int64(heads[4 * d + 1]) + (value >> (packed >> 16))
        lists += (packed & 255) > 0
    return lists, signature


@kernel
def filter_signatures(begins, ends, runs, signature, event, hits):
    """Collect the postings of all visited leaves whose signature the event's contains. No branches."""
    count = np.uint64(0)
    for r in range(runs):
        i, end = np.uint64(begins[r]), np.uint64(ends[r])
        while i < end:
            hits[count] = i
            count += np.uint64(signature[i] & ~event == np.uint64(0))
            i += np.uint64(1)
    return np.int64(count)


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, table, visits, begins, ends, hits, words32,
    words, words64, place, out_event, out_clause, work,
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
    several = words32[place[22] + 5] > 1
    signature = words64[place[24] : place[25]]
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
            if written < 0:
                return e, mark
            continue
        lists, event = enter_event(a, b, dimension, lo, heads, cell, visits)
        if several:
            lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
        runs, probed = bounds(visits, lists, list_start, begins, ends)
        full = False
        if probed > len(hits):
            work[2] = probed
            full = True
        else:
            touch_runs(begins, ends, runs, signature, work)
            found = filter_signatures(begins, ends, runs, signature, event, hits)
            found = check_first(hits, found, posting, start, literal, cell)
            work[0] += probed + len(residual)
            work[1] += found + len(residual)
            work[3] += lists
            for h in range(found + len(residual)):
                c = hits[h] if h < found else np.int64(residual[h - found])
                if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                    if written == room:
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
