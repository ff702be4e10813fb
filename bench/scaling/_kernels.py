"""Read memory in order and out of order, and retrace the reads of ``hybrid``."""

import numpy as np

from tamis.engines.hybrid._kernels import enter_event, filter_rows, pair_lists
from tamis.engines.postings._kernels import bounds, filter_runs, more_levels
from tamis.kernel import kernel

LINE = 64


@kernel
def read_in_order(words):
    """Return the sum of all words, four at a time so that adding is not the bottleneck."""
    a = b = c = d = np.uint64(0)
    for i in range(0, len(words) - 3, 4):
        a += words[i]
        b += words[i + 1]
        c += words[i + 2]
        d += words[i + 3]
    return a + b + c + d


@kernel
def read_anywhere(words, places):
    """Return the sum of the words at ``places``: no load waits for another."""
    total = np.uint64(0)
    for i in range(len(places)):
        total += words[places[i]]
    return total


@kernel
def follow(words, steps):
    """Follow ``steps`` links and return the last; every load waits for the one before."""
    at = np.uint64(0)
    for _ in range(steps):
        at = words[at]
    return at


@kernel
def lines_of(begin, end, width):
    """Return the cache lines of entries ``begin`` to ``end`` of an array with ``width`` bytes per entry."""
    if end <= begin:
        return 0
    return (end * width - 1) // LINE - begin * width // LINE + 1


@kernel
def distinct_lines(places, count, width):
    """Return the cache lines of scattered entries, each counted once."""
    lines = np.empty(count, np.int64)
    for i in range(count):
        lines[i] = places[i] * width // LINE
    lines.sort()
    found = 0
    for i in range(count):
        found += i == 0 or lines[i] != lines[i - 1]
    return found


@kernel
def retrace(
    event_start, dimension, lo, start, cells, heads, levels, list_start, until, inline, rows, layout, touched
):
    """Count the cache lines that plain events touch: heads, list starts, inline records, rows, clauses."""
    stride = np.int64(layout[6])
    dimension_bits, cell_bits = np.uint64(layout[0]), np.uint64(layout[1])
    zones, width, first_pair = np.int64(layout[2]), np.int64(layout[3]), np.int64(layout[4])
    cell, table = np.zeros(len(cells), np.uint32), np.zeros(len(cells), np.uint32)
    entries = 0
    for e in range(len(event_start) - 1):
        entries = max(entries, event_start[e + 1] - event_start[e])
    room = entries * (np.int64(layout[5]) + 1) + entries * entries
    visits, begins, ends = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    for e in range(len(event_start) - 1):
        a, b = event_start[e], event_start[e + 1]
        lists, pairs = enter_event(a, b, dimension, lo, heads, cell, table, visits, zones, cells)
        lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
        if pairs > 1:
            lists = pair_lists(visits, pairs, width, first_pair, lists)
        runs, probed = bounds(visits, lists, list_start, begins, ends)
        hits = np.empty(probed + 1, np.int64)
        found = filter_runs(begins, ends, runs, inline, dimension_bits, cell_bits, table, hits)
        touched[0] += distinct_lines(dimension[a:b], b - a, 16)
        touched[1] += distinct_lines(visits, lists, 4)
        for r in range(runs):
            touched[2] += lines_of(begins[r], ends[r], inline.itemsize)
        for h in range(found):
            touched[3] += lines_of(hits[h] * stride, (hits[h] + 1) * stride, rows.itemsize)
        found = filter_rows(hits, found, rows, stride, dimension_bits, cell_bits, table)
        for h in range(found):
            packed = np.int64(rows[hits[h] * stride])
            if packed >> 31 == 0:
                touched[4] += 1 + lines_of(np.int64(start[packed]), np.int64(until[packed]), 16)
        for k in range(a, b):
            cell[dimension[k]] = 0
            table[dimension[k]] = 0
