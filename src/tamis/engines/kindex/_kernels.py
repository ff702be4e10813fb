"""Count the postings that an event meets: the loops of ``kindex``. ``build.py`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import ABSENT_OK, MANY, NEGATIVE, holds_general, holds_plain
from tamis.kernel import kernel

DENIED = 1 << 15  # in a counter: a NOT of the clause is violated; targets are smaller


@kernel
def put(at, clause, fill, place, out):
    """Put one posting into the list ``at``; without ``fill`` only count it."""
    if fill:
        out[place[at]] = clause
    place[at] += 1


@kernel
def put_ranges(literal, row, first, clause, fill, set_lo, set_hi, place, out):
    """Put a posting into the list of every cell that a literal names."""
    if not literal[row + 1] & MANY:
        for cell in range(np.int64(literal[row + 2]), np.int64(literal[row + 3]) + 1):
            put(first + cell, clause, fill, place, out)
        return
    at = np.int64(literal[row + 2])
    for n in range(at, at + np.int64(literal[row + 3])):
        for cell in range(np.int64(set_lo[n]), np.int64(set_hi[n]) + 1):
            put(first + cell, clause, fill, place, out)


@kernel
def post_clauses(start, literal, set_lo, set_hi, narrow, base, fill, asked, asked_out, denied, denied_out):
    """Enumerate all literals into the lists of their cells.

    A literal under ``ABSENT_OK`` alone is left to the check. One that is not ``narrow`` is posted in the list
    of cell 0, which every present value visits.
    """
    for c in range(len(start) - 1):
        for at in range(np.int64(start[c]), np.int64(start[c + 1])):
            row = 4 * at
            flags, first = literal[row + 1], base[literal[row]]
            if flags & NEGATIVE:
                if narrow[at]:
                    put_ranges(literal, row, first, c, fill, set_lo, set_hi, denied, denied_out)
                if not flags & ABSENT_OK:
                    put(first, c, fill, asked, asked_out)
            elif not flags & ABSENT_OK:
                if narrow[at]:
                    put_ranges(literal, row, first, c, fill, set_lo, set_hi, asked, asked_out)
                else:
                    put(first, c, fill, asked, asked_out)


@kernel
def deny(begin, end, denied, limit, counter, work):
    """Mark the clauses of one list as violated."""
    for i in range(np.int64(begin), np.int64(end)):
        c = denied[i]
        if c >= limit:
            break
        work[0] += 1
        counter[c] = DENIED


@kernel
def count(begin, end, asked, limit, target, counter, hits, found, work):
    """Count up the clauses of one list; those that reach their target become hits."""
    i = np.int64(begin)
    room = len(hits)  # exceeded only if a file was forged
    while i < end and asked[i] < limit and found < room:
        c = asked[i]
        reached = counter[c] + np.uint16(1)
        counter[c] = reached
        hits[found] = c
        found += reached == target[c]
        i += 1
    work[0] += i - np.int64(begin)
    return found


@kernel
def touch(begin, end, asked, limit, counter, hits, found, work):
    """Add the clauses of one list that no earlier list had to the hits."""
    i = np.int64(begin)
    while i < end and asked[i] < limit:
        c = asked[i]
        hits[found] = c
        found += counter[c] == 0
        counter[c] = 1
        i += 1
    work[0] += i - np.int64(begin)
    return found


@kernel
def hits_plain(a, b, dimension, lo, base, asked_start, asked, denied_start, denied, limit, target, counter,
               hits, work):  # fmt: skip
    """Collect the clauses whose count is complete and that no NOT denies."""
    counter[:limit] = 0
    for k in range(a, b):
        at = base[dimension[k]] + lo[k]
        deny(denied_start[at], denied_start[at + 1], denied, limit, counter, work)
    found = 0
    for k in range(a, b):
        first = base[dimension[k]]
        for at in (first, first + lo[k]):
            found = count(
                asked_start[at], asked_start[at + 1], asked, limit, target, counter, hits, found, work
            )
    work[2] += 3 * (b - a)
    return found


@kernel
def hits_general(a, b, dimension, lo, hi, base, asked_start, asked, limit, counter, hits, work):
    """Collect the clauses that the event touches: several values may meet one literal, so do not count."""
    counter[:limit] = 0
    found = 0
    for k in range(a, b):
        first = base[dimension[k]]
        if k == a or dimension[k - 1] != dimension[k]:
            found = touch(
                asked_start[first], asked_start[first + 1], asked, limit, counter, hits, found, work
            )
            work[2] += 1
        # The lists of neighbouring cells stand side by side, but each is sorted on its own.
        for at in range(first + lo[k], first + hi[k] + 1):
            begin, end = asked_start[at], asked_start[at + 1]
            found = touch(begin, end, asked, limit, counter, hits, found, work)
            work[2] += 1
    return found


@kernel
def distinct(a, b, dimension, multi):
    """Return the number of attributes of the event."""
    if not multi:
        return b - a
    size = 0
    for k in range(a, b):
        size += k == a or dimension[k - 1] != dimension[k]
    return size


@kernel
def match_events(begin, events, event_start, dimension, lo, hi, multi, cell, counter, hits, start, literal,
                 set_lo, set_hi, base, size_start, target, doubtful, asked_start, asked, denied_start, denied,
                 out_event, out_clause, work):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written). Stop before ``out`` overflows."""
    written = 0
    residual = np.int64(size_start[1])
    for e in range(begin, events):
        a, b = event_start[e], event_start[e + 1]
        size = min(distinct(a, b, dimension, multi[e]), len(size_start) - 2)
        limit = np.int64(size_start[size + 1])
        for k in range(b - 1, a - 1, -1):
            cell[dimension[k]] = k + 1 if multi[e] else lo[k]
        if multi[e]:
            found = hits_general(
                a, b, dimension, lo, hi, base, asked_start, asked, limit, counter, hits, work)  # fmt: skip
        else:
            found = hits_plain(
                a, b, dimension, lo, base, asked_start, asked, denied_start, denied, limit, target, counter,
                hits, work)  # fmt: skip
        mark = written
        for h in range(found + residual):
            c = np.int64(hits[h]) if h < found else h - found
            if multi[e] or doubtful[c]:
                work[1] += 1
                if multi[e]:
                    holds = holds_general(
                        literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                    )
                else:
                    holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
                if not holds:
                    continue
            if written < len(out_event):
                out_event[written] = e
                out_clause[written] = c
            written += 1
        work[0] += residual
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written > len(out_event):
            return e, mark
    return events, written
