"""Batch construction: partitioning and clustering, from the root down, over one list of clauses."""

import heapq

import numpy as np
from numba import njit

from tamis.index.bestar.nodes import (
    APPROXIMATE,
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

PARTITION, CLUSTER = 0, 1
NONE = -1
FIRST_ROOM = 64


@njit(cache=True, nogil=True)
def enlarged(table, used, more):
    """``table`` with room for ``more`` rows beyond ``used``."""
    if used + more <= len(table):
        return table
    larger = np.zeros((2 * (used + more), table.shape[1]), np.int64)
    copy(table.reshape(-1), 0, used * table.shape[1], larger.reshape(-1), 0)
    return larger


@njit(cache=True, nogil=True)
def zeros(count):
    """A column of zeros."""
    return np.zeros(count, np.int64)


@njit(cache=True, nogil=True)
def copy(source, begin, end, target, at):
    """``source[begin:end]`` to ``target[at:]``; an assignment of slices would take seconds to compile."""
    for i in range(begin, end):
        target[at + i - begin] = source[i]


@njit(cache=True, nogil=True)
def approximate_cut(los, his, least):
    """From both ends to the middle: left takes what ends before right, right what begins behind left.

    ``los`` and ``his`` are sorted each. Returns the last cell of the left bucket, NONE if a side gets
    fewer than ``least`` expressions.
    """
    left, right = NONE, his[-1] + 1
    for i in range(len(his)):
        if his[i] < right:
            left = his[i]
        if los[len(los) - 1 - i] > left:
            right = los[len(los) - 1 - i]
    lefts = np.searchsorted(his, left, side="right")
    rights = len(los) - np.searchsorted(los, left, side="right")
    return left if min(lefts, rights) >= least else NONE


@njit(cache=True, nogil=True)
def exhaustive_cut(los, hi_of, his, lo_of, least):
    """The best cut of a bucket, the last cell of its left part; NONE if none leaves ``least`` on each side.

    Best: the shortest overlap bucket, then the smallest coverage, then the most even. ``los`` is sorted,
    ``hi_of`` has the other ends in that order; ``his`` and ``lo_of`` likewise. What reaches over a cut has
    its lo at or before it and its hi behind it, so running maxima and minima give the overlap of every
    cut: the enumeration costs less than the sorting.
    """
    n = len(los)
    highest, lowest = hi_of.copy(), lo_of.copy()  # of what begins up to here, of what ends from here on
    right_end, left_end = hi_of.copy(), lo_of.copy()  # of what begins from here on, of what ends up to here
    for i in range(1, n):
        highest[i] = max(highest[i], highest[i - 1])
        left_end[i] = min(left_end[i], left_end[i - 1])
        lowest[n - 1 - i] = min(lowest[n - 1 - i], lowest[n - i])
        right_end[n - 1 - i] = max(right_end[n - 1 - i], right_end[n - i])
    best, best_overlap, best_coverage, best_skew = NONE, 0, 0, 0
    for side in range(2):
        lefts, begun = 0, 0  # how many end, how many begin at or before the cut
        for at in range(n):
            cut = his[at] if side == 0 else los[at] - 1
            while lefts < n and his[lefts] <= cut:
                lefts += 1
            while begun < n and los[begun] <= cut:
                begun += 1
            rights = n - begun
            if lefts < least or rights < least:
                continue
            coverage = his[lefts - 1] - left_end[lefts - 1] + right_end[begun] - los[begun] + 2
            overlap = 0
            if begun > lefts:
                low, high = lowest[lefts], highest[begun - 1]
                overlap = high - low + 1
                coverage += overlap - max(0, his[lefts - 1] - max(low, left_end[lefts - 1]) + 1)
                coverage -= max(0, min(high, right_end[begun]) - los[begun] + 1)
            skew = abs(lefts - rights)
            if best == NONE or (overlap, coverage, skew) < (best_overlap, best_coverage, best_skew):
                best, best_overlap, best_coverage, best_skew = cut, overlap, coverage, skew
    return best


@njit(cache=True, nogil=True)
def cut_of(by_lo, by_hi, begin, end, key_lo, key_hi, low, high, alpha, mode):
    """Where to cut the bucket ``low``..``high``: data clustering, else (or if rigid) space clustering."""
    middle = (low + high) >> 1
    if mode == RIGID:
        return middle
    least = max(1, np.int64(np.ceil(alpha * (end - begin))))
    los, his = key_lo[by_lo[begin:end]], key_hi[by_hi[begin:end]]
    if mode == APPROXIMATE:
        cut = approximate_cut(los, his, least)
    else:
        cut = exhaustive_cut(los, key_hi[by_lo[begin:end]], his, key_lo[by_hi[begin:end]], least)
    return middle if cut == NONE else cut


@njit(cache=True, nogil=True)
def divide(order, begin, end, key_lo, key_hi, cut, spare):
    """Move overlap, left and right part of a run behind each other, orders kept; returns the two borders."""
    overlaps, lefts = 0, 0
    for i in range(begin, end):
        if key_hi[order[i]] <= cut:
            lefts += 1
        elif key_lo[order[i]] <= cut:
            overlaps += 1
    over, left, right = begin, begin + overlaps, begin + overlaps + lefts
    for i in range(begin, end):
        c = order[i]
        if key_hi[c] <= cut:
            spare[left] = c
            left += 1
        elif key_lo[c] <= cut:
            spare[over] = c
            over += 1
        else:
            spare[right] = c
            right += 1
    copy(spare, begin, end, order, begin)
    return begin + overlaps, begin + overlaps + lefts


@njit(cache=True, nogil=True)
def sort_run(order, begin, end, key):
    """Sort a run of clauses by a key; equal keys keep their order."""
    run = order[begin:end].copy()
    copy(run[np.argsort(key[run], kind="mergesort")], 0, end - begin, order, begin)


@njit(cache=True, nogil=True)
def bounds(run, key_lo, key_hi):
    """Least and greatest cell of the keys of some clauses."""
    low, high = key_lo[run[0]], key_hi[run[0]]
    for c in run:
        low, high = min(low, key_lo[c]), max(high, key_hi[c])
    return low, high


@njit(cache=True, nogil=True)
def mark_used(c_node, p_node, at, used, mark):
    """Mark the dimensions that partition the way from the root down to c-node ``at``."""
    while at != ROOT:
        used[c_node[at, DIM]] = mark
        while c_node[at, PARENT] >= 0:  # up the c-directory
            at = c_node[at, PARENT]
        at = p_node[-1 - c_node[at, PARENT], P_HOME]


@njit(cache=True, nogil=True)
def count_units(run, unit_start, dimension, gain, used, mark, count, rank, seen):
    """Per dimension not used yet: how many clauses of a run have it, and what it would gain.

    Writes the dimensions to ``seen``; returns how many.
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


@njit(cache=True, nogil=True)
def list_units(run, unit_start, dimension, used, mark, last, lists):
    """Distribute the units of a run to the lists of their dimensions, each from ``last`` on."""
    for c in run:
        for u in range(unit_start[c], unit_start[c + 1]):
            d = dimension[u]
            if used[d] != mark:
                lists[last[d]] = u
                last[d] += 1


@njit(cache=True, nogil=True)
def choose_partitions(
    run, capacity, unit_start, unit_clause, dimension, gain, used, mark, count, rank, seen, first, last,
    lists, key,
):  # fmt: skip
    """Take dimensions, highest rank first, until the rest of the run fits an l-node; returns them sorted.

    ``key`` receives the unit by which a clause is partitioned, NONE if it stays. A clause goes with the
    first chosen dimension it has, and then no longer counts for others: ranks only fall, so a heap with
    outdated entries finds the highest.
    """
    many = count_units(run, unit_start, dimension, gain, used, mark, count, rank, seen)
    heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
    at = np.int64(0)
    for i in range(many):
        d = seen[i]
        first[d], last[d] = at, at
        at += count[d]
        heap.append((-rank[d], np.int64(d)))
    heapq.heapify(heap)
    list_units(run, unit_start, dimension, used, mark, last, lists)
    for c in run:
        key[c] = NONE
    chosen = np.empty(many, np.int64)
    taken, rest = 0, len(run)
    while rest > capacity and len(heap) > 0:
        lost, d = heapq.heappop(heap)
        if -lost != rank[d]:
            if count[d] > 0:
                heapq.heappush(heap, (-rank[d], d))
            continue
        chosen[taken] = d
        taken += 1
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
    return np.sort(chosen[:taken])


@njit(cache=True, nogil=True)
def distribute(order, begin, end, key, dimension, chosen, place, spare):
    """Sort a run of clauses by partition, those that stay first; returns where each partition begins."""
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


@njit(cache=True, nogil=True)
def bucket(c_node, at, dimension, low, high, parent):
    """Write a new, empty bucket: a c-node of the c-directory of ``dimension``."""
    c_node[at, DIM], c_node[at, PARENT] = dimension, parent
    c_node[at, LO], c_node[at, HI] = low, high


@njit(cache=True, nogil=True)
def construct(
    unit_start, unit_clause, dimension, lo, hi, gain, cells, capacity, alpha, mode, late
):  # fmt: skip
    """The tree over all clauses: c-nodes, p-nodes, the clauses in the order of their l-nodes.

    ``late`` marks the units that partition a way: they are checked last. A bucket's PARENT is the bucket
    above it, or -1 - p for the root bucket of the c-directory of p-node p.
    """
    clauses, dimensions = len(unit_start) - 1, len(cells)
    by_lo, by_hi = np.arange(clauses), np.arange(clauses)
    spare, key = np.empty(clauses, np.int64), np.empty(clauses, np.int64)
    key_lo, key_hi = np.zeros(clauses, np.int64), np.zeros(clauses, np.int64)
    used, count, rank = zeros(dimensions), zeros(dimensions), zeros(dimensions)
    first, last, seen = zeros(dimensions), zeros(dimensions), zeros(dimensions)
    lists = np.empty(len(dimension), np.int64)
    c_node = np.zeros((FIRST_ROOM, C_WIDTH), np.int64)
    p_node = np.zeros((FIRST_ROOM, P_WIDTH), np.int64)
    c_count, p_count, mark = 1, 0, 0
    todo = [(PARTITION, 0, 0, clauses)]
    while len(todo) > 0:
        kind, at, begin, end = todo.pop()
        c_node = enlarged(c_node, c_count, 2)
        if kind == CLUSTER:
            low, high = c_node[at, LO], c_node[at, HI]
            middle = end
            if end - begin > capacity and low < high:
                cut = cut_of(by_lo, by_hi, begin, end, key_lo, key_hi, low, high, alpha, mode)
                middle, border = divide(by_lo, begin, end, key_lo, key_hi, cut, spare)
                divide(by_hi, begin, end, key_lo, key_hi, cut, spare)
                for side, a, b in ((RIGHT, border, end), (LEFT, middle, border)):
                    if a == b:
                        continue
                    if mode == RIGID:
                        least = low if side == LEFT else cut + 1
                        most = cut if side == LEFT else high
                    else:
                        least, most = key_lo[by_lo[a]], key_hi[by_hi[b - 1]]
                    bucket(c_node, c_count, c_node[at, DIM], least, most, at)
                    c_node[at, side] = c_count
                    todo.append((CLUSTER, c_count, a, b))
                    c_count += 1
            c_node[at, OWN_LO], c_node[at, OWN_HI] = 1, 0  # nothing, so no event enters
            if mode == RIGID:
                c_node[at, OWN_LO], c_node[at, OWN_HI] = low, high
            elif middle > begin:
                c_node[at, OWN_LO], c_node[at, OWN_HI] = bounds(by_lo[begin:middle], key_lo, key_hi)
            end = middle
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
        c_node[at, COUNT], c_node[at, P_COUNT] = start[1] - begin, len(chosen)
        c_node = enlarged(c_node, c_count, len(chosen))
        p_node = enlarged(p_node, p_count, len(chosen))
        for i in range(start[1], end):
            c = by_lo[i]
            key_lo[c], key_hi[c], late[key[c]] = lo[key[c]], hi[key[c]], True
        for p in range(len(chosen)):
            a, b, d = start[p + 1], start[p + 2], chosen[p]
            p_node[p_count, P_DIM], p_node[p_count, P_DIRECTORY] = d, c_count
            p_node[p_count, P_HOME] = at
            least, most = bounds(by_lo[a:b], key_lo, key_hi)
            if mode == RIGID:
                least, most = np.int64(1), np.int64(cells[d])
            if b - a > capacity:
                copy(by_lo, a, b, by_hi, a)
                sort_run(by_lo, a, b, key_lo)
                sort_run(by_hi, a, b, key_hi)
            bucket(c_node, c_count, d, least, most, -1 - p_count)
            todo.append((CLUSTER, c_count, a, b))
            c_count += 1
            p_count += 1
    return c_node[:c_count], p_node[:p_count], by_lo
