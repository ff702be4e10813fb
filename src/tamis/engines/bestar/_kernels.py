"""Search the tree: find the l-nodes that an event reaches and the clauses in them that it satisfies."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain, plain_ranges, reaching
from tamis.engines.bestar.nodes import (
    BEGIN,
    COUNT,
    DIM,
    HI,
    LEFT,
    LO,
    OWN_HI,
    OWN_LO,
    P_COUNT,
    P_DIM,
    P_DIRECTORY,
    P_FIRST,
    RIGHT,
    ROOT,
)
from tamis.engines.order._kernels import longer
from tamis.kernel import kernel

FIRST_ROOM = 64


@kernel(inline="always")  # a call would cost a third of the time
def touches(d, low, high, cell, general, last, dimension, lo, hi, hull):
    """Return whether the event has a value of dimension ``d`` in ``low``..``high``.

    If conditions on a dimension were joined, two values on either side of a clause's range may meet it
    together. Then everything between the first and the last value counts as touched.
    """
    if not general:
        return low <= cell[d] <= high
    entry = np.int64(cell[d]) - 1
    if entry < 0:
        return False
    if not hull[d]:
        entry = reaching(entry, last, d, low, dimension, hi)
        return entry < last and dimension[entry] == d and lo[entry] <= high
    if lo[entry] > high:
        return False
    entry = reaching(entry, last, d, low, dimension, hi)
    return entry < last and dimension[entry] == d


@kernel
def find_partition(p_node, begin, end, d):
    """Return the p-node of dimension ``d`` in a p-directory, or ``end`` if there is none."""
    high = end
    while begin < high:
        middle = (begin + high) >> 1
        if p_node[middle, P_DIM] < d:
            begin = middle + 1
        else:
            high = middle
    return begin if begin < end and p_node[begin, P_DIM] == d else end


@kernel
def push_partitions(
    at, c_node, p_node, a, b, cell, general, dimension, lo, hi, hull, stack, top, work
):  # fmt: skip
    """Push the c-directories of a p-directory that the event reaches; return (stack, top).

    The kernel reads a short p-directory through; in a long one it looks up the event's dimensions.
    """
    begin = np.int64(c_node[at, P_FIRST])
    end = begin + np.int64(c_node[at, P_COUNT])
    listed = end - begin <= 4 * (b - a)
    many = end - begin if listed else b - a
    stack = longer(stack, top, many)
    for i in range(many):
        p = begin + i
        if not listed:
            if general and i > 0 and dimension[a + i - 1] == dimension[a + i]:
                continue
            p = find_partition(p_node, begin, end, dimension[a + i])
            if p == end:
                continue
        elif cell[p_node[p, P_DIM]] == 0:
            continue
        work[2] += 1
        child = np.int64(p_node[p, P_DIRECTORY])
        d = np.int64(p_node[p, P_DIM])
        if touches(d, c_node[child, LO], c_node[child, HI], cell, general, b, dimension, lo, hi, hull):
            stack[top] = child
            top += 1
    return stack, top


@kernel
def reach(a, b, dimension, lo, hi, cell, general, c_node, p_node, hull, stack, runs, work):
    """Walk the tree with the event ``a``:``b``; return (stack, runs, number of runs it reaches).

    ``runs`` receives begin and end of each l-node. A point goes left or right of a cut, never both ways.
    """
    found, top, two = np.int64(0), np.int64(1), np.int64(2)  # literals would each compile the kernel
    stack[0] = ROOT
    while top > 0:
        top -= 1
        at = stack[top]
        d = np.int64(c_node[at, DIM])
        work[2] += 1
        stack = longer(stack, top, two)
        for side in (LEFT, RIGHT):
            child = np.int64(c_node[at, side])
            if child != ROOT and touches(d, c_node[child, LO], c_node[child, HI], cell,
                                         general, b, dimension, lo, hi, hull):  # fmt: skip
                stack[top] = child
                top += 1
        if at != ROOT and not touches(d, c_node[at, OWN_LO], c_node[at, OWN_HI], cell, general, b,
                                      dimension, lo, hi, hull):  # fmt: skip
            continue
        if c_node[at, COUNT] > 0:
            runs = longer(runs, found, two)
            runs[found] = c_node[at, BEGIN]
            runs[found + 1] = runs[found] + c_node[at, COUNT]
            found += 2
        if c_node[at, P_COUNT] > 0:
            stack, top = push_partitions(
                at, c_node, p_node, a, b, cell, general, dimension, lo, hi, hull, stack, top, work
            )
    return stack, runs, found


@kernel
def reach_plain(a, b, dimension, cell, c_node, p_node, stack, runs, work):
    """Do the same as ``reach`` for a plain event, without a branch for each node that may be reached.

    An absent dimension has cell 0, below the bounds of every node.
    """
    found, top, two = np.int64(0), np.int64(1), np.int64(2)
    stack[0] = ROOT
    while top > 0:
        top -= 1
        at = stack[top]
        value = cell[c_node[at, DIM]]
        work[2] += 1
        begin = np.int64(c_node[at, P_FIRST])
        many = np.int64(c_node[at, P_COUNT])
        listed = many <= 4 * (b - a)
        many = many if listed else b - a
        stack, runs = longer(stack, top, many + two), longer(runs, found, two)
        for side in (LEFT, RIGHT):
            child = np.int64(c_node[at, side])
            stack[top] = child
            top += (child != ROOT) & (c_node[child, LO] <= value) & (value <= c_node[child, HI])
        if at != ROOT and (value < c_node[at, OWN_LO] or value > c_node[at, OWN_HI]):
            continue
        runs[found] = c_node[at, BEGIN]
        runs[found + 1] = runs[found] + c_node[at, COUNT]
        found += two * (c_node[at, COUNT] > 0)
        if listed:
            for p in range(begin, begin + many):
                child, value = np.int64(p_node[p, P_DIRECTORY]), cell[p_node[p, P_DIM]]
                stack[top] = child
                top += (c_node[child, LO] <= value) & (value <= c_node[child, HI])
                work[2] += value != 0
            continue
        end = begin + np.int64(c_node[at, P_COUNT])
        for k in range(a, b):
            p = find_partition(p_node, begin, end, dimension[k])
            if p < end:
                child, value = np.int64(p_node[p, P_DIRECTORY]), cell[dimension[k]]
                stack[top] = child
                top += (c_node[child, LO] <= value) & (value <= c_node[child, HI])
                work[2] += 1
    return stack, runs, found


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, start, literal, set_lo, set_hi, c_node, p_node,
    hull, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written). Stop before ``out`` overflows.

    ``work`` counts clauses reached, clauses checked, nodes visited.
    """
    stack, runs = np.empty(FIRST_ROOM, np.int64), np.empty(FIRST_ROOM, np.int64)
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        general, mark = multi[e] != 0, written
        for k in range(b - 1, a - 1, -1):
            cell[dimension[k]] = k + 1 if general else lo[k]
        if general:
            stack, runs, found = reach(
                a, b, dimension, lo, hi, cell, general, c_node, p_node, hull, stack, runs, work
            )
        else:
            stack, runs, found = reach_plain(a, b, dimension, cell, c_node, p_node, stack, runs, work)
        for r in range(0, found, 2):
            work[0] += runs[r + 1] - runs[r]
            work[1] += runs[r + 1] - runs[r]
            for c in range(runs[r], runs[r + 1]):
                if general:
                    holds = holds_general(
                        literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                    )
                else:
                    end = np.int64(start[c + 1])
                    at = plain_ranges(literal, np.int64(start[c]), end, cell)
                    holds = at == end or (
                        literal[4 * at + 1] != 0 and holds_plain(literal, at, end, cell, set_lo, set_hi)
                    )
                if holds:
                    if written < len(out_event):
                        out_event[written] = e
                        out_clause[written] = c
                    written += 1
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written > len(out_event):
            return e, mark
    return count, written
