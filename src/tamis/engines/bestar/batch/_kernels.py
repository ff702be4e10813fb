"""Build the tree from the root down: partition and cluster one list of clauses."""

import numpy as np

from tamis.engines.bestar.cut._kernels import cut_of, divide
from tamis.engines.bestar.nodes import (
    BEGIN,
    C_WIDTH,
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
    P_WIDTH,
    PARENT,
    RIGHT,
    RIGID,
    ROOT,
)
from tamis.engines.order._kernels import copy, drop_first, push, sort_run
from tamis.kernel import kernel

PARTITION, CLUSTER = 0, 1
KIND, AT, FROM, TO = range(4)  # a task: partition or cluster, of which c-node, over which run
NONE = -1
FIRST_ROOM = 64


@kernel
def zeros(count):
    """Return a column of zeros."""
    return np.zeros(count, np.int64)


@kernel
def enlarged(table, used, more):
    """Return ``table`` with room for ``more`` rows beyond ``used``."""
    if used + more <= len(table):
        return table
    larger = np.zeros((2 * (used + more), table.shape[1]), np.int64)
    for row in range(used):
        for column in range(table.shape[1]):
            larger[row, column] = table[row, column]
    return larger


@kernel
def bounds(run, key_lo, key_hi):
    """Return the least and the greatest cell of the keys of some clauses."""
    low, high = key_lo[run[0]], key_hi[run[0]]
    for c in run:
        low, high = min(low, key_lo[c]), max(high, key_hi[c])
    return low, high


@kernel
def mark_used(c_node, p_node, at, used, mark):
    """Mark the dimensions that partition the path from the root to c-node ``at``."""
    while at != ROOT:
        used[c_node[at, DIM]] = mark
        while c_node[at, PARENT] >= 0:  # up the c-directory
            at = c_node[at, PARENT]
        at = p_node[-1 - c_node[at, PARENT], P_HOME]


@kernel
def count_units(run, unit_start, dimension, gain, used, mark, count, rank, seen):
    """Count, per unused dimension, the clauses of a run that have it, and sum up their gains.

    Write these dimensions to ``seen`` and return their number.
    """
    many = 0
    for c in run:
        for u in range(unit_start[c], unit_start[c + 1]):
            d = dimension[u]
            if used[d] == mark:
                continue
            if count[d] == 0:
                seen[many] = d
                many += 1
            count[d] += 1
            rank[d] += gain[u]
    return many


@kernel
def list_units(run, unit_start, dimension, used, mark, last, lists):
    """Distribute the units of a run to the lists of their dimensions, each from ``last`` on."""
    for c in run:
        for u in range(unit_start[c], unit_start[c + 1]):
            d = dimension[u]
            if used[d] != mark:
                lists[last[d]] = u
                last[d] += 1


@kernel
def choose_partitions(
    run, capacity, unit_start, unit_clause, dimension, gain, used, mark, count, rank, seen, first, last,
    lists, key,
):  # fmt: skip
    """Choose dimensions, highest rank first, until the rest of the run fits an l-node; return them sorted.

    ``key`` receives the unit by which a clause is partitioned, NONE if it stays. A clause goes with the first
    chosen dimension it has and then no longer counts for others. Ranks only fall, so a heap with outdated
    entries finds the highest.
    """
    many = count_units(run, unit_start, dimension, gain, used, mark, count, rank, seen)
    ranks, heap = np.empty(many, np.int64), np.empty(many, np.int64)
    at = np.int64(0)
    for i in range(many):
        d = seen[i]
        first[d], last[d] = at, at
        at += count[d]
        push(ranks, heap, i, rank[d], d)
    list_units(run, unit_start, dimension, used, mark, last, lists)
    for c in run:
        key[c] = NONE
    chosen = np.empty(many, np.int64)
    picked, rest, left = 0, len(run), many
    while rest > capacity and left > 0:
        noted, d = ranks[0], heap[0]
        drop_first(ranks, heap, left)
        left -= 1
        if noted != rank[d]:
            if count[d] > 0:
                push(ranks, heap, left, rank[d], d)
                left += 1
            continue
        chosen[picked] = d
        picked += 1
        for i in range(first[d], last[d]):
            c = unit_clause[lists[i]]
            if key[c] != NONE:
                continue
            key[c] = lists[i]
            rest -= 1
            for u in range(unit_start[c], unit_start[c + 1]):
                if used[dimension[u]] != mark:
                    count[dimension[u]] -= 1
                    rank[dimension[u]] -= gain[u]
    for i in range(many):
        count[seen[i]], rank[seen[i]] = 0, 0
    for i in range(picked):
        push(ranks, heap, i, -chosen[i], chosen[i])
    for i in range(picked):
        chosen[i] = heap[0]
        drop_first(ranks, heap, picked - i)
    return chosen[:picked]


@kernel
def distribute(order, begin, end, key, dimension, chosen, place, spare):
    """Sort a run of clauses by partition, those that stay first; return the begin of each partition."""
    for p in range(len(chosen)):
        place[chosen[p]] = p + 1
    start = np.zeros(len(chosen) + 2, np.int64)
    for i in range(begin, end):
        start[1 + (0 if key[order[i]] == NONE else place[dimension[key[order[i]]]])] += 1
    start[0] = begin
    for p in range(1, len(start)):
        start[p] += start[p - 1]
    fill = start.copy()
    for i in range(begin, end):
        p = 0 if key[order[i]] == NONE else place[dimension[key[order[i]]]]
        spare[fill[p]] = order[i]
        fill[p] += 1
    copy(spare, begin, end, order, begin)
    return start


@kernel
def bucket(c_node, at, dimension, low, high, parent):
    """Write a new, empty bucket: a c-node of the c-directory of ``dimension``."""
    c_node[at, DIM], c_node[at, PARENT] = dimension, parent
    c_node[at, LO], c_node[at, HI] = low, high


@kernel
def later(todo, top, kind, at, begin, end):
    """Push a task on the stack, which has room for it."""
    todo[top, KIND], todo[top, AT], todo[top, FROM], todo[top, TO] = kind, at, begin, end


@kernel
def cluster(at, begin, end, by_lo, by_hi, key_lo, key_hi, capacity, alpha, mode, spare, c_node, c_count, todo,
            top):  # fmt: skip
    """Cut an overfull bucket in two; return the end of the part that stays and the number of children.

    The children are pushed on the stack, the left one on top.
    """
    low, high = c_node[at, LO], c_node[at, HI]
    middle, made = end, 0
    if end - begin > capacity and low < high:
        cut = cut_of(by_lo, by_hi, begin, end, key_lo, key_hi, low, high, alpha, mode)
        middle, border = divide(by_lo, begin, end, key_lo, key_hi, cut, spare)
        divide(by_hi, begin, end, key_lo, key_hi, cut, spare)
        for side in (RIGHT, LEFT):
            a, b = (border, end) if side == RIGHT else (middle, border)
            if a == b:
                continue
            if mode == RIGID:
                least, most = (cut + 1, high) if side == RIGHT else (low, cut)
            else:
                least, most = key_lo[by_lo[a]], key_hi[by_hi[b - 1]]
            bucket(c_node, c_count + made, c_node[at, DIM], least, most, at)
            c_node[at, side] = c_count + made
            later(todo, top + made, CLUSTER, c_count + made, a, b)
            made += 1
    c_node[at, OWN_LO], c_node[at, OWN_HI] = 1, 0  # an empty interval, so no event enters
    if mode == RIGID:
        c_node[at, OWN_LO], c_node[at, OWN_HI] = low, high
    elif middle > begin:
        c_node[at, OWN_LO], c_node[at, OWN_HI] = bounds(by_lo[begin:middle], key_lo, key_hi)
    return middle, made


@kernel
def construct(
    unit_start, unit_clause, dimension, lo, hi, gain, cells, capacity, alpha, mode, late
):  # fmt: skip
    """Return the tree over all clauses: c-nodes, p-nodes, the clauses in the order of their l-nodes.

    ``late`` marks the units that partition a path: they are checked last. A bucket's PARENT is the bucket
    above it, or -1 - p for the root bucket of the c-directory of p-node p.
    """
    clauses, dimensions = len(unit_start) - 1, len(cells)
    by_lo, by_hi, spare, key = zeros(clauses), zeros(clauses), zeros(clauses), zeros(clauses)
    key_lo, key_hi = zeros(clauses), zeros(clauses)
    for c in range(clauses):
        by_lo[c], by_hi[c] = c, c
    used, count, rank = zeros(dimensions), zeros(dimensions), zeros(dimensions)
    first, last, seen = zeros(dimensions), zeros(dimensions), zeros(dimensions)
    lists = zeros(len(dimension))
    c_node = np.zeros((FIRST_ROOM, C_WIDTH), np.int64)
    p_node = np.zeros((FIRST_ROOM, P_WIDTH), np.int64)
    # Pass numbers, not literals: each literal would compile the kernel again.
    c_count, p_count, mark, top, two = np.int64(1), np.int64(0), np.int64(0), np.int64(1), np.int64(2)
    todo = np.zeros((FIRST_ROOM, TO + 1), np.int64)
    todo[0, TO] = clauses
    while top > 0:
        top -= 1
        at, begin, end = todo[top, AT], todo[top, FROM], todo[top, TO]
        if todo[top, KIND] == CLUSTER:
            c_node, todo = enlarged(c_node, c_count, two), enlarged(todo, top, two)
            end, made = cluster(
                at, begin, end, by_lo, by_hi, key_lo, key_hi, capacity, alpha, mode, spare, c_node, c_count,
                todo, top,
            )  # fmt: skip
            c_count, top = c_count + made, top + made
        c_node[at, BEGIN], c_node[at, COUNT], c_node[at, P_FIRST] = begin, end - begin, p_count
        if end - begin <= capacity:
            continue
        mark += 1
        mark_used(c_node, p_node, at, used, mark)
        chosen = choose_partitions(
            by_lo[begin:end], capacity, unit_start, unit_clause, dimension, gain, used, mark, count, rank,
            seen, first, last, lists, key,
        )  # fmt: skip
        start = distribute(by_lo, begin, end, key, dimension, chosen, first, spare)
        many = len(chosen)
        c_node[at, COUNT], c_node[at, P_COUNT] = start[1] - begin, many
        c_node, todo = enlarged(c_node, c_count, many), enlarged(todo, top, many)
        p_node = enlarged(p_node, p_count, many)
        for i in range(start[1], end):
            c = by_lo[i]
            key_lo[c], key_hi[c], late[key[c]] = lo[key[c]], hi[key[c]], True
        for p in range(many):
            a, b, d = start[p + 1], start[p + 2], chosen[p]
            p_node[p_count, P_DIM], p_node[p_count, P_DIRECTORY] = d, c_count
            p_node[p_count, P_HOME] = at
            least, most = bounds(by_lo[a:b], key_lo, key_hi)
            if mode == RIGID:
                least, most = np.int64(1), np.int64(cells[d])
            if b - a > capacity:
                copy(by_lo, a, b, by_hi, a)
                sort_run(by_lo, a, b, key_lo, spare)
                sort_run(by_hi, a, b, key_hi, spare)
            bucket(c_node, c_count, d, least, most, -1 - p_count)
            later(todo, top, CLUSTER, c_count, a, b)
            c_count, p_count, top = c_count + 1, p_count + 1, top + 1
    return c_node[:c_count], p_node[:p_count], by_lo
