"""Search the slabs of ``bitmatrix``: the summaries rule out slabs, then rows are ANDed.

``layout/_kernels.py`` describes the arrays. Slabs are the outer loop and the events of a block the inner one,
so that the rows of a slab stay in the cache while all events of the block pass. ``table`` holds the cells of
all events of a block, one event after the other.
"""

import numpy as np

from tamis.engines._kernels import holds_general, place_of_bit, rest_holds
from tamis.engines.bitmatrix.layout._kernels import CHUNK, FIELDS, ROW, SLAB, blocks_of
from tamis.engines.bitmatrix.rows._kernels import and_rows, fetch_rows, fetch_slab, row_of
from tamis.kernel import kernel

FULL = -1
MANY_EVENTS = 16  # that a chunk may match, from which the rows of a slab are fetched for all of them

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def enter_block(begin, end, event_start, dimension, lo, multi, table, dimensions):
    """Write the cells of the plain events of a block to the table."""
    for e in range(begin, end):
        if not multi[e]:
            base = (e - begin) * dimensions
            for k in range(event_start[e], event_start[e + 1]):
                table[base + dimension[k]] = lo[k]


@kernel
def leave_block(begin, end, event_start, dimension, multi, table, dimensions):
    """Zero the table again."""
    for e in range(begin, end):
        if not multi[e]:
            base = (e - begin) * dimensions
            for k in range(event_start[e], event_start[e + 1]):
                table[base + dimension[k]] = 0


@kernel
def slabs_left(events, multi, begin, table, dimensions, column, first, last, summary, slabs, live, left):
    """Write the plain events that a chunk may match, and their slabs as bits; return how many."""
    count = 0
    for e in range(events):
        if multi[begin + e]:
            continue
        base = np.uint64(e * dimensions)
        mask = slabs
        for k in range(np.uint64(first), np.uint64(last)):
            mask &= summary[row_of(column, k, table, base)]
        live[count] = e
        left[count] = mask
        count += mask != 0
    return count


@kernel
def events_of(slab, live, left, count, picked):
    """Write the events that may match in a slab of the chunk; return how many."""
    found = np.int64(0)
    for n in range(count):
        picked[found] = live[n]
        found += np.int64((left[n] >> slab) & _ONE)
    return found


@kernel
def match_block(
    begin, end, multi, table, live, left, picked, own, rows, dimensions, start, literal, set_lo, set_hi,
    slab_start, column, chunk_start, summary_column, doubtful, summary, matrix, out_event, out_clause,
    written, work,
):  # fmt: skip
    """Match the plain events of a block; return the pairs written, or ``FULL``.

    The loop over visits stands here: a call for each, with its arrays, would cost more than the ANDs.
    """
    clauses, slabs = len(start) - 1, len(slab_start) - 1
    for chunk in range(len(chunk_start) - 1):
        first_slab = chunk * CHUNK
        here = min(slabs - first_slab, CHUNK)
        count = slabs_left(
            end - begin, multi, begin, table, dimensions, summary_column, chunk_start[chunk],
            chunk_start[chunk + 1], summary, _ALL >> np.uint64(CHUNK - here), live, left,
        )  # fmt: skip
        few = count < MANY_EVENTS
        visited = np.uint64(0)
        for n in range(count):
            if few:
                base = np.uint64(live[n] * dimensions)
                left[n] = fetch_rows(
                    left[n], first_slab, slab_start, column, table, base, matrix, own, rows, work
                )
            visited |= left[n]
        for slab in range(first_slab, first_slab + here):
            bit = np.uint64(slab - first_slab)
            if not (visited >> bit) & _ONE:
                continue
            visits = events_of(bit, live, left, count, picked)
            if not few:
                fetch_slab(
                    slab, visits, picked, slab_start, column, table, dimensions, matrix, rows, start, literal,
                    doubtful, work,
                )  # fmt: skip
            work[2] += visits
            for n in range(visits):
                e = picked[n]
                and_rows(slab_start, column, slab, table, np.uint64(e * dimensions), matrix, own)
                cell = table[e * dimensions : (e + 1) * dimensions]
                for w in range(ROW):
                    bits = own[w]
                    while bits != 0:
                        lowest = bits & (~bits + _ONE)
                        bits ^= lowest
                        c = SLAB * slab + 64 * w + place_of_bit(lowest)
                        if c >= clauses:
                            break
                        work[0] += 1
                        if doubtful[ROW * slab + w] & lowest:
                            work[1] += 1
                            at, last = np.int64(start[c]), np.int64(start[c + 1])
                            if not rest_holds(at, last, literal, cell, set_lo, set_hi):
                                continue
                        if written == len(out_event):
                            return np.int64(FULL)
                        out_event[written] = begin + e
                        out_clause[written] = c
                        written += 1
    return written


@kernel
def or_rows(column, k, width, bits, first, b, dimension, lo, hi, cells, own, joined):
    """OR the rows of all cells of one event in column ``k`` to ``joined``, then AND them to ``own``."""
    d, row, grain = np.int64(column[FIELDS * k]), np.int64(column[FIELDS * k + 1]), column[FIELDS * k + 2]
    entry = np.int64(first[d]) - 1
    several = row + blocks_of(cells[d], np.int64(grain)) + 1
    for w in range(width):
        joined[w] = bits[width * (row if entry < 0 else several) + w]
    done = np.int64(0)
    while 0 <= entry < b and dimension[entry] == d:
        low = max(((np.int64(lo[entry]) - 1) >> np.int64(grain)) + 1, done + 1)
        done = ((np.int64(hi[entry]) - 1) >> np.int64(grain)) + 1
        for block in range(low, done + 1):
            for w in range(width):
                joined[w] |= bits[width * (row + block) + w]
        entry += 1
    for w in range(width):
        own[w] &= joined[w]


@kernel
def match_general(
    e, a, b, dimension, lo, hi, first, own, joined, start, literal, set_lo, set_hi, cells, slab_start, column,
    chunk_start, summary_column, summary, matrix, out_event, out_clause, written, work,
):  # fmt: skip
    """Match an event with several or wide entries; return the pairs written, or ``FULL``.

    The rows of its cells are ORed. Two cells may satisfy two literals of one clause, so the clauses with
    several literals on a dimension stay, too. The literals decide.
    """
    clauses, slabs = len(start) - 1, len(slab_start) - 1
    for k in range(b - 1, a - 1, -1):
        first[dimension[k]] = k + 1
    for slab in range(slabs):
        if slab % CHUNK == 0:
            own[0] = _ALL
            for k in range(chunk_start[slab // CHUNK], chunk_start[slab // CHUNK + 1]):
                or_rows(summary_column, k, 1, summary, first, b, dimension, lo, hi, cells, own, joined)
            left = own[0]
        if not (left >> np.uint64(slab % CHUNK)) & _ONE:
            continue
        own[:] = _ALL
        for k in range(slab_start[slab], slab_start[slab + 1]):
            or_rows(column, k, ROW, matrix, first, b, dimension, lo, hi, cells, own, joined)
        work[2] += 1
        for c in range(SLAB * slab, min(SLAB * (slab + 1), clauses)):
            if not (own[(c >> 6) % ROW] >> np.uint64(c & 63)) & _ONE:
                continue
            work[0] += 1
            work[1] += 1
            if holds_general(literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi):
                if written == len(out_event):
                    written = np.int64(FULL)
                    break
                out_event[written] = e
                out_clause[written] = c
                written += 1
        if written < 0:
            break
    for k in range(a, b):
        first[dimension[k]] = 0
    return written


@kernel
def by_event(begin, end, out_event, out_clause, mark, written):
    """Sort the pairs of a block by event; each event keeps the order of its clauses."""
    place = np.zeros(end - begin + 1, np.int64)
    for n in range(mark, written):
        place[out_event[n] - begin + 1] += 1
    for e in range(end - begin):
        place[e + 1] += place[e]
    clause = out_clause[mark:written].copy()
    event = out_event[mark:written].copy()
    for n in range(len(clause)):
        e = event[n] - begin
        out_event[mark + place[e]] = event[n]
        out_clause[mark + place[e]] = clause[n]
        place[e] += 1


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, table, live, left, picked, own, rows, words32, words,
    words64, place, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    Stop before ``out`` overflows. ``place`` holds begin and end of each array: the clauses', then the
    engine's ``arrays``. ``work`` counts clauses that rows leave, clauses checked, and slabs visited.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    cells = words32[place[8] : place[9]]
    slab_start = words32[place[10] : place[11]]
    column = words32[place[12] : place[13]]
    chunk_start = words32[place[14] : place[15]]
    summary_column = words32[place[16] : place[17]]
    doubtful = words64[place[18] : place[19]]
    summary = words64[place[20] : place[21]]
    matrix = words64[place[22] : place[23]]
    dimensions = len(cells)
    written = np.int64(0)
    while begin < count:
        end = min(begin + len(live), count)
        mark = written
        enter_block(begin, end, event_start, dimension, lo, multi, table, dimensions)
        written = match_block(
            begin, end, multi, table, live, left, picked, own, rows, dimensions, start, literal, set_lo,
            set_hi, slab_start, column, chunk_start, summary_column, doubtful, summary, matrix, out_event,
            out_clause, written, work,
        )  # fmt: skip
        leave_block(begin, end, event_start, dimension, multi, table, dimensions)
        for e in range(begin, end):
            if multi[e] and written >= 0:
                written = match_general(
                    e, event_start[e], event_start[e + 1], dimension, lo, hi, table, own[:ROW], own[ROW:],
                    start, literal, set_lo, set_hi, cells, slab_start, column, chunk_start, summary_column,
                    summary, matrix, out_event, out_clause, written, work,
                )  # fmt: skip
        if written < 0:
            return begin, mark
        if end - begin > 1:
            by_event(begin, end, out_event, out_clause, mark, written)
        begin = end
    return count, written
