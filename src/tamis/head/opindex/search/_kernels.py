"""Match events with the predicate lists of the head (Algorithm 2); ``opindex/_kernels.py`` describes them."""

import numpy as np

from tamis.engines._kernels import holds_general
from tamis.head.check._kernels import holds, holds_doubtful
from tamis.head.keys import ABSENT
from tamis.head.opindex._kernels import (
    BEGIN,
    COUNT,
    DIM_WIDTH,
    FIRST_CLAUSE,
    GE,
    LE,
    LIST_WIDTH,
    OPERATORS,
    PARTITION,
    RECORD,
    RESIDUAL,
    SIGNATURE,
    list_at,
    lower_bound,
    signature_bit,
)
from tamis.kernel import kernel

LOWEST, HIGHEST = np.int64(-(2**63)), np.int64(2**63 - 1)


@kernel
def chain(c, after, hits, found):
    """Append a chain of clauses to the hits; return their number."""
    while c >= 0:
        hits[found] = c
        found += 1
        c = after[c]
    return found


@kernel
def count_list(row, lists, records, d, low, high, needed, counter, touched, marked, hits, found, work):
    """Count the predicates of a list on ``d`` from ``low`` to ``high``; return (clauses touched, hits)."""
    end = lists[row + BEGIN] + lists[row + COUNT]
    at = lower_bound(records, lists[row + BEGIN], end, d, low)
    while at < end and records[RECORD * at] == d and records[RECORD * at + 1] <= high:
        c = records[RECORD * at + 2]
        touched[marked] = c
        marked += counter[c] == 0
        counter[c] += 1
        hits[found] = c
        found += counter[c] == needed[c]
        at += 1
        work[0] += 1
    return marked, found


@kernel
def count_pivot(
    partition, a, b, dimension, lo, lists, records, needed, counter, touched, marked, hits, found, work
):
    """Count the predicates of a partition that a plain event meets; return (clauses touched, hits)."""
    for k in range(a, b):
        d, key = np.int64(dimension[k]), lo[k]
        for operator in range(OPERATORS):
            row = LIST_WIDTH * list_at(partition, operator, d)
            if lists[row + SIGNATURE] & signature_bit(operator, d, key) == 0:
                continue
            low = LOWEST if operator == GE else key
            high = HIGHEST if operator == LE else key
            work[3] += 1
            marked, found = count_list(
                row, lists, records, d, low, high, needed, counter, touched, marked, hits, found, work
            )
    return marked, found


@kernel
def plain_hits(
    a, b, dimension, lo, dims, lists, records, needed, after, meta, counter, touched, hits, work
):  # fmt: skip
    """Write the clauses to check for a plain event; return their number."""
    found, marked = chain(meta[RESIDUAL], after, hits, np.int64(0)), np.int64(0)
    for k in range(a, b):
        row = DIM_WIDTH * np.int64(dimension[k])
        if row < len(dims) and dims[row + PARTITION] >= 0:
            marked, found = count_pivot(
                dims[row + PARTITION], a, b, dimension, lo, lists, records, needed, counter, touched, marked,
                hits, found, work,
            )  # fmt: skip
    for i in range(marked):
        counter[touched[i]] = 0
    return found


@kernel
def general_hits(a, b, dimension, dims, after, meta, hits):
    """Write the clauses to check for an event with several or wide entries; return their number.

    Counters would count a predicate once for each value that meets it, so all clauses whose pivot the event
    has are checked.
    """
    found = chain(meta[RESIDUAL], after, hits, np.int64(0))
    for k in range(a, b):
        row = DIM_WIDTH * np.int64(dimension[k])
        if (k == a or dimension[k] != dimension[k - 1]) and row < len(dims):
            found = chain(dims[row + FIRST_CLAUSE], after, hits, found)
    return found


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, entry, counter, touched, hits, start, literal,
    set_lo, set_hi, dims, lists, records, needed, after, meta, posted, known, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    The clauses posted:known are in no list yet; all of them are checked. Stop before ``out`` overflows. If
    the scratch memory is too short, ask for more in ``work[2]``.
    """
    written = np.int64(0)
    if posted >= len(counter):
        work[2] = posted + 1
        return begin, written
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        if multi[e]:
            found = general_hits(a, b, dimension, dims, after, meta, hits)
            for k in range(b - 1, a - 1, -1):
                entry[dimension[k]] = k + 1
        else:
            found = plain_hits(
                a, b, dimension, lo, dims, lists, records, needed, after, meta, counter, touched, hits, work
            )
            for k in range(a, b):
                cell[dimension[k]] = lo[k]
        doubtful = entry[0] != 0
        full = written + found + known - posted > len(out_event)
        for h in range(0 if full else found + known - posted):
            c = hits[h] if h < found else posted + h - found
            if doubtful:
                true = holds_doubtful(
                    literal, start[c], start[c + 1], entry, b, dimension, lo, hi, set_lo, set_hi
                )
            elif multi[e]:
                true = holds_general(
                    literal, start[c], start[c + 1], entry, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                true = holds(literal, start[c], start[c + 1], cell, set_lo, set_hi)
            out_event[written], out_clause[written] = e, c
            written += np.int64(true)
        for k in range(a, b):
            cell[dimension[k]], entry[dimension[k]] = ABSENT, 0
        if full:
            return e, written
        work[0] += known - posted
        work[1] += found + known - posted
    return count, written
