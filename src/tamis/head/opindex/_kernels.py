"""Define the arrays of the predicate lists, and the look-ups that insertion and search share.

A row of ``dims`` is (PARTITION, FREQUENCY, FIRST_CLAUSE): the partition of a pivot or -1, the predicates on
the dimension, and the clauses of the partition as a chain that goes on in ``after``. Partition ``n`` has the
lists from ``n * PER_PARTITION`` on. A row of ``lists`` is (BEGIN, COUNT, ROOM, SIGNATURE): a run of
``records``, which are (dimension, operand, clause).
"""

import numpy as np

from tamis.kernel import kernel

PARTITION, FREQUENCY, FIRST_CLAUSE = range(3)
DIM_WIDTH = 3
BEGIN, COUNT, ROOM, SIGNATURE = range(4)
LIST_WIDTH = 4
EQ, LE, GE = range(3)
OPERATORS = 3
SEGMENTS = 8
PER_PARTITION = OPERATORS * SEGMENTS
RECORD = 3
PARTITIONS_USED, RECORDS_USED, RESIDUAL, WANTED_RECORDS = range(4)  # the numbers in ``meta``
FOLD = np.int64(0x1E3779B97F4A7C15)  # any large odd number spreads the bits


@kernel(inline="always")
def signature_bit(operator, dimension, key):
    """Return the bit of a predicate: equality depends on the operand, too."""
    word = np.int64(dimension) * FOLD
    if operator == EQ:
        word = (word ^ key) * FOLD
    return np.int64(1) << ((word >> 40) % 62)


@kernel(inline="always")
def list_at(partition, operator, dimension):
    """Return the list of a partition for an operator and the segment of a dimension."""
    return PER_PARTITION * partition + OPERATORS * (dimension % SEGMENTS) + operator


@kernel
def lower_bound(records, begin, end, dimension, key):
    """Return the first record of begin:end that is not below (dimension, key)."""
    while begin < end:
        middle = (begin + end) >> 1
        row = RECORD * middle
        if records[row] < dimension or (records[row] == dimension and records[row + 1] < key):
            begin = middle + 1
        else:
            end = middle
    return begin
