"""Match, collect feedback, and convert the tree to the frozen form."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.engines.bestar._kernels import touches
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
def search(t, a, b, dimension, lo, hi, general, cell, hull, start, literal, set_lo, set_hi, work):
    """Return the clauses that the event ``a``:``b`` satisfies; l-nodes count the clauses checked in vain."""
    found = [np.int64(0) for _ in range(0)]
    todo = [np.int64(ROOT)]
    while len(todo) > 0:
        at = todo.pop()
        row, d = t[C][at], t[C][at, DIM]
        work[2] += 1
        for side in (LEFT, RIGHT):
            child = row[side]
            if child != ROOT and touches(d, t[C][child, LO], t[C][child, HI], cell, general, b, dimension, lo,
                                         hi, hull):  # fmt: skip
                todo.append(child)
        if at != ROOT and not touches(
            d, row[OWN_LO], row[OWN_HI], cell, general, b, dimension, lo, hi, hull
        ):  # fmt: skip
            continue
        before = len(found)
        for c in members(t, at):
            if general:
                holds = holds_general(
                    literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
            if holds:
                found.append(c)
        work[0] += row[COUNT]
        row[LOST] += row[COUNT] - (len(found) - before)
        p = row[P_FIRST]
        while p != NONE:
            child = t[P][p, P_DIRECTORY]
            work[2] += 1
            if touches(
                t[P][p, P_DIM], t[C][child, LO], t[C][child, HI], cell, general, b, dimension, lo, hi, hull
            ):
                todo.append(child)
            p = t[P][p, P_NEXT]
    return np.array(found, np.int64)


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
