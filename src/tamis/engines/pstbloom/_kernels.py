"""Search the leaves of ``pstbloom``, sign the postings, and fill the Bloom filter of an event."""

import numpy as np

from tamis.engines._kernels import holds_plain
from tamis.engines.postings._kernels import bounds, check_first, match_general, more_levels, touch_runs
from tamis.kernel import kernel

FILTER_WORDS = 1 << 10  # the Bloom filter of an event has 64 times as many bits
FILTER_BITS = 16
MARK = np.uint64((1 << FILTER_BITS) - 1)
MARKS = 4  # marks in a signature
FINE = 3  # a space of 2^w leaves may begin at every multiple of 2^(w - FINE)
BEFORE = (1 << FINE) - 1  # spaces that begin before the first leaf
NO_WIDTH = 255


@kernel(inline="always")
def first_mark(dimension, width):
    """Return the mark of the first space of 2^width leaves of a dimension; the others follow."""
    mixed = np.uint64(dimension) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(width)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed >> np.uint64(64 - FILTER_BITS)


@kernel
def tightest_at(lo, hi, cells, width):
    """Return (leaves, number) of the smallest space of 2^width leaves that holds lo:hi, (-1, 0) if none does.

    Leaves before the first and behind the last do not count, because no value lies there.
    """
    step, size = max(width - FINE, 0), np.int64(1) << width
    last = lo >> step
    first = (hi + (np.int64(1) << step) - size) >> step
    if first > last:
        return np.int64(-1), np.int64(0)
    low = min((first << step) + size - 1, cells) - max(first << step, 1) + 1
    high = min((last << step) + size - 1, cells) - max(last << step, 1) + 1
    return (low, first) if low < high else (high, last)


@kernel
def tightest(lo, hi, cells, widths):
    """Return (leaves, width, number) of the smallest space that holds lo:hi; a leaf count of -1 if none does.

    ``widths`` has a bit for every width that is allowed.
    """
    leaves, width, number = np.int64(-1), np.int64(NO_WIDTH), np.int64(0)
    w = np.int64(0)
    while widths >> w:
        if widths >> w & 1:
            found, at = tightest_at(lo, hi, cells, w)
            if found > 0 and (leaves < 0 or found < leaves):
                leaves, width, number = found, w, at
        w += 1
    return leaves, width, number


@kernel
def count_widths(signed, dimension, lo, hi, cells, counts):
    """Count per dimension and width the predicates whose smallest space has that width."""
    every = (np.int64(1) << counts.shape[1]) - 1
    for u in signed:
        d = dimension[u]
        _, width, _ = tightest(lo[u], hi[u], np.int64(cells[d]), every)
        if width != NO_WIDTH:
            counts[d, width] += 1


@kernel
def sign_clauses(signed, dimension, lo, hi, cells, widths, signature):
    """Write the signature of each clause: the marks of the spaces of its predicates, the best one lowest.

    Every event has the mark 0, which stands for a predicate that is missing or too wide.
    """
    for c in range(signed.shape[1]):
        marks = np.uint64(0)
        for n in range(signed.shape[0]):
            u = signed[n, c]
            if u < 0:
                break
            d = dimension[u]
            _, width, number = tightest(lo[u], hi[u], np.int64(cells[d]), widths[d])
            if width != NO_WIDTH:
                mark = (first_mark(d, width) + np.uint64(number + BEFORE)) & MARK
                marks |= mark << np.uint64(FILTER_BITS * n)
        signature[c] = marks


@kernel(inline="always")
def add_spaces(dimension, value, width, bloom):
    """Add all spaces of 2^width leaves that hold ``value``; their marks are consecutive."""
    step = max(width - FINE, 0)
    spaces = np.uint64(1) << np.uint64(width - step)
    mark = (first_mark(dimension, width) + np.uint64((value >> step) + BEFORE + 1) - spaces) & MARK
    bits = (np.uint64(1) << spaces) - np.uint64(1)
    word, at = mark >> np.uint64(6), mark & np.uint64(63)
    bloom[word] |= bits << at
    bloom[(word + np.uint64(1)) & np.uint64(FILTER_WORDS - 1)] |= bits >> np.uint64(1) >> (np.uint64(63) - at)


@kernel
def enter_event(a, b, dimension, lo, heads, widths, cell, bloom, visits):
    """Fill the table and the filter of a plain event; write the leaves it visits, return their number."""
    lists = np.int64(0)
    bloom[:] = 0
    bloom[0] = 1
    for k in range(a, b):
        d = np.int64(dimension[k])
        value = np.int64(lo[k])
        packed = np.int64(heads[4 * d])
        cell[d] = value
        visits[lists] = np.int64(heads[4 * d + 1]) + (value >> (packed >> 16))
        lists += (packed & 255) > 0
        chosen = np.int64(widths[d])
        for n in range(0, 32, 8):
            width = chosen >> n & 255
            if width == NO_WIDTH:
                break
            add_spaces(d, value, width, bloom)
    return lists


@kernel(inline="always")
def contains(bloom, mark):
    """Return 1 if the filter has the mark in the lowest bits of ``mark``, else 0."""
    return bloom[(mark & MARK) >> np.uint64(6)] >> (mark & np.uint64(63)) & np.uint64(1)


@kernel
def filter_runs(begins, ends, runs, signature, bloom, hits):
    """Collect the postings of all visited leaves whose first mark the event has. No branches."""
    count = np.uint64(0)
    for r in range(runs):
        i, end = np.uint64(begins[r]), np.uint64(ends[r])
        while i < end:
            hits[count] = i
            count += contains(bloom, signature[i])
            i += np.uint64(1)
    return np.int64(count)


@kernel
def filter_hits(hits, hit_count, signature, bloom):
    """Move the hits whose other marks the event has to the front; return their number. No branches."""
    count = np.uint64(0)
    for h in range(np.uint64(hit_count)):
        i = np.uint64(hits[h])
        marks = signature[i]
        hits[count] = i
        second, third = marks >> np.uint64(FILTER_BITS), marks >> np.uint64(2 * FILTER_BITS)
        last = marks >> np.uint64(3 * FILTER_BITS)
        count += contains(bloom, second) & contains(bloom, third) & contains(bloom, last)
    return np.int64(count)


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, bloom, visits, begins, ends, hits, words32,
    words, words64, place, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    Stop before ``out`` overflows. If ``hits`` would overflow, stop and write the necessary room to
    ``work[2]``. ``place`` holds begin and end of each array: the clauses', then the engine's ``arrays``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    cells = words32[place[8] : place[9]]
    heads = words32[place[10] : place[11]]
    levels = words32[place[12] : place[13]]
    list_start = words32[place[14] : place[15]]
    posting = words32[place[16] : place[17]]
    residual = words32[place[18] : place[19]]
    hull = words32[place[20] : place[21]]
    several = words32[place[22] + 5] > 1
    widths = words32[place[24] : place[25]]
    signature = words64[place[26] : place[27]]
    room = len(out_event)
    written = 0
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        mark = written
        if multi[e]:
            written = match_general(
                e, a, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, cells, heads, levels,
                list_start, posting, residual, hull, 0, 0, 0, out_event, out_clause, written, work,
            )  # fmt: skip
            if written < 0:
                return e, mark
            continue
        lists = enter_event(a, b, dimension, lo, heads, widths, cell, bloom, visits)
        if several:
            lists = more_levels(a, b, dimension, lo, heads, levels, visits, lists)
        runs, probed = bounds(visits, lists, list_start, begins, ends)
        full = False
        if probed > len(hits):
            work[2] = probed
            full = True
        else:
            touch_runs(begins, ends, runs, signature, work)
            found = filter_runs(begins, ends, runs, signature, bloom, hits)
            found = filter_hits(hits, found, signature, bloom)
            work[0] += probed + len(residual)
            work[1] += found + len(residual)
            found = check_first(hits, found, posting, start, literal, cell)
            work[3] += lists
            for h in range(found + len(residual)):
                c = hits[h] if h < found else np.int64(residual[h - found])
                if holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                    if written == room:
                        full = True
                        break
                    out_event[written] = e
                    out_clause[written] = c
                    written += 1
        for k in range(a, b):
            cell[dimension[k]] = 0
        if full:
            return e, mark
    return count, written
