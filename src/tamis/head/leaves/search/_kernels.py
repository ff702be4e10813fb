"""Search the lists that an event visits; ``leaves/_kernels.py`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import holds_general
from tamis.head.check._kernels import holds, holds_doubtful
from tamis.head.leaves._kernels import (
    ABSENT,
    BEGIN,
    COUNT,
    DIM_BITS,
    DIM_WIDTH,
    FIRST_LEAF,
    FIRST_LIST,
    HALF,
    KEY,
    LEAVES,
    LIST_WIDTH,
    NEXT,
    SEED,
    leaf_of,
    list_of,
)
from tamis.kernel import kernel


@kernel(inline="always")
def passes(condition, leaf):
    """Return 1 if the leaves of a plain event satisfy a condition, else 0."""
    value = np.int64(leaf[condition & ((1 << DIM_BITS) - 1)])
    return np.int64((value >= (condition >> DIM_BITS) & 63) & (value <= (condition >> 26) & 63))


@kernel
def enter_event(a, b, dimension, lo, cell, leaf, table, mask, leaves, dims, seed, visits):
    """Fill the tables of a plain event, and write the lists that it visits; return their number."""
    visits[0] = 0
    count = np.int64(1)
    for k in range(a, b):
        d = np.int64(dimension[k])
        cell[d] = lo[k]
        leaf[d] = 1
        if DIM_WIDTH * d >= len(dims):  # newer than this snapshot
            continue
        at = list_of(table, mask, d, lo[k], seed)
        visits[count] = at
        count += at >= 0
        number, first = dims[DIM_WIDTH * d + LEAVES], dims[DIM_WIDTH * d + FIRST_LEAF]
        if number > 0:
            found = leaf_of(leaves, first, number, lo[k])
            leaf[d] = found - first + 1
            visits[count] = leaves[2 * found + 1]
            count += 1
    return count


@kernel
def bounds(visits, count, lists, begins):
    """Replace lists by the ends of their runs, write their begins; return (runs, postings)."""
    kept, total = np.int64(0), np.int64(0)
    for v in range(count):
        row = LIST_WIDTH * visits[v]
        begin, number = lists[row + BEGIN], lists[row + COUNT]
        begins[kept], visits[kept] = begin, begin + number
        kept += number > 0
        total += number
    return kept, total


@kernel
def touch(begins, ends, runs, postings, work):
    """Read the ends of every run, so that all of them are fetched at once; see ``touch_runs`` of postings."""
    seen = np.int64(0)
    for r in range(runs):
        seen ^= postings[2 * begins[r]] ^ postings[2 * ends[r] - 1]
    work[4] = seen


@kernel
def general_visits(a, b, dimension, lo, hi, table, mask, lists, leaves, dims, seed, visits):
    """Write the lists that an event with several or wide entries visits; return their number, or -1.

    Two values on either side of a range may satisfy two conditions that were joined, so all leaves between
    the first and the last value of a dimension are visited. The result is -1 if there is no room.
    """
    visits[0] = 0
    count = np.int64(1)
    for k in range(a, b):
        d = np.int64(dimension[k])
        if DIM_WIDTH * d >= len(dims):
            continue
        if lo[k] == hi[k]:
            at = list_of(table, mask, d, lo[k], seed)
            if at >= 0:
                if count == len(visits):
                    return np.int64(-1)
                visits[count] = at
                count += 1
        else:
            at = dims[DIM_WIDTH * d + FIRST_LIST]
            while at >= 0:
                if lo[k] <= lists[LIST_WIDTH * at + KEY] <= hi[k]:
                    if count == len(visits):
                        return np.int64(-1)
                    visits[count] = at
                    count += 1
                at = lists[LIST_WIDTH * at + NEXT]
        number = dims[DIM_WIDTH * d + LEAVES]
        if number == 0 or (k > a and dimension[k - 1] == dimension[k]):
            continue
        last = k
        while last + 1 < b and dimension[last + 1] == dimension[k]:
            last += 1
        first = dims[DIM_WIDTH * d + FIRST_LEAF]
        for leaf in range(
            leaf_of(leaves, first, number, lo[k]), leaf_of(leaves, first, number, hi[last]) + 1
        ):
            if count == len(visits):
                return np.int64(-1)
            visits[count] = leaves[2 * leaf + 1]
            count += 1
    return count


@kernel
def match_general(
    e, a, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, table, lists, postings, leaves, dims,
    meta, visits, posted, known, out_event, out_clause, written, work,
):  # fmt: skip
    """Match one event with several or wide entries; return the pairs written, -1 if there is no room.

    The clauses posted:known are in no list yet.
    """
    mask = np.int64(len(table) // 3 - 1)
    count = general_visits(a, b, dimension, lo, hi, table, mask, lists, leaves, dims, meta[SEED], visits)
    if count < 0:
        work[2] = -1
        return np.int64(-1)
    for k in range(b - 1, a - 1, -1):
        first[dimension[k]] = k + 1
    doubtful = first[0] != 0
    work[3] += count
    for v in range(count + 1):
        row = LIST_WIDTH * visits[min(v, count - 1)]
        begin, number = (lists[row + BEGIN], lists[row + COUNT]) if v < count else (posted, known - posted)
        for i in range(begin, begin + number):
            c = postings[2 * i] & HALF if v < count else i
            work[0] += 1
            work[1] += 1
            if doubtful:
                true = holds_doubtful(
                    literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                true = holds_general(
                    literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi
                )
            if true:
                if written == len(out_event):
                    for k in range(a, b):
                        first[dimension[k]] = 0
                    return np.int64(-1)
                out_event[written], out_clause[written] = e, c
                written += 1
    for k in range(a, b):
        first[dimension[k]] = 0
    return written


@kernel
def filter_runs(begins, ends, runs, postings, leaf, hits):
    """Collect the visited postings whose first condition holds. No branches."""
    found = np.int64(0)
    for r in range(runs):
        for i in range(begins[r], ends[r]):
            hits[found] = i
            found += passes(postings[2 * i] >> 32, leaf)
    return found


@kernel
def filter_hits(hits, count, postings, leaf):
    """Keep the hits whose other conditions hold, and replace them by their clauses; return their number."""
    found = np.int64(0)
    for h in range(count):
        one, two = postings[2 * hits[h]], postings[2 * hits[h] + 1]
        hits[found] = one & HALF
        found += passes(two & HALF, leaf) & passes(two >> 32, leaf)
    return found


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, leaf, first, visits, begins, hits, start,
    literal, set_lo, set_hi, table, lists, postings, leaves, dims, meta, posted, known, out_event, out_clause,
    work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    The clauses posted:known are in no list yet; all of them are checked. Stop before ``out`` overflows. If
    ``hits`` would overflow, stop and write the necessary room to ``work[2]``; -1 asks for more visits.
    """
    mask = np.int64(len(table) // 3 - 1)
    written = np.int64(0)
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        if multi[e]:
            done = match_general(
                e, a, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, table, lists, postings,
                leaves, dims, meta, visits, posted, known, out_event, out_clause, written, work,
            )  # fmt: skip
            if done < 0:
                return e, _of_event(out_event, written, e)
            written = done
            continue
        lists_met = enter_event(
            a, b, dimension, lo, cell, leaf, table, mask, leaves, dims, meta[SEED], visits
        )
        runs, total = bounds(visits, lists_met, lists, begins)
        full = total > len(hits)
        if full:
            work[2] = total
        else:
            touch(begins, visits, runs, postings, work)
            found = filter_runs(begins, visits, runs, postings, leaf, hits)
            found = filter_hits(hits, found, postings, leaf)
            full = written + found + known - posted > len(out_event)
        if not full:
            work[0] += total + known - posted
            work[1] += found + known - posted
            work[3] += lists_met
            for h in range(found + known - posted):
                c = hits[h] if h < found else posted + h - found
                out_event[written], out_clause[written] = e, c
                written += np.int64(holds(literal, start[c], start[c + 1], cell, set_lo, set_hi))
        for k in range(a, b):
            cell[dimension[k]] = ABSENT
            leaf[dimension[k]] = 0
        if full:
            return e, written
    return count, written


@kernel
def _of_event(out_event, written, e):
    """Return the pairs written before event ``e``, which is matched again."""
    while written > 0 and out_event[written - 1] == e:
        written -= 1
    return written
