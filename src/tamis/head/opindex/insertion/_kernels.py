"""Insert clauses into the predicate lists of the head (Algorithm 1); ``opindex/_kernels.py`` describes them.

A predicate may accept more than its literal: every clause that is found is checked. Literals that deny, that
accept absence, or that list many values are left to this check.
"""

import numpy as np

from tamis.engines._kernels import ABSENT_OK, MANY, NEGATIVE
from tamis.head.keys import FIRST_STRING, FIRST_TIME, GREATEST, LAST_STRING, LAST_TIME
from tamis.head.opindex._kernels import (
    BEGIN,
    COUNT,
    DIM_WIDTH,
    EQ,
    FIRST_CLAUSE,
    FREQUENCY,
    GE,
    LE,
    LIST_WIDTH,
    PARTITION,
    PARTITIONS_USED,
    PER_PARTITION,
    RECORD,
    RECORDS_USED,
    RESIDUAL,
    ROOM,
    SIGNATURE,
    WANTED_RECORDS,
    list_at,
    lower_bound,
    signature_bit,
)
from tamis.kernel import kernel

FEW_VALUES = 16  # a list of at most as many values is one predicate with several records
FIRST_ROOM = 2


@kernel
def is_listed(literal, row, set_lo, set_hi):
    """Return whether a literal accepts a few single keys."""
    first, count = literal[row + 2], literal[row + 3]
    singles = np.int64(0)
    for s in range(first, first + min(count, FEW_VALUES)):
        singles += set_lo[s] == set_hi[s]
    return 0 < count == singles


@kernel
def predicates_of(c, start, literal, set_lo, set_hi, found):
    """Write (dimension, operator, operand) of each record of a clause; return (records, predicates).

    The ends of a whole family of values are no predicates unless the literal has no other.
    """
    count, predicates = np.int64(0), np.int64(0)
    for at in range(start[c], start[c + 1]):
        row = 4 * at
        d, flags, low, high = literal[row], literal[row + 1], literal[row + 2], literal[row + 3]
        if flags & (NEGATIVE | ABSENT_OK):
            continue
        if flags & MANY:
            if is_listed(literal, row, set_lo, set_hi):
                for s in range(low, low + high):
                    found[count, 0], found[count, 1], found[count, 2] = d, EQ, set_lo[s]
                    count += 1
                predicates += 1
            continue
        if low == high:
            found[count, 0], found[count, 1], found[count, 2] = d, EQ, low
            count += 1
            predicates += 1
            continue
        has_high = high != GREATEST and high != LAST_STRING and high != LAST_TIME
        if has_high:
            found[count, 0], found[count, 1], found[count, 2] = d, LE, high
            count += 1
            predicates += 1
        if not has_high or (low != -GREATEST and low != FIRST_STRING and low != FIRST_TIME):
            found[count, 0], found[count, 1], found[count, 2] = d, GE, low
            count += 1
            predicates += 1
    return count, predicates


@kernel
def pivot_of(found, count, dims):
    """Return the rarest dimension of some records."""
    pivot = found[0, 0]
    for i in range(count):
        if dims[DIM_WIDTH * found[i, 0] + FREQUENCY] < dims[DIM_WIDTH * pivot + FREQUENCY]:
            pivot = found[i, 0]
    return pivot


@kernel
def room_for(found, count, partition, lists):
    """Return how many places of records the records of a clause take at most."""
    if partition < 0:
        return count * 2 * (count + FIRST_ROOM)
    total = np.int64(0)
    for i in range(count):
        row = LIST_WIDTH * list_at(partition, found[i, 1], found[i, 0])
        if lists[row + COUNT] + count > lists[row + ROOM]:
            total += 2 * (lists[row + COUNT] + count + FIRST_ROOM)
    return total


@kernel
def enlarge(at, lists, records, meta):
    """Move a full list to a place with twice the room."""
    row = LIST_WIDTH * at
    begin, count = lists[row + BEGIN], lists[row + COUNT]
    place, room = meta[RECORDS_USED], max(2 * count, FIRST_ROOM)
    for i in range(RECORD * count):
        records[RECORD * place + i] = records[RECORD * begin + i]
    lists[row + BEGIN], lists[row + ROOM] = place, room
    meta[RECORDS_USED] += room


@kernel
def put(at, d, key, c, lists, records, meta):
    """Insert a record into its sorted list."""
    row = LIST_WIDTH * at
    if lists[row + COUNT] == lists[row + ROOM]:
        enlarge(at, lists, records, meta)
    begin, end = lists[row + BEGIN], lists[row + BEGIN] + lists[row + COUNT]
    place = lower_bound(records, begin, end, d, key)
    for i in range(RECORD * end - 1, RECORD * place - 1, -1):
        records[i + RECORD] = records[i]
    records[RECORD * place], records[RECORD * place + 1], records[RECORD * place + 2] = d, key, c
    lists[row + COUNT] += 1


@kernel
def insert(c, found, count, pivot, dims, lists, records, after, meta):
    """Insert a clause with its records into the partition of its pivot."""
    row = DIM_WIDTH * pivot
    if dims[row + PARTITION] < 0:
        dims[row + PARTITION] = meta[PARTITIONS_USED]
        meta[PARTITIONS_USED] += 1
    after[c], dims[row + FIRST_CLAUSE] = dims[row + FIRST_CLAUSE], c
    for i in range(count):
        d, operator, key = found[i, 0], found[i, 1], found[i, 2]
        dims[DIM_WIDTH * d + FREQUENCY] += 1
        at = list_at(dims[row + PARTITION], operator, d)
        put(at, d, key, c, lists, records, meta)
        lists[LIST_WIDTH * at + SIGNATURE] |= signature_bit(operator, d, key)


@kernel
def insert_run(begin, end, start, literal, set_lo, set_hi, dims, lists, records, needed, after, meta):
    """Insert clauses until the arrays may be full; return the clause to go on with."""
    for c in range(begin, end):
        found = np.empty((FEW_VALUES * (start[c + 1] - start[c]), 3), np.int64)
        count, needed[c] = predicates_of(c, start, literal, set_lo, set_hi, found)
        if count == 0:
            after[c], meta[RESIDUAL] = meta[RESIDUAL], c
            continue
        pivot = pivot_of(found, count, dims)
        partition = dims[DIM_WIDTH * pivot + PARTITION]
        meta[WANTED_RECORDS] = meta[RECORDS_USED] + room_for(found, count, partition, lists)
        lists_after = PER_PARTITION * (meta[PARTITIONS_USED] + (partition < 0))
        if RECORD * meta[WANTED_RECORDS] > len(records) or LIST_WIDTH * lists_after > len(lists):
            return np.int64(c)
        insert(c, found, count, pivot, dims, lists, records, after, meta)
    return np.int64(end)
