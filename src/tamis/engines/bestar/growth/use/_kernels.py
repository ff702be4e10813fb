"""Match, collect feedback, and convert the tree to the frozen form."""

import numpy as np

from tamis.engines.bestar.growth.nodes._kernels import above, members, unit_on
from tamis.engines.bestar.growth.tables import (
    BOX,
    BOX_DIM,
    BOXES,
    C_USED,
    LEVEL,
    LOST,
    META,
    NONE,
    P_LOST,
    P_NEXT,
    P_USED,
    C,
    P,
)
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
    P_HOME,
    PARENT,
    RIGHT,
    ROOT,
)
from tamis.kernel import kernel


# ------------------------------------------------------------------------------- matching and feedback
@kernel
def walk(c_node, p_node, after, first, last, todo, hits, homes, work):
    """Write the clauses of all l-nodes that an event touches, and their c-nodes; return their number.

    The event has values from ``first[d]`` to ``last[d]`` on dimension ``d``; ``last[d]`` is -1 if it has
    none. Return -1 if ``todo`` is too short, or -2 - n if ``hits`` needs room for n clauses.
    """
    found, left, wanted = np.int64(0), np.int64(1), np.int64(0)
    todo[0] = ROOT
    while left > 0:
        left -= 1
        at = todo[left]
        work[3] += 1
        d = c_node[at, DIM]
        if left + 2 + c_node[at, P_COUNT] > len(todo):
            return np.int64(-1)
        for side in (LEFT, RIGHT):
            child = c_node[at, side]
            if child != ROOT and first[d] <= c_node[child, HI] and last[d] >= c_node[child, LO]:
                todo[left] = child
                left += 1
        if at != ROOT and (first[d] > c_node[at, OWN_HI] or last[d] < c_node[at, OWN_LO]):
            continue
        wanted += c_node[at, COUNT]
        if wanted <= len(hits):
            c = c_node[at, BEGIN]
            while c != NONE:
                hits[found], homes[found] = c, at
                found += 1
                c = after[c]
        p = c_node[at, P_FIRST]
        while p != NONE:
            child, d = p_node[p, P_DIRECTORY], p_node[p, P_DIM]
            work[3] += 1
            if first[d] <= c_node[child, HI] and last[d] >= c_node[child, LO]:
                todo[left] = child
                left += 1
            p = p_node[p, P_NEXT]
    return found if wanted <= len(hits) else -2 - wanted


@kernel
def sum_losses(t):
    """Add the losses of c-nodes in a window to all p-nodes above them."""
    for p in range(t[META][P_USED]):
        t[P][p, P_LOST] = 0
    for at in range(t[META][C_USED]):
        lost, up = t[C][at, LOST], np.int64(at)
        t[C][at, LOST] = 0
        while lost > 0 and up != ROOT:
            if t[C][up, PARENT] < 0:
                t[P][-1 - t[C][up, PARENT], P_LOST] += lost
            up, _ = above(t, up)


@kernel
def collect_below(t, p):
    """Return all clauses of a partition."""
    found = [np.int64(0) for _ in range(0)]
    todo = [t[P][p, P_DIRECTORY]]
    while len(todo) > 0:
        at = todo.pop()
        for c in members(t, at):
            found.append(c)
        for side in (LEFT, RIGHT):
            if t[C][at, side] != ROOT:
                todo.append(t[C][at, side])
        below = t[C][at, P_FIRST]
        while below != NONE:
            todo.append(t[P][below, P_DIRECTORY])
            below = t[P][below, P_NEXT]
    return np.array(found)


# --------------------------------------------------------------------------------------------- freezing
@kernel
def freeze(t, keys, c_node, p_node, order, late):
    """Write the tree in its frozen form; return (c-nodes, p-nodes). ``late`` marks units on the path."""
    c_count, p_count, placed = 1, 0, 0
    todo = [(np.int64(ROOT), np.int64(ROOT))]
    while len(todo) > 0:
        at, to = todo.pop()
        c_node[to] = 0
        c_node[to, DIM : OWN_HI + 1] = t[C][at, DIM : OWN_HI + 1]
        if t[C][at, COUNT] == 0 and t[C][at, P_COUNT] == 0:
            c_node[to, OWN_LO], c_node[to, OWN_HI] = 1, 0
        c_node[to, BEGIN], c_node[to, COUNT] = placed, t[C][at, COUNT]
        for c in members(t, at):
            order[placed] = c
            placed += 1
            for row in range(t[C][at, BOX], t[C][at, BOX] + t[C][at, LEVEL]):
                late[unit_on(keys, c, t[BOXES][row, BOX_DIM])] = True
        for side in (LEFT, RIGHT):
            if t[C][at, side] != ROOT:
                c_node[to, side] = c_count
                todo.append((t[C][at, side], np.int64(c_count)))
                c_count += 1
        below = np.empty(t[C][at, P_COUNT], np.int64)
        p = t[C][at, P_FIRST]
        for i in range(len(below)):
            below[i] = p
            p = t[P][p, P_NEXT]
        c_node[to, P_FIRST], c_node[to, P_COUNT] = p_count, len(below)
        for p in below[np.argsort(t[P][below, P_DIM])]:
            p_node[p_count, P_DIM], p_node[p_count, P_HOME] = t[P][p, P_DIM], to
            p_node[p_count, P_DIRECTORY] = c_count
            todo.append((t[P][p, P_DIRECTORY], np.int64(c_count)))
            c_count += 1
            p_count += 1
    return c_count, p_count
