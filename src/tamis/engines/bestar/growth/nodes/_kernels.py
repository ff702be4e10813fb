"""Make, give up, fill and bound the nodes of a growing tree. A tree ``t`` is a tuple of tables."""

import numpy as np

from tamis.engines.bestar.growth.tables import (
    AFTER,
    BEFORE,
    BOX,
    BOX_DIM,
    BOX_HI,
    BOX_LO,
    BOX_OWN_HI,
    BOX_OWN_LO,
    BOX_USED,
    BOXES,
    C_USED,
    CAPACITY,
    DIMENSION,
    FREE,
    FULLEST,
    HOME,
    KEY_HI,
    KEY_LO,
    LEVEL,
    LIMIT,
    LOST,
    META,
    MODE,
    NONE,
    P_FREE,
    P_NEXT,
    P_RANK,
    P_USED,
    START,
    TOTAL,
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
    RIGID,
    ROOT,
)
from tamis.kernel import kernel

EMPTY_LO, EMPTY_HI = 1 << 61, -1  # bounds of an empty node; cells and positions lie between them


@kernel
def unit_on(keys, c, d):
    """Return the unit of clause ``c`` on dimension ``d``, NONE if it has none."""
    for u in range(keys[START][c], keys[START][c + 1]):
        if keys[DIMENSION][u] == d:
            return u
    return NONE


# ------------------------------------------------------------------------------------------------ nodes
@kernel
def new_bucket(t, d, low, high, parent, level, home, limit):
    """Return a new, empty bucket on dimension ``d``; its inactive dimensions are those of ``home``."""
    at = t[FREE][level]
    if at != NONE:
        t[FREE][level] = t[C][at, PARENT]
    else:
        at = t[META][C_USED]
        t[META][C_USED] += 1
        t[C][at, BOX] = t[META][BOX_USED]
        t[META][BOX_USED] += level
    box = t[C][at, BOX]
    t[C][at] = 0
    t[C][at, DIM], t[C][at, LO], t[C][at, HI], t[C][at, PARENT] = d, low, high, parent
    t[C][at, OWN_LO], t[C][at, OWN_HI] = low, high
    t[C][at, BEGIN], t[C][at, P_FIRST] = NONE, NONE
    t[C][at, LEVEL], t[C][at, BOX], t[C][at, LIMIT] = level, box, limit
    for k in range(level):
        t[BOXES][box + k, BOX_DIM] = d if k == level - 1 else t[BOXES][t[C][home, BOX] + k, BOX_DIM]
        t[BOXES][box + k, BOX_OWN_LO], t[BOXES][box + k, BOX_OWN_HI] = EMPTY_LO, EMPTY_HI
        t[BOXES][box + k, BOX_LO], t[BOXES][box + k, BOX_HI] = EMPTY_LO, EMPTY_HI
    return at


@kernel
def give_up(t, at):
    """Keep an empty bucket for the next new bucket on its level."""
    level = t[C][at, LEVEL]
    t[C][at, PARENT], t[C][at, LOST] = t[FREE][level], 0
    t[FREE][level] = at


@kernel
def new_partition(t, home, d, cells, rules):
    """Return a p-node for ``d`` in the p-directory of c-node ``home``, with an empty c-directory."""
    p = t[META][P_FREE]
    if p != NONE:
        t[META][P_FREE] = t[P][p, P_NEXT]
    else:
        p = t[META][P_USED]
        t[META][P_USED] += 1
    low, high = np.int64(EMPTY_LO), np.int64(EMPTY_HI)
    if rules[MODE] == RIGID:
        low, high = np.int64(1), np.int64(cells[d])
    root = new_bucket(t, d, low, high, -1 - p, t[C][home, LEVEL] + 1, home, rules[CAPACITY])
    t[P][p] = 0
    t[P][p, P_DIM], t[P][p, P_DIRECTORY], t[P][p, P_HOME] = d, root, home
    t[P][p, P_NEXT] = t[C][home, P_FIRST]
    t[C][home, P_FIRST] = p
    t[C][home, P_COUNT] += 1
    return p


@kernel
def drop_partition(t, p):
    """Remove a p-node with an empty c-directory from its p-directory."""
    home = t[P][p, P_HOME]
    t[C][home, P_COUNT] -= 1
    if t[C][home, P_FIRST] == p:
        t[C][home, P_FIRST] = t[P][p, P_NEXT]
    else:
        other = t[C][home, P_FIRST]
        while t[P][other, P_NEXT] != p:
            other = t[P][other, P_NEXT]
        t[P][other, P_NEXT] = t[P][p, P_NEXT]
    give_up(t, t[P][p, P_DIRECTORY])
    t[P][p, P_NEXT] = t[META][P_FREE]
    t[META][P_FREE] = p


# --------------------------------------------------------------------------------------------- l-nodes
@kernel
def link(t, at, c):
    """Put clause ``c`` into the l-node of c-node ``at``; counts and bounds above stay unchanged."""
    head = t[C][at, BEGIN]
    t[AFTER][c], t[BEFORE][c], t[HOME][c] = head, NONE, at
    if head != NONE:
        t[BEFORE][head] = c
    t[C][at, BEGIN] = c
    t[C][at, COUNT] += 1
    t[META][FULLEST] = max(t[META][FULLEST], t[C][at, COUNT])


@kernel
def unlink(t, c):
    """Remove clause ``c`` from its l-node."""
    at, after, before = t[HOME][c], t[AFTER][c], t[BEFORE][c]
    if before == NONE:
        t[C][at, BEGIN] = after
    else:
        t[AFTER][before] = after
    if after != NONE:
        t[BEFORE][after] = before
    t[C][at, COUNT] -= 1
    t[HOME][c] = NONE


@kernel
def members(t, at):
    """Return the clauses of an l-node."""
    found = np.empty(t[C][at, COUNT], np.int64)
    c = t[C][at, BEGIN]
    for i in range(len(found)):
        found[i] = c
        c = t[AFTER][c]
    return found


# ---------------------------------------------------------------------------------------------- bounds
@kernel
def show(t, at, mode):
    """Copy a bucket's active bounds to the columns that searches read; a rigid split's bounds never move."""
    if mode == RIGID or at == ROOT:
        return
    row = t[C][at, BOX] + t[C][at, LEVEL] - 1
    t[C][at, LO], t[C][at, HI] = t[BOXES][row, BOX_LO], t[BOXES][row, BOX_HI]
    t[C][at, OWN_LO], t[C][at, OWN_HI] = t[BOXES][row, BOX_OWN_LO], t[BOXES][row, BOX_OWN_HI]


@kernel
def above(t, at):
    """Return the node above a bucket, and whether a p-node lies between them."""
    parent = t[C][at, PARENT]
    if parent >= 0:
        return parent, False
    return t[P][-1 - parent, P_HOME], True


@kernel
def stretch(t, keys, at, c, mode):
    """Count clause ``c`` in c-node ``at`` and everything above, and widen all bounds to hold it."""
    own = True
    while True:
        t[C][at, TOTAL] += 1
        if at == ROOT:
            return
        for row in range(t[C][at, BOX], t[C][at, BOX] + t[C][at, LEVEL]):
            u = unit_on(keys, c, t[BOXES][row, BOX_DIM])
            t[BOXES][row, BOX_LO] = min(t[BOXES][row, BOX_LO], keys[KEY_LO][u])
            t[BOXES][row, BOX_HI] = max(t[BOXES][row, BOX_HI], keys[KEY_HI][u])
            if own:
                t[BOXES][row, BOX_OWN_LO] = min(t[BOXES][row, BOX_OWN_LO], keys[KEY_LO][u])
                t[BOXES][row, BOX_OWN_HI] = max(t[BOXES][row, BOX_OWN_HI], keys[KEY_HI][u])
        show(t, at, mode)
        if t[C][at, PARENT] < 0:
            t[P][-1 - t[C][at, PARENT], P_RANK] += 1
        at, own = above(t, at)


@kernel
def widen(t, row, low, high, own):
    """Widen a row of bounds to hold ``low``..``high``."""
    t[BOXES][row, BOX_LO], t[BOXES][row, BOX_HI] = (
        min(t[BOXES][row, BOX_LO], low),
        max(t[BOXES][row, BOX_HI], high),
    )
    if own:
        t[BOXES][row, BOX_OWN_LO] = min(t[BOXES][row, BOX_OWN_LO], low)
        t[BOXES][row, BOX_OWN_HI] = max(t[BOXES][row, BOX_OWN_HI], high)


@kernel
def refresh(t, keys, at, mode):
    """Compute a bucket's bounds anew from its l-node, the c-directories below it, and its children.

    The nodes below also keep bounds on this bucket's dimensions (inactive for them), so the kernel looks no
    further down.
    """
    first, level = t[C][at, BOX], t[C][at, LEVEL]
    t[BOXES][first : first + level, BOX_OWN_LO] = EMPTY_LO
    t[BOXES][first : first + level, BOX_LO] = EMPTY_LO
    t[BOXES][first : first + level, BOX_OWN_HI] = EMPTY_HI
    t[BOXES][first : first + level, BOX_HI] = EMPTY_HI
    c = t[C][at, BEGIN]
    while c != NONE:
        for row in range(first, first + level):
            u = unit_on(keys, c, t[BOXES][row, BOX_DIM])
            widen(t, row, keys[KEY_LO][u], keys[KEY_HI][u], True)
        c = t[AFTER][c]
    p = t[C][at, P_FIRST]
    while p != NONE:
        below = t[C][t[P][p, P_DIRECTORY], BOX]
        for k in range(level):
            widen(t, first + k, t[BOXES][below + k, BOX_LO], t[BOXES][below + k, BOX_HI], True)
        p = t[P][p, P_NEXT]
    for side in (LEFT, RIGHT):
        if t[C][at, side] != ROOT:
            below = t[C][t[C][at, side], BOX]
            for k in range(level):
                widen(t, first + k, t[BOXES][below + k, BOX_LO], t[BOXES][below + k, BOX_HI], False)
    show(t, at, mode)
