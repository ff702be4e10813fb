"""Insert and delete one clause at a time (algorithms 1 to 5 of the paper)."""

import numpy as np

from tamis.engines.bestar.batch._kernels import choose_partitions, distribute, mark_used
from tamis.engines.bestar.cut._kernels import cut_of, divide
from tamis.engines.bestar.growth.nodes._kernels import (
    EMPTY_HI,
    EMPTY_LO,
    above,
    drop_partition,
    give_up,
    link,
    members,
    new_bucket,
    new_partition,
    refresh,
    show,
    stretch,
    unit_on,
    unlink,
)
from tamis.engines.bestar.growth.tables import (
    ALPHA,
    BETA,
    BOX,
    BOX_HI,
    BOX_LO,
    BOX_USED,
    BOXES,
    C_USED,
    CAPACITY,
    CLAUSE,
    DIMENSION,
    FIRST,
    FULLEST,
    GAIN,
    HELD,
    HOME,
    KEY,
    KEY_HI,
    KEY_LO,
    LAST,
    LEVEL,
    LIMIT,
    LISTS,
    MARK,
    META,
    MODE,
    MOVED,
    NONE,
    P_NEXT,
    P_RANK,
    P_USED,
    RANK,
    RUN_HI,
    RUN_LO,
    SEEN,
    START,
    TOTAL,
    USED,
    C,
    P,
)
from tamis.engines.bestar.nodes import (
    COUNT,
    DIM,
    HI,
    LEFT,
    LO,
    P_COUNT,
    P_DIM,
    P_DIRECTORY,
    P_FIRST,
    PARENT,
    RIGHT,
    RIGID,
    ROOT,
)
from tamis.engines.order._kernels import sort_run
from tamis.kernel import kernel


# ------------------------------------------------------------------------------------------- insertion
@kernel
def best_partition(t, keys, at, c):
    """Return the p-node of c-node ``at`` that clause ``c`` fits and that has the highest rank, else NONE."""
    best = NONE
    p = t[C][at, P_FIRST]
    while p != NONE:
        better = best == NONE or t[P][p, P_RANK] > t[P][best, P_RANK]
        if better and unit_on(keys, c, t[P][p, P_DIM]) != NONE:
            best = p
        p = t[P][p, P_NEXT]
    return best


@kernel
def child_for(t, at, low, high, rules):
    """Return the child of a split bucket that a range belongs to: LEFT, RIGHT, or NONE for the overlap."""
    left, right = t[C][at, LEFT], t[C][at, RIGHT]
    if rules[MODE] == RIGID:
        middle = (t[C][at, LO] + t[C][at, HI]) >> 1
        if high <= middle:
            return LEFT
        return RIGHT if low > middle else NONE
    meets_left = left != ROOT and low <= t[C][left, HI] and high >= t[C][left, LO]
    meets_right = right != ROOT and low <= t[C][right, HI] and high >= t[C][right, LO]
    if meets_left or meets_right:
        if meets_left and meets_right:
            return NONE  # in a child, the range would violate the descendant-repelling property
        return LEFT if meets_left else RIGHT
    if left == ROOT or right == ROOT:  # its own bucket, on the side where it lies
        other = left if right == ROOT else right
        missing = RIGHT if right == ROOT else LEFT
        before = high < t[C][other, LO]
        return missing if before == (missing == LEFT) else (RIGHT if missing == LEFT else LEFT)
    grown_left = max(high, t[C][left, HI]) - min(low, t[C][left, LO])
    grown_right = max(high, t[C][right, HI]) - min(low, t[C][right, LO])
    return LEFT if grown_left < grown_right else RIGHT


@kernel
def raise_bucket(t, at, rules):
    """Replace ``at`` with a new bucket that becomes its parent (bottom-up expansion)."""
    parent = t[C][at, PARENT]
    home, _ = above(t, at)
    upper = new_bucket(
        t, t[C][at, DIM], t[C][at, LO], t[C][at, HI], parent, t[C][at, LEVEL], at, rules[CAPACITY]
    )
    t[C][upper, LEFT], t[C][at, PARENT] = at, upper
    t[C][upper, TOTAL] = t[C][at, TOTAL]
    for k in range(t[C][at, LEVEL]):
        t[BOXES][t[C][upper, BOX] + k, BOX_LO] = t[BOXES][t[C][at, BOX] + k, BOX_LO]
        t[BOXES][t[C][upper, BOX] + k, BOX_HI] = t[BOXES][t[C][at, BOX] + k, BOX_HI]
    show(t, upper, rules[MODE])
    if parent < 0:
        t[P][-1 - parent, P_DIRECTORY] = upper
    else:
        t[C][home, LEFT if t[C][home, LEFT] == at else RIGHT] = upper
    return upper


@kernel
def descend_directory(t, keys, at, c, rules):
    """Return the bucket of c-directory ``at`` that clause ``c`` goes to (InsertCDir)."""
    u = unit_on(keys, c, t[C][at, DIM])
    low, high = keys[KEY_LO][u], keys[KEY_HI][u]
    while t[C][at, LEFT] != ROOT or t[C][at, RIGHT] != ROOT:
        size = t[C][at, HI] - t[C][at, LO] + 1
        grown = max(high, t[C][at, HI]) - min(low, t[C][at, LO]) + 1
        if rules[MODE] != RIGID and grown > rules[BETA] * size:
            return raise_bucket(t, at, rules)
        side = child_for(t, at, low, high, rules)
        if side == NONE:
            return at
        if t[C][at, side] == ROOT:
            t[C][at, side] = new_child(t, at, side, rules)
        at = t[C][at, side]
    return at


@kernel
def new_child(t, at, side, rules):
    """Return an empty child of a bucket."""
    low, high = np.int64(EMPTY_LO), np.int64(EMPTY_HI)
    if rules[MODE] == RIGID:
        middle = (t[C][at, LO] + t[C][at, HI]) >> 1
        low = t[C][at, LO] if side == LEFT else middle + 1
        high = middle if side == LEFT else t[C][at, HI]
    return new_bucket(t, t[C][at, DIM], low, high, at, t[C][at, LEVEL], at, rules[CAPACITY])


@kernel
def insert(t, keys, spare, c, cells, rules):
    """Put clause ``c`` into the tree, and split or partition nodes that overflow."""
    at = np.int64(ROOT)
    p = best_partition(t, keys, at, c)
    while p != NONE:
        at = descend_directory(t, keys, t[P][p, P_DIRECTORY], c, rules)
        p = best_partition(t, keys, at, c)
    link(t, at, c)
    stretch(t, keys, at, c, rules[MODE])
    settle(t, keys, spare, at, cells, rules)


@kernel
def settle(t, keys, spare, at, cells, rules):
    """Cluster and partition an l-node that overflows, and those over which it is spread."""
    todo = [at]
    while len(todo) > 0:
        at = todo.pop()
        if t[C][at, COUNT] <= t[C][at, LIMIT]:
            continue
        leaf = t[C][at, LEFT] == ROOT and t[C][at, RIGHT] == ROOT
        if at != ROOT and leaf and t[C][at, P_COUNT] == 0 and t[C][at, LO] < t[C][at, HI]:
            split(t, keys, spare, at, rules, todo)
        if t[C][at, COUNT] > t[C][at, LIMIT]:
            partition(t, keys, spare, at, cells, rules, todo)
        # A node that cannot be divided may stay until it has doubled.
        if t[C][at, COUNT] > t[C][at, LIMIT]:
            t[C][at, LIMIT] = 2 * t[C][at, COUNT]


@kernel
def split(t, keys, spare, at, rules, todo):
    """Divide a leaf bucket into left, overlap (itself) and right."""
    run = members(t, at)
    for c in run:
        u = unit_on(keys, c, t[C][at, DIM])
        spare[RUN_LO][c], spare[RUN_HI][c] = keys[KEY_LO][u], keys[KEY_HI][u]
    other = run.copy()
    sort_run(run, 0, len(run), spare[RUN_LO], spare[MOVED])
    sort_run(other, 0, len(run), spare[RUN_HI], spare[MOVED])
    cut = cut_of(
        run,
        other,
        0,
        len(run),
        spare[RUN_LO],
        spare[RUN_HI],
        t[C][at, LO],
        t[C][at, HI],
        rules[ALPHA],
        rules[MODE],
    )
    middle, border = divide(run, 0, len(run), spare[RUN_LO], spare[RUN_HI], cut, other)
    for side, a, b in ((LEFT, middle, border), (RIGHT, border, len(run))):
        if a < b:
            child = new_child(t, at, side, rules)
            t[C][at, side] = child
            move(t, keys, run[a:b], child, rules[MODE])
            todo.append(child)
    refresh(t, keys, at, rules[MODE])


@kernel
def move(t, keys, run, to, mode):
    """Move clauses to a new, empty bucket below their own; all counts above stay."""
    for c in run:
        unlink(t, c)
        link(t, to, c)
    t[C][to, TOTAL] = len(run)
    refresh(t, keys, to, mode)


@kernel
def partition(t, keys, spare, at, cells, rules, todo):
    """Spread an l-node over p-nodes of the dimensions of the highest rank."""
    run = members(t, at)
    t[META][MARK] += 1
    mark = t[META][MARK]
    mark_used(t[C], t[P], at, spare[USED], mark)
    chosen = choose_partitions(
        run, t[C][at, LIMIT], keys[START], keys[CLAUSE], keys[DIMENSION], keys[GAIN], spare[USED], mark,
        spare[HELD], spare[RANK], spare[SEEN], spare[FIRST], spare[LAST], spare[LISTS], spare[KEY],
    )  # fmt: skip
    start = distribute(run, 0, len(run), spare[KEY], keys[DIMENSION], chosen, spare[FIRST], spare[MOVED])
    for i in range(len(chosen)):
        p = new_partition(t, at, chosen[i], cells, rules)
        part = run[start[i + 1] : start[i + 2]]
        move(t, keys, part, t[P][p, P_DIRECTORY], rules[MODE])
        t[P][p, P_RANK] = len(part)
        todo.append(t[P][p, P_DIRECTORY])


@kernel
def insert_run(t, keys, spare, run, cells, rules, most_units):
    """Insert clauses until the tables may be full; return the number of clauses done.

    An insertion can spread one l-node over new nodes, each of which holds at least one of its clauses, on as
    many levels as a clause has conditions.
    """
    for i in range(len(run)):
        new = 3 * (t[META][FULLEST] + 2) * (most_units + 1)
        if t[META][C_USED] + new > len(t[C]) or t[META][P_USED] + new > len(t[P]):
            return i
        if t[META][BOX_USED] + new * (most_units + 1) > len(t[BOXES]):
            return i
        insert(t, keys, spare, run[i], cells, rules)
    return len(run)


# -------------------------------------------------------------------------------------------- deletion
@kernel
def delete(t, keys, c, rules):
    """Remove clause ``c`` from the tree: drop empty nodes, merge underflowing leaves into an open parent."""
    at = t[HOME][c]
    unlink(t, c)
    up = at
    while True:
        t[C][up, TOTAL] -= 1
        if up == ROOT:
            break
        if t[C][up, PARENT] < 0:
            t[P][-1 - t[C][up, PARENT], P_RANK] -= 1
        up, _ = above(t, up)
    while at != ROOT and t[C][at, TOTAL] == 0:
        at = drop_empty(t, at)
    at = merge_up(t, at, rules)
    while at != ROOT:
        refresh(t, keys, at, rules[MODE])
        at, _ = above(t, at)


@kernel
def drop_empty(t, at):
    """Remove an empty bucket, with its p-node if it was the last; return the c-node above."""
    upper, across = above(t, at)
    if across:
        drop_partition(t, -1 - t[C][at, PARENT])
    else:
        t[C][upper, LEFT if t[C][upper, LEFT] == at else RIGHT] = ROOT
        give_up(t, at)
    return upper


@kernel
def merge_up(t, at, rules):
    """Merge a leaf bucket below α of the capacity into its parent bucket if that is open (merge rule)."""
    if at == ROOT or t[C][at, PARENT] < 0 or t[C][at, COUNT] != t[C][at, TOTAL]:
        return at
    parent = t[C][at, PARENT]
    few = t[C][at, COUNT] <= max(1.0, rules[ALPHA] * rules[CAPACITY])
    if not few or t[C][parent, P_COUNT] > 0 or t[C][parent, COUNT] + t[C][at, COUNT] > rules[CAPACITY]:
        return at
    for c in members(t, at):
        unlink(t, c)
        link(t, parent, c)
    return drop_empty(t, at)
