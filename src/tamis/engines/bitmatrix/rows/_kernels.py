"""Fetch and AND the rows of events: see ``layout/_kernels.py``.

A loop that ANDs rows waits for each that is not in the cache. Loops that only read have room for dozens of
misses in the processor's queues. They return the words that they read, and the caller stores them, or the
compiler would remove the loops.
"""

import numpy as np

from tamis.engines._kernels import place_of_bit
from tamis.engines.bitmatrix.layout._kernels import FIELDS, ROW, SLAB, TOGETHER
from tamis.kernel import kernel

FETCHED = 2_048  # rows that are fetched at once
IN_ORDER = 2  # if events need a row of a slab in so many, all rows are read in order
LINE = 16  # fields of literals on half a cache line or a whole one
TOUCHED = 3  # the place in ``work`` that receives the words that were read

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIELDS, _ROW = np.uint64(FIELDS), np.uint64(ROW)


@kernel(inline="always")
def row_of(column, k, table, base):
    """Return the row of the event's cell in column ``k``; absence is cell 0 and the first row."""
    at = _FIELDS * k
    grain = np.uint64(column[at + np.uint64(2)])
    cell = np.uint64(table[base + np.uint64(column[at])])
    return np.uint64(column[at + _ONE]) + ((cell + (_ONE << grain) - _ONE) >> grain)


@kernel(inline="always")
def and_four(column, k, table, base, matrix, own):
    """AND the rows of one event in ``TOGETHER`` columns to ``own``; return all bits that are left, ORed."""
    one = _ROW * row_of(column, k, table, base)
    two = _ROW * row_of(column, k + _ONE, table, base)
    three = _ROW * row_of(column, k + np.uint64(2), table, base)
    four = _ROW * row_of(column, k + np.uint64(3), table, base)
    some = np.uint64(0)
    for w in range(_ROW):
        own[w] &= matrix[one + w] & matrix[two + w] & matrix[three + w] & matrix[four + w]
        some |= own[w]
    return some


@kernel
def and_rows(slab_start, column, slab, table, base, matrix, own):
    """AND the rows of one event in all columns of a slab, or until nothing is left."""
    for w in range(_ROW):
        own[w] = _ALL
    for k in range(np.uint64(slab_start[slab]), np.uint64(slab_start[slab + 1]), np.uint64(TOGETHER)):
        if and_four(column, k, table, base, matrix, own) == 0:
            break


@kernel
def touch_rows(rows, count, matrix):
    """Read one word of each row."""
    total = np.uint64(0)
    for n in range(count):
        total ^= matrix[rows[n]]
    return total


@kernel
def add_rows(column, first, last, table, base, rows, count, matrix):
    """Add the rows of some columns to those to be touched, and touch them if there is no more room."""
    total = np.uint64(0)
    for k in range(first, last):
        if count == len(rows):
            total ^= touch_rows(rows, count, matrix)
            count = 0
        rows[count] = _ROW * row_of(column, k, table, base)
        count += 1
    return count, total


@kernel
def touch_slab(first_row, end_row, matrix):
    """Read all rows of a slab in order; a miss costs less if the next one can be foreseen."""
    total = np.uint64(0)
    for at in range(ROW * first_row, ROW * end_row, ROW):
        total ^= matrix[at]
    return total


@kernel
def touch_literals(slab, start, literal, doubtful):
    """Read the literals of a slab in order if some of its clauses are doubtful."""
    total, doubts = np.uint64(0), np.uint64(0)
    for at in range(ROW * slab, ROW * (slab + 1)):
        doubts |= doubtful[at]
    if doubts != 0:
        last = min(SLAB * (slab + 1), len(start) - 1)
        for at in range(4 * np.int64(start[SLAB * slab]), 4 * np.int64(start[last]), LINE):
            total ^= np.uint64(literal[at])
    return total


@kernel
def fetch_slab(
    slab, visits, picked, slab_start, column, table, dimensions, matrix, rows, start, literal, doubtful, work
):  # fmt: skip
    """Fetch the rows that several events need in a slab: all rows in order, or those rows alone."""
    total = touch_literals(slab, start, literal, doubtful)
    first, last = np.uint64(slab_start[slab]), np.uint64(slab_start[slab + 1])
    if first < last:
        begin, end = np.int64(column[_FIELDS * first + _ONE]), np.int64(len(matrix) // ROW)
        if last < np.uint64(slab_start[len(slab_start) - 1]):
            end = np.int64(column[_FIELDS * last + _ONE])
        if IN_ORDER * visits * np.int64(last - first) >= end - begin:
            total ^= touch_slab(begin, end, matrix)
        else:
            count = 0
            for n in range(visits):
                base = np.uint64(picked[n] * dimensions)
                count, seen = add_rows(column, first, last, table, base, rows, count, matrix)
                total ^= seen
            total ^= touch_rows(rows, count, matrix)
    work[TOUCHED] = np.int64(total >> _ONE)


@kernel
def fetch_rows(left, first_slab, slab_start, column, table, base, matrix, own, rows, work):
    """Fetch the rows that one event needs in a chunk, and return the slabs that are left.

    The first rows of all slabs are fetched before the others, because they often leave nothing.
    """
    total, count = np.uint64(0), 0
    bits = left
    while bits != 0:
        lowest = bits & (~bits + _ONE)
        bits ^= lowest
        slab = first_slab + place_of_bit(lowest)
        first, last = np.uint64(slab_start[slab]), np.uint64(slab_start[slab + 1])
        last = min(last, first + np.uint64(TOGETHER))
        count, seen = add_rows(column, first, last, table, base, rows, count, matrix)
        total ^= seen
    total ^= touch_rows(rows, count, matrix)
    count = 0
    bits = left
    while bits != 0:
        lowest = bits & (~bits + _ONE)
        bits ^= lowest
        slab = first_slab + place_of_bit(lowest)
        first, last = np.uint64(slab_start[slab]), np.uint64(slab_start[slab + 1])
        if first == last:
            continue
        for w in range(_ROW):
            own[w] = _ALL
        if and_four(column, first, table, base, matrix, own) == 0:
            left ^= lowest
            work[2] += 1
            continue
        count, seen = add_rows(
            column, first + np.uint64(TOGETHER), last, table, base, rows, count, matrix
        )  # fmt: skip
        total ^= seen
    total ^= touch_rows(rows, count, matrix)
    work[TOUCHED] = np.int64(total >> _ONE)
    return left
