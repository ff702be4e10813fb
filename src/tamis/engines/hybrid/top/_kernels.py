"""Order the postings of lists by their bounds, and read lists best bound first."""

import numpy as np

from tamis.engines._kernels import rest_holds
from tamis.engines.hybrid._kernels import enter_event, filter_rows, pair_lists, take_decided
from tamis.engines.order._kernels import drop_first, longer, push, sort_run
from tamis.engines.postings._kernels import bounds, first_holds, more_levels, satisfied
from tamis.kernel import kernel

UNOPENED, GIVEN_UP = -1, -2  # instead of the number of items in the heap
MATCH = 1 << 32  # items of the heap from here on are clauses that hold; those below are lists
FEW, MANY = 4, 64  # postings that are read at a time: at least, and at most for many matches
PATIENCE, EACH = 64, 8  # matches are rare if more postings were read, and more than so many for each match
FOUND = 3  # the place in ``work`` that holds the number of clauses that hold


@kernel
def sort_lists(list_start, key, order):
    """Sort the postings of every list by a key; equal keys keep their order."""
    spare = np.empty(len(order), order.dtype)
    for n in range(len(list_start) - 1):
        begin, end = np.int64(list_start[n]), np.int64(list_start[n + 1])
        if end - begin > 1:
            sort_run(order, begin, end, key, spare)


@kernel
def cut_below(begin, end, bound, factor, shift, threshold):
    """Return the end of the postings from ``begin`` that reach the threshold; the first one does."""
    if factor * bound[end - 1] + shift >= threshold:
        return end
    while end - begin > 1:
        middle = (begin + end) >> 1
        if factor * bound[middle] + shift >= threshold:
            begin = middle
        else:
            end = middle
    return end


@kernel
def filter_ranked(begin, end, order, inline, dimension_bits, cell_bits, table, hits):
    """Collect the postings of places begin:end whose inline condition the event satisfies. No branches."""
    count = np.uint64(0)
    for at in range(np.uint64(begin), np.uint64(end)):
        i = np.uint64(order[at])
        hits[count] = i
        count += satisfied(np.uint64(inline[i]), dimension_bits, cell_bits, table)
    return np.int64(count)


@kernel
def read_list(
    begin, end, order, hits, holding, cell, table, start, literal, set_lo, set_hi, layout, until, inline,
    rows, work,
):  # fmt: skip
    """Write the clauses of places begin:end that hold to ``holding``; return their number."""
    work[0] += end - begin
    held = np.int64(0)
    if begin >= len(inline):  # the residual list
        work[1] += end - begin
        for at in range(begin, end):
            c = np.int64(order[at])
            holding[held] = c
            held += rest_holds(np.int64(start[c]), np.int64(start[c + 1]), literal, cell, set_lo, set_hi)
        return held
    stride = np.int64(layout[6])
    dimension_bits, cell_bits = np.uint64(layout[0]), np.uint64(layout[1])
    count = filter_ranked(begin, end, order, inline, dimension_bits, cell_bits, table, hits)
    count = filter_rows(hits, count, rows, stride, dimension_bits, cell_bits, table)
    held, count = take_decided(hits, count, rows[0::stride], holding, held)
    count = first_holds(hits, count, start, literal, cell)
    work[1] += count
    for h in range(count):
        c = hits[h]
        holding[held] = c
        held += rest_holds(np.int64(start[c]), np.int64(until[c]), literal, cell, set_lo, set_hi)
    return held


@kernel
def seek(
    left, heap, items, threshold, most, factor, shift, a, b, dimension, lo, cell, table, visits, begins, ends,
    hits, words32, words, inlines, place, order, bound, of_clause, work,
):  # fmt: skip
    """Read on until ``most`` clauses are found or nothing is left; return (left, heap, items, clauses).

    The heap holds lists, by the bound of their next posting, and clauses that hold, by their own. Bounds are
    widened to ``factor * bound + shift``. Bounds equal to the threshold count, because ids decide between
    equals. The kernel gives up if matches are rare: to find all of them then costs less.

    The next call finds cells and lists in the scratch memory; ``place`` is that of ``match_events``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    layout = words32[place[20] : place[21]]
    until = words32[place[22] : place[23]]
    inline = inlines[place[24] : place[25]]
    rows = inlines[place[26] : place[27]]
    holding = hits[MANY:]
    if left == UNOPENED:
        left = open_lists(
            a, b, dimension, lo, cell, table, visits, begins, ends, words32, place, layout, len(order), work
        )
        for r in range(left):
            push(heap, items, r, bound[begins[r]], r)
    out = np.empty(min(most, len(of_clause)), np.int64)
    found = 0
    while left > 0 and found < most and factor * heap[0] + shift >= threshold:
        r = items[0]
        if r >= MATCH:
            out[found] = r - MATCH
            found += 1
            drop_first(heap, items, left)
            left -= 1
            continue
        if work[0] > PATIENCE + EACH * work[FOUND]:
            return GIVEN_UP, heap, items, out[:found]
        begin = begins[r]
        end = min(ends[r], begin + max(FEW, min((most - found) // FEW, MANY)))
        end = cut_below(begin, end, bound, factor, shift, threshold)
        held = read_list(
            begin, end, order, hits, holding, cell, table, start, literal, set_lo, set_hi, layout, until,
            inline, rows, work,
        )  # fmt: skip
        work[FOUND] += held
        begins[r] = end
        drop_first(heap, items, left)
        left -= 1
        if end < ends[r] and factor * bound[end] + shift >= threshold:
            push(heap, items, left, bound[end], r)
            left += 1
        heap, items = longer(heap, left, held), longer(items, left, held)
        for h in range(held):
            push(heap, items, left, of_clause[holding[h]], MATCH + holding[h])
            left += 1
    if left > 0 and factor * heap[0] + shift < threshold:
        left = 0
    return left, heap, items, out[:found]


@kernel
def open_lists(
    a, b, dimension, lo, cell, table, visits, begins, ends, words32, place, layout, postings, work
):
    """Fill the tables of a plain event and write its lists; return their number."""
    cells = words32[place[8] : place[9]]
    heads = words32[place[10] : place[11]]
    levels = words32[place[12] : place[13]]
    list_start = words32[place[14] : place[15]]
    residual = place[17] - place[16]
    zones, width, first_pair = np.int64(layout[2]), np.int64(layout[3]), np.int64(layout[4])
    lists, pairs = enter_event(a, b, dimension, lo, heads, cell, table, visits, zones, cells)
    if layout[5] > 1:
        lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
    if pairs > 1:
        lists = pair_lists(visits, pairs, width, first_pair, lists)
    work[2] += lists
    runs, _ = bounds(visits, lists, list_start, begins, ends)
    if residual > 0:
        begins[runs], ends[runs] = postings - residual, postings
        runs += 1
    return runs
