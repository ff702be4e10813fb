"""Match one plain event in a segment of the engine ``bitmatrix``."""

import numpy as np

from tamis.engines.bitmatrix._kernels import match_events
from tamis.engines.bitmatrix.layout._kernels import ROW
from tamis.engines.bitmatrix.rows._kernels import FETCHED
from tamis.kernel import kernel
from tamis.segment.one._kernels import (
    COUNTS,
    FOUND,
    LOCATED,
    MORE_ROOM,
    PROBED,
    VERIFIED,
    VISITED,
    WANTED,
    enter_one,
    own_one,
)


@kernel
def match_one(plan, values, cuts, static, work, cells, entries, words32, words, words64, block):
    """Do the same as ``match_one`` for ``hybrid``; there are no lists to visit and no hits."""
    size, dimensions = work[2], work[3]
    place = static[1 : 1 + static[0]]
    rest = static[1 + static[0] :]
    count = enter_one(plan, values, cuts, rest[7:], entries)
    if count < 0:
        return count
    half = len(entries) >> 1
    dimension, cell = entries[:count], entries[half : half + count]
    counts = work[FOUND : FOUND + COUNTS]
    owners = work[FOUND + COUNTS : FOUND + COUNTS + size]
    buffers = work[FOUND + COUNTS + size :]
    event, clause = buffers[:size], buffers[size : 2 * size]
    start, spent, live = np.zeros(2, np.int64), np.zeros(4, np.int64), np.zeros((2, 1), np.int64)
    start[1] = count
    done, clauses = match_events(
        0, 1, start, dimension, cell, cell, np.zeros(1, np.uint8), cells[:dimensions], live[0],
        np.empty(1, np.uint64), live[1], np.empty(2 * ROW, np.uint64), np.empty(FETCHED, np.uint64), words32,
        words, words64, place, event, clause, spent,
    )  # fmt: skip
    counts[WANTED] = 0
    if done == 0:
        return np.int64(MORE_ROOM)
    counts[LOCATED], counts[PROBED], counts[VERIFIED], counts[VISITED] = count, spent[0], spent[1], spent[2]
    return own_one(clause, clauses, rest, words32, block, owners)
