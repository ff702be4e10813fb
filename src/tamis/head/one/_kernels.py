"""Find the keys of one event, match it, and find the subscriptions in force that own the clauses."""

import numpy as np

from tamis.head._kernels import keys_of_numbers
from tamis.head.leaves.search._kernels import match_events
from tamis.kernel import kernel
from tamis.segment.one._kernels import ALWAYS_REVISE, CAREFUL, MORE_ROOM, distinct, sort_numbers

LOCATED = 4  # where the number of entries stands in ``work``, which ``match_events`` does not need afterwards


@kernel
def match_one(
    plan, bits, entries, cell, leaf, first, visits, begins, hits, event, clause, work, start, literal, set_lo,
    set_hi, table, lists, postings, leaves, dims, meta, posted, known, owner, revise, died, sequence,
):  # fmt: skip
    """Replace ``clause`` by the sorted subscriptions in force at ``sequence`` that one event matches.

    Return their number, ``CAREFUL`` if this event needs the path of a batch, or ``MORE_ROOM``. ``plan`` has
    the number of values and their dimensions, then the number of entries that are known and their dimensions
    and keys. ``bits`` are those of the values as floats.
    """
    half = len(entries) >> 1
    dimension, key = entries[:half], entries[half:]
    count = keys_of_numbers(plan[1 : 1 + plan[0]], bits[: plan[0]], dimension, key)
    if count < 0:
        return np.int64(CAREFUL)
    at = 1 + plan[0]
    more = plan[at]
    for n in range(more):
        dimension[count + n], key[count + n] = plan[at + 1 + n], plan[at + 1 + more + n]
    count += more
    bounds = np.zeros(2, np.int64)
    bounds[1] = count
    done, clauses = match_events(
        0, 1, bounds, dimension[:count], key[:count], key[:count], np.zeros(1, np.uint8), cell, leaf, first,
        visits, begins, hits, start, literal, set_lo, set_hi, table, lists, postings, leaves, dims, meta,
        posted, known, event, clause, work,
    )  # fmt: skip
    if done == 0:
        return np.int64(MORE_ROOM)
    work[LOCATED] = count
    alive = np.int64(0)
    for n in range(clauses):
        c = clause[n]
        if revise[c] & ALWAYS_REVISE:
            return np.int64(CAREFUL)
        clause[alive] = owner[c]
        alive += died[owner[c]] > sequence
    sort_numbers(clause, alive)
    return distinct(clause, alive)
