"""Insertion and deletion, one clause at a time (algorithms 1 to 5 of the paper)."""

import numpy as np
from numba import njit

from tamis.index._kernels import holds_general, holds_plain
from tamis.index.bestar._kernels import touches
from tamis.index.bestar.batch._kernels import (
    choose_partitions,
    cut_of,
    distribute,
    divide,
    mark_used,
    sort_run,
)
from tamis.index.bestar.growth.tables import (
    BOX,
    BOX_DIM,
    BOX_HI,
    BOX_LO,
    BOX_OWN_HI,
    BOX_OWN_LO,
    BOX_USED,
    C_USED,
    FULLEST,
    LEVEL,
    LIMIT,
    LOST,
    MARK,
    NONE,
    P_FREE,
    P_LOST,
    P_NEXT,
    P_RANK,
    P_USED,
    TOTAL,
)
from tamis.index.bestar.nodes import (
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

EMPTY_LO, EMPTY_HI = 1 << 40, -1  # bounds of nothing


@njit(cache=True, nogil=True)
def unit_on(keys, c, d):
    """The unit of clause ``c`` on dimension ``d``, NONE if it has none."""
    for u in range(keys.start[c], keys.start[c + 1]):
        if keys.dimension[u] == d:
            return u
    return NONE


# ------------------------------------------------------------------------------------------------ nodes
@njit(cache=True, nogil=True)
def new_bucket(t, d, low, high, parent, level, home, limit):
    """A new, empty bucket on dimension ``d``; its inactive dimensions are those of ``home``."""
    at = t.free[level]
    if at != NONE:
        t.free[level] = t.c[at, PARENT]
    else:
        at = t.meta[C_USED]
        t.meta[C_USED] += 1
        t.c[at, BOX] = t.meta[BOX_USED]
        t.meta[BOX_USED] += level
    box = t.c[at, BOX]
    t.c[at] = 0
    t.c[at, DIM], t.c[at, LO], t.c[at, HI], t.c[at, PARENT] = d, low, high, parent
    t.c[at, OWN_LO], t.c[at, OWN_HI] = low, high
    t.c[at, BEGIN], t.c[at, P_FIRST] = NONE, NONE
    t.c[at, LEVEL], t.c[at, BOX], t.c[at, LIMIT] = level, box, limit
    for k in range(level):
        t.box[box + k, BOX_DIM] = d if k == level - 1 else t.box[t.c[home, BOX] + k, BOX_DIM]
        t.box[box + k, BOX_OWN_LO], t.box[box + k, BOX_OWN_HI] = EMPTY_LO, EMPTY_HI
        t.box[box + k, BOX_LO], t.box[box + k, BOX_HI] = EMPTY_LO, EMPTY_HI
    return at


@njit(cache=True, nogil=True)
def give_up(t, at):
    """Keep an empty bucket for the next one on its level."""
    level = t.c[at, LEVEL]
    t.c[at, PARENT], t.c[at, LOST] = t.free[level], 0
    t.free[level] = at


@njit(cache=True, nogil=True)
def new_partition(t, home, d, cells, rules):
    """A p-node for ``d`` in the p-directory of c-node ``home``, with an empty c-directory."""
    p = t.meta[P_FREE]
    if p != NONE:
        t.meta[P_FREE] = t.p[p, P_NEXT]
    else:
        p = t.meta[P_USED]
        t.meta[P_USED] += 1
    low, high = np.int64(EMPTY_LO), np.int64(EMPTY_HI)
    if rules.mode == RIGID:
        low, high = np.int64(1), np.int64(cells[d])
    root = new_bucket(t, d, low, high, -1 - p, t.c[home, LEVEL] + 1, home, rules.capacity)
    t.p[p] = 0
    t.p[p, P_DIM], t.p[p, P_DIRECTORY], t.p[p, P_HOME] = d, root, home
    t.p[p, P_NEXT] = t.c[home, P_FIRST]
    t.c[home, P_FIRST] = p
    t.c[home, P_COUNT] += 1
    return p


@njit(cache=True, nogil=True)
def drop_partition(t, p):
    """Take a p-node with an empty c-directory out of its p-directory."""
    home = t.p[p, P_HOME]
    t.c[home, P_COUNT] -= 1
    if t.c[home, P_FIRST] == p:
        t.c[home, P_FIRST] = t.p[p, P_NEXT]
    else:
        other = t.c[home, P_FIRST]
        while t.p[other, P_NEXT] != p:
            other = t.p[other, P_NEXT]
        t.p[other, P_NEXT] = t.p[p, P_NEXT]
    give_up(t, t.p[p, P_DIRECTORY])
    t.p[p, P_NEXT] = t.meta[P_FREE]
    t.meta[P_FREE] = p


# --------------------------------------------------------------------------------------------- l-nodes
@njit(cache=True, nogil=True)
def link(t, at, c):
    """Put clause ``c`` into the l-node of c-node ``at``; counts and bounds above stay as they are."""
    head = t.c[at, BEGIN]
    t.after[c], t.before[c], t.home[c] = head, NONE, at
    if head != NONE:
        t.before[head] = c
    t.c[at, BEGIN] = c
    t.c[at, COUNT] += 1
    t.meta[FULLEST] = max(t.meta[FULLEST], t.c[at, COUNT])


@njit(cache=True, nogil=True)
def unlink(t, c):
    """Take clause ``c`` out of its l-node."""
    at, after, before = t.home[c], t.after[c], t.before[c]
    if before == NONE:
        t.c[at, BEGIN] = after
    else:
        t.after[before] = after
    if after != NONE:
        t.before[after] = before
    t.c[at, COUNT] -= 1
    t.home[c] = NONE


@njit(cache=True, nogil=True)
def members(t, at):
    """The clauses of an l-node."""
    found = np.empty(t.c[at, COUNT], np.int64)
    c = t.c[at, BEGIN]
    for i in range(len(found)):
        found[i] = c
        c = t.after[c]
    return found


# ---------------------------------------------------------------------------------------------- bounds
@njit(cache=True, nogil=True)
def show(t, at, mode):
    """Copy the active bounds of a bucket to where searches look; those of a rigid split never move."""
    if mode == RIGID or at == ROOT:
        return
    row = t.c[at, BOX] + t.c[at, LEVEL] - 1
    t.c[at, LO], t.c[at, HI] = t.box[row, BOX_LO], t.box[row, BOX_HI]
    t.c[at, OWN_LO], t.c[at, OWN_HI] = t.box[row, BOX_OWN_LO], t.box[row, BOX_OWN_HI]


@njit(cache=True, nogil=True)
def above(t, at):
    """(The node above a bucket, whether that is across a p-node)."""
    parent = t.c[at, PARENT]
    if parent >= 0:
        return parent, False
    return t.p[-1 - parent, P_HOME], True


@njit(cache=True, nogil=True)
def stretch(t, keys, at, c, mode):
    """Count clause ``c`` in c-node ``at`` and everything above, and widen all bounds to hold it."""
    own = True
    while True:
        t.c[at, TOTAL] += 1
        if at == ROOT:
            return
        for row in range(t.c[at, BOX], t.c[at, BOX] + t.c[at, LEVEL]):
            u = unit_on(keys, c, t.box[row, BOX_DIM])
            t.box[row, BOX_LO] = min(t.box[row, BOX_LO], keys.lo[u])
            t.box[row, BOX_HI] = max(t.box[row, BOX_HI], keys.hi[u])
            if own:
                t.box[row, BOX_OWN_LO] = min(t.box[row, BOX_OWN_LO], keys.lo[u])
                t.box[row, BOX_OWN_HI] = max(t.box[row, BOX_OWN_HI], keys.hi[u])
        show(t, at, mode)
        if t.c[at, PARENT] < 0:
            t.p[-1 - t.c[at, PARENT], P_RANK] += 1
        at, own = above(t, at)


@njit(cache=True, nogil=True)
def widen(t, row, low, high, own):
    """Let a row of bounds hold ``low``..``high``."""
    t.box[row, BOX_LO], t.box[row, BOX_HI] = min(t.box[row, BOX_LO], low), max(t.box[row, BOX_HI], high)
    if own:
        t.box[row, BOX_OWN_LO] = min(t.box[row, BOX_OWN_LO], low)
        t.box[row, BOX_OWN_HI] = max(t.box[row, BOX_OWN_HI], high)


@njit(cache=True, nogil=True)
def refresh(t, keys, at, mode):
    """Bounds of one bucket anew: from its l-node, the c-directories below it, and its children.

    Those below know their bounds on this bucket's dimensions, too (to them, inactive), so nothing
    further down is looked at.
    """
    first, level = t.c[at, BOX], t.c[at, LEVEL]
    t.box[first : first + level, BOX_OWN_LO] = EMPTY_LO
    t.box[first : first + level, BOX_LO] = EMPTY_LO
    t.box[first : first + level, BOX_OWN_HI] = EMPTY_HI
    t.box[first : first + level, BOX_HI] = EMPTY_HI
    c = t.c[at, BEGIN]
    while c != NONE:
        for row in range(first, first + level):
            u = unit_on(keys, c, t.box[row, BOX_DIM])
            widen(t, row, keys.lo[u], keys.hi[u], True)
        c = t.after[c]
    p = t.c[at, P_FIRST]
    while p != NONE:
        below = t.c[t.p[p, P_DIRECTORY], BOX]
        for k in range(level):
            widen(t, first + k, t.box[below + k, BOX_LO], t.box[below + k, BOX_HI], True)
        p = t.p[p, P_NEXT]
    for side in (LEFT, RIGHT):
        if t.c[at, side] != ROOT:
            below = t.c[t.c[at, side], BOX]
            for k in range(level):
                widen(t, first + k, t.box[below + k, BOX_LO], t.box[below + k, BOX_HI], False)
    show(t, at, mode)


# ------------------------------------------------------------------------------------------- insertion
@njit(cache=True, nogil=True)
def best_partition(t, keys, at, c):
    """Of the p-nodes of c-node ``at`` that clause ``c`` fits, the one of the highest rank; NONE if none."""
    best = NONE
    p = t.c[at, P_FIRST]
    while p != NONE:
        better = best == NONE or t.p[p, P_RANK] > t.p[best, P_RANK]
        if better and unit_on(keys, c, t.p[p, P_DIM]) != NONE:
            best = p
        p = t.p[p, P_NEXT]
    return best


@njit(cache=True, nogil=True)
def child_for(t, at, low, high, rules):
    """Which child of a split bucket a range belongs to: LEFT, RIGHT, or NONE for the overlap bucket."""
    left, right = t.c[at, LEFT], t.c[at, RIGHT]
    if rules.mode == RIGID:
        middle = (t.c[at, LO] + t.c[at, HI]) >> 1
        if high <= middle:
            return LEFT
        return RIGHT if low > middle else NONE
    meets_left = left != ROOT and low <= t.c[left, HI] and high >= t.c[left, LO]
    meets_right = right != ROOT and low <= t.c[right, HI] and high >= t.c[right, LO]
    if meets_left or meets_right:
        if meets_left and meets_right:
            return NONE  # in a child it would violate the descendant-repelling property
        return LEFT if meets_left else RIGHT
    if left == ROOT or right == ROOT:  # a bucket of its own, on the side where it lies
        other = left if right == ROOT else right
        missing = RIGHT if right == ROOT else LEFT
        before = high < t.c[other, LO]
        return missing if before == (missing == LEFT) else (RIGHT if missing == LEFT else LEFT)
    grown_left = max(high, t.c[left, HI]) - min(low, t.c[left, LO])
    grown_right = max(high, t.c[right, HI]) - min(low, t.c[right, LO])
    return LEFT if grown_left < grown_right else RIGHT


@njit(cache=True, nogil=True)
def raise_bucket(t, at, rules):
    """Bottom-up expansion: a new bucket takes the place of ``at`` and becomes its parent."""
    parent = t.c[at, PARENT]
    home, _ = above(t, at)
    upper = new_bucket(t, t.c[at, DIM], t.c[at, LO], t.c[at, HI], parent, t.c[at, LEVEL], at, rules.capacity)
    t.c[upper, LEFT], t.c[at, PARENT] = at, upper
    t.c[upper, TOTAL] = t.c[at, TOTAL]
    for k in range(t.c[at, LEVEL]):
        t.box[t.c[upper, BOX] + k, BOX_LO] = t.box[t.c[at, BOX] + k, BOX_LO]
        t.box[t.c[upper, BOX] + k, BOX_HI] = t.box[t.c[at, BOX] + k, BOX_HI]
    show(t, upper, rules.mode)
    if parent < 0:
        t.p[-1 - parent, P_DIRECTORY] = upper
    else:
        t.c[home, LEFT if t.c[home, LEFT] == at else RIGHT] = upper
    return upper


@njit(cache=True, nogil=True)
def descend_directory(t, keys, at, c, rules):
    """InsertCDir: from the root bucket of a c-directory to the bucket that clause ``c`` goes to."""
    u = unit_on(keys, c, t.c[at, DIM])
    low, high = keys.lo[u], keys.hi[u]
    while t.c[at, LEFT] != ROOT or t.c[at, RIGHT] != ROOT:
        size = t.c[at, HI] - t.c[at, LO] + 1
        grown = max(high, t.c[at, HI]) - min(low, t.c[at, LO]) + 1
        if rules.mode != RIGID and grown > rules.beta * size:
            return raise_bucket(t, at, rules)
        side = child_for(t, at, low, high, rules)
        if side == NONE:
            return at
        if t.c[at, side] == ROOT:
            t.c[at, side] = new_child(t, at, side, rules)
        at = t.c[at, side]
    return at


@njit(cache=True, nogil=True)
def new_child(t, at, side, rules):
    """An empty child of a bucket."""
    low, high = np.int64(EMPTY_LO), np.int64(EMPTY_HI)
    if rules.mode == RIGID:
        middle = (t.c[at, LO] + t.c[at, HI]) >> 1
        low = t.c[at, LO] if side == LEFT else middle + 1
        high = middle if side == LEFT else t.c[at, HI]
    return new_bucket(t, t.c[at, DIM], low, high, at, t.c[at, LEVEL], at, rules.capacity)


@njit(cache=True, nogil=True)
def insert(t, keys, spare, c, cells, rules):
    """Put clause ``c`` into the tree, and split or partition what overflows."""
    at = np.int64(ROOT)
    p = best_partition(t, keys, at, c)
    while p != NONE:
        at = descend_directory(t, keys, t.p[p, P_DIRECTORY], c, rules)
        p = best_partition(t, keys, at, c)
    link(t, at, c)
    stretch(t, keys, at, c, rules.mode)
    settle(t, keys, spare, at, cells, rules)


@njit(cache=True, nogil=True)
def settle(t, keys, spare, at, cells, rules):
    """Clustering and partitioning of an l-node that overflows, and of those it is spread over."""
    todo = [at]
    while len(todo) > 0:
        at = todo.pop()
        if t.c[at, COUNT] <= t.c[at, LIMIT]:
            continue
        leaf = t.c[at, LEFT] == ROOT and t.c[at, RIGHT] == ROOT
        if at != ROOT and leaf and t.c[at, P_COUNT] == 0 and t.c[at, LO] < t.c[at, HI]:
            split(t, keys, spare, at, rules, todo)
        if t.c[at, COUNT] > t.c[at, LIMIT]:
            partition(t, keys, spare, at, cells, rules, todo)
        # What can be divided no further may stay, until it has doubled.
        if t.c[at, COUNT] > t.c[at, LIMIT]:
            t.c[at, LIMIT] = 2 * t.c[at, COUNT]


@njit(cache=True, nogil=True)
def split(t, keys, spare, at, rules, todo):
    """Divide a leaf bucket into left, overlap (itself) and right."""
    run = members(t, at)
    for c in run:
        u = unit_on(keys, c, t.c[at, DIM])
        spare.key_lo[c], spare.key_hi[c] = keys.lo[u], keys.hi[u]
    other = run.copy()
    sort_run(run, 0, len(run), spare.key_lo)
    sort_run(other, 0, len(run), spare.key_hi)
    cut = cut_of(
        run, other, 0, len(run), spare.key_lo, spare.key_hi, t.c[at, LO], t.c[at, HI], rules.alpha, rules.mode
    )
    middle, border = divide(run, 0, len(run), spare.key_lo, spare.key_hi, cut, other)
    for side, a, b in ((LEFT, middle, border), (RIGHT, border, len(run))):
        if a < b:
            child = new_child(t, at, side, rules)
            t.c[at, side] = child
            move(t, keys, run[a:b], child, rules.mode)
            todo.append(child)
    refresh(t, keys, at, rules.mode)


@njit(cache=True, nogil=True)
def move(t, keys, run, to, mode):
    """Move clauses to a new, empty bucket below their own; all counts above stay."""
    for c in run:
        unlink(t, c)
        link(t, to, c)
    t.c[to, TOTAL] = len(run)
    refresh(t, keys, to, mode)


@njit(cache=True, nogil=True)
def partition(t, keys, spare, at, cells, rules, todo):
    """Spread an l-node over p-nodes of the dimensions of the highest rank."""
    run = members(t, at)
    t.meta[MARK] += 1
    mark = t.meta[MARK]
    mark_used(t.c, t.p, at, spare.used, mark)
    chosen = choose_partitions(
        run, t.c[at, LIMIT], keys.start, keys.clause, keys.dimension, keys.gain, spare.used, mark, spare.held,
        spare.rank, spare.seen, spare.first, spare.last, spare.lists, spare.key,
    )  # fmt: skip
    start = distribute(run, 0, len(run), spare.key, keys.dimension, chosen, spare.first, spare.moved)
    for i in range(len(chosen)):
        p = new_partition(t, at, chosen[i], cells, rules)
        part = run[start[i + 1] : start[i + 2]]
        move(t, keys, part, t.p[p, P_DIRECTORY], rules.mode)
        t.p[p, P_RANK] = len(part)
        todo.append(t.p[p, P_DIRECTORY])


@njit(cache=True, nogil=True)
def insert_run(t, keys, spare, run, cells, rules, most_units):
    """Insert clauses until the tables may be full; returns how many are done.

    An insertion can spread one l-node over new nodes, each of which holds one of its clauses at least, on
    as many levels as a clause has conditions.
    """
    for i in range(len(run)):
        new = 3 * (t.meta[FULLEST] + 2) * (most_units + 1)
        if t.meta[C_USED] + new > len(t.c) or t.meta[P_USED] + new > len(t.p):
            return i
        if t.meta[BOX_USED] + new * (most_units + 1) > len(t.box):
            return i
        insert(t, keys, spare, run[i], cells, rules)
    return len(run)


# -------------------------------------------------------------------------------------------- deletion
@njit(cache=True, nogil=True)
def delete(t, keys, c, rules):
    """Take clause ``c`` out of the tree; nodes left empty go, underflowing leaves join an open parent."""
    at = t.home[c]
    unlink(t, c)
    up = at
    while True:
        t.c[up, TOTAL] -= 1
        if up == ROOT:
            break
        if t.c[up, PARENT] < 0:
            t.p[-1 - t.c[up, PARENT], P_RANK] -= 1
        up, _ = above(t, up)
    while at != ROOT and t.c[at, TOTAL] == 0:
        at = drop_empty(t, at)
    at = merge_up(t, at, rules)
    while at != ROOT:
        refresh(t, keys, at, rules.mode)
        at, _ = above(t, at)


@njit(cache=True, nogil=True)
def drop_empty(t, at):
    """Remove an empty bucket, with its p-node if it was the last; returns the c-node above."""
    upper, across = above(t, at)
    if across:
        drop_partition(t, -1 - t.c[at, PARENT])
    else:
        t.c[upper, LEFT if t.c[upper, LEFT] == at else RIGHT] = ROOT
        give_up(t, at)
    return upper


@njit(cache=True, nogil=True)
def merge_up(t, at, rules):
    """Merge rule: a leaf bucket below α of the capacity joins its parent bucket if that is open."""
    if at == ROOT or t.c[at, PARENT] < 0 or t.c[at, COUNT] != t.c[at, TOTAL]:
        return at
    parent = t.c[at, PARENT]
    few = t.c[at, COUNT] <= max(1.0, rules.alpha * rules.capacity)
    if not few or t.c[parent, P_COUNT] > 0 or t.c[parent, COUNT] + t.c[at, COUNT] > rules.capacity:
        return at
    for c in members(t, at):
        unlink(t, c)
        link(t, parent, c)
    return drop_empty(t, at)


@njit(cache=True, nogil=True)
def collect_below(t, p):
    """All clauses of a partition."""
    found = [np.int64(0) for _ in range(0)]
    todo = [t.p[p, P_DIRECTORY]]
    while len(todo) > 0:
        at = todo.pop()
        for c in members(t, at):
            found.append(c)
        for side in (LEFT, RIGHT):
            if t.c[at, side] != ROOT:
                todo.append(t.c[at, side])
        below = t.c[at, P_FIRST]
        while below != NONE:
            todo.append(t.p[below, P_DIRECTORY])
            below = t.p[below, P_NEXT]
    return np.array(found)


# ------------------------------------------------------------------------------- matching and feedback
@njit(cache=True, nogil=True)
def search(t, a, b, dimension, lo, hi, general, cell, hull, start, literal, set_lo, set_hi, work):
    """The clauses that the event ``a``:``b`` satisfies; l-nodes note how many they held in vain."""
    found = [np.int64(0) for _ in range(0)]
    todo = [np.int64(ROOT)]
    while len(todo) > 0:
        at = todo.pop()
        row, d = t.c[at], t.c[at, DIM]
        work[2] += 1
        for side in (LEFT, RIGHT):
            child = row[side]
            if child != ROOT and touches(d, t.c[child, LO], t.c[child, HI], cell, general, b, dimension, lo,
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
            child = t.p[p, P_DIRECTORY]
            work[2] += 1
            if touches(
                t.p[p, P_DIM], t.c[child, LO], t.c[child, HI], cell, general, b, dimension, lo, hi, hull
            ):
                todo.append(child)
            p = t.p[p, P_NEXT]
    return np.array(found, np.int64)


@njit(cache=True, nogil=True)
def sum_losses(t):
    """Carry what c-nodes lost in a window up to all p-nodes above them."""
    for p in range(t.meta[P_USED]):
        t.p[p, P_LOST] = 0
    for at in range(t.meta[C_USED]):
        lost, up = t.c[at, LOST], np.int64(at)
        t.c[at, LOST] = 0
        while lost > 0 and up != ROOT:
            if t.c[up, PARENT] < 0:
                t.p[-1 - t.c[up, PARENT], P_LOST] += lost
            up, _ = above(t, up)


# --------------------------------------------------------------------------------------------- freezing
@njit(cache=True, nogil=True)
def freeze(t, keys, c_node, p_node, order, late):
    """Write the tree in its frozen form; returns (c-nodes, p-nodes). ``late`` marks units on the way."""
    c_count, p_count, placed = 1, 0, 0
    todo = [(np.int64(ROOT), np.int64(ROOT))]
    while len(todo) > 0:
        at, to = todo.pop()
        c_node[to] = 0
        c_node[to, DIM : OWN_HI + 1] = t.c[at, DIM : OWN_HI + 1]
        if t.c[at, COUNT] == 0 and t.c[at, P_COUNT] == 0:
            c_node[to, OWN_LO], c_node[to, OWN_HI] = 1, 0
        c_node[to, BEGIN], c_node[to, COUNT] = placed, t.c[at, COUNT]
        for c in members(t, at):
            order[placed] = c
            placed += 1
            for row in range(t.c[at, BOX], t.c[at, BOX] + t.c[at, LEVEL]):
                late[unit_on(keys, c, t.box[row, BOX_DIM])] = True
        for side in (LEFT, RIGHT):
            if t.c[at, side] != ROOT:
                c_node[to, side] = c_count
                todo.append((t.c[at, side], np.int64(c_count)))
                c_count += 1
        below = np.empty(t.c[at, P_COUNT], np.int64)
        p = t.c[at, P_FIRST]
        for i in range(len(below)):
            below[i] = p
            p = t.p[p, P_NEXT]
        c_node[to, P_FIRST], c_node[to, P_COUNT] = p_count, len(below)
        for p in below[np.argsort(t.p[below, P_DIM])]:
            p_node[p_count, P_DIM], p_node[p_count, P_HOME] = t.p[p, P_DIM], to
            p_node[p_count, P_DIRECTORY] = c_count
            todo.append((t.p[p, P_DIRECTORY], np.int64(c_count)))
            c_count += 1
            p_count += 1
    return c_count, p_count
