"""Match events with the growing tree of a head, and count what was checked in vain."""

import numpy as np

from tamis.engines._kernels import holds_general
from tamis.engines.bestar.growth.tables import LOST
from tamis.engines.bestar.growth.use._kernels import walk
from tamis.head.bestar._kernels import position
from tamis.head.check._kernels import holds, holds_doubtful
from tamis.head.keys import ABSENT
from tamis.kernel import kernel


@kernel
def enter_event(a, b, dimension, lo, hi, multi, cell, entry, first, last):
    """Fill the tables of an event: its keys or its first entries, and its first and last positions."""
    for k in range(b - 1, a - 1, -1):
        d = dimension[k]
        if multi:
            entry[d] = k + 1
        else:
            cell[d] = lo[k]
        first[d] = position(lo[k])
        last[d] = max(last[d], position(hi[k]))


@kernel
def leave_event(a, b, dimension, cell, entry, first, last):
    """Clear the tables of an event."""
    for k in range(a, b):
        d = dimension[k]
        cell[d], entry[d], first[d], last[d] = ABSENT, 0, 0, -1


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, entry, first, last, todo, hits, homes, start,
    literal, set_lo, set_hi, c_node, p_node, after, seen, posted, known, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    The clauses posted:known are not in the tree yet; all of them are checked. Stop before ``out`` overflows.
    If scratch memory would overflow, stop and ask for more in ``work[2]``: room for so many hits, or -1.
    """
    written = np.int64(0)
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        enter_event(a, b, dimension, lo, hi, multi[e], cell, entry, first, last)
        doubtful = multi[e] and entry[0] != 0
        found = walk(c_node, p_node, after, first, last, todo, hits, homes, work)
        full = found < 0 or written + found + known - posted > len(out_event)
        if found < 0:
            work[2] = -1 if found == -1 else -2 - found
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
            if true:
                out_event[written], out_clause[written] = e, c
                written += 1
            elif h < found:
                c_node[homes[h], LOST] += 1
        leave_event(a, b, dimension, cell, entry, first, last)
        if full:
            return e, written
        work[0] += found + known - posted
        work[1] += found + known - posted
        seen[0] += 1
    return count, written
