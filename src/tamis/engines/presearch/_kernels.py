"""Match batches of documents: evaluate the hits of both layers, and match single documents the plain way.

The package's docstring describes the arrays.
"""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.engines.postings._kernels import reach
from tamis.engines.presearch.layers._kernels import (
    CLAUSE,
    FULL,
    LAST,
    LEAPFROG,
    NODE,
    TOP,
    forget,
    invert,
    presearch,
)  # fmt: skip
from tamis.engines.presearch.leapfrog._kernels import invert_lists, search_lists
from tamis.kernel import kernel


@kernel
def by_document(hits, found, documents, place, ordered):
    """Distribute hits to their documents: those of ``d`` stand at place[d]:place[d + 1] in ``ordered``."""
    place[: documents + 2] = 0
    for h in range(found):
        place[(hits[h] >> 34) + 2] += 1
    for d in range(2, documents + 2):
        place[d] += place[d - 1]
    for h in range(found):
        d = (hits[h] >> 34) + 1
        ordered[place[d]] = hits[h]
        place[d] += 1


@kernel
def conclude(
    begin, stop, event_start, dimension, lo, multi, place, ordered, cell, residual, clauses, start, literal,
    set_lo, set_hi, out_event, out_clause, written, work,
):  # fmt: skip
    """Write the pairs of a batch and evaluate the undecided ones; return FULL if there is no room."""
    room = len(out_event)
    for e in range(begin, stop):
        if multi[e]:
            continue
        entered = False
        first, last = place[e - begin], place[e - begin + 1]
        for h in range(first, last + clauses - residual):
            code = ordered[h] if h < last else ((residual + h - last) << 1) | 1
            c = (code >> 1) & 0xFFFFFFFF
            if code & 1:
                if not entered:
                    entered = True
                    for k in range(event_start[e], event_start[e + 1]):
                        cell[dimension[k]] = lo[k]
                work[1] += 1
                if not holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                    continue
            if written == room:
                written = FULL
                break
            out_event[written] = e
            out_clause[written] = c
            written += 1
        if entered:
            for k in range(event_start[e], event_start[e + 1]):
                cell[dimension[k]] = 0
        if written == FULL:
            break
    return written


@kernel
def evaluate(
    e, first, last, general, each, cell, b, dimension, lo, hi, start, literal, set_lo, set_hi, owner_start,
    out_event, out_clause, written, work,
):  # fmt: skip
    """Evaluate the clauses first:last for one document, with ``each`` once per owner; pass FULL on."""
    for c in range(first, last):
        times = np.int64(owner_start[c + 1]) - np.int64(owner_start[c]) if each else np.int64(1)
        true = False
        for _ in range(times):
            work[1] += 1
            if general:
                true = holds_general(
                    literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                true = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
        if true:
            if written == len(out_event):
                return FULL
            out_event[written] = e
            out_clause[written] = c
            written += 1
    return written


@kernel
def luwak(
    e, general, each, event_start, dimension, lo, hi, cell, start, literal, set_lo, set_hi, owner_start,
    heads, levels, hull, top, residual, out_event, out_clause, written, work,
):  # fmt: skip
    """Match one document the plain way: evaluate every query whose representative term it has.

    Skip blocks that the previous entry has visited. Return the pairs written, or FULL.
    """
    a, b = event_start[e], event_start[e + 1]
    for k in range(b - 1, a - 1, -1):
        cell[dimension[k]] = k + 1 if general else lo[k]
    for k in range(a, b):
        low, high = np.int64(lo[k]), np.int64(hi[k])
        again = False
        if general:
            low, high = reach(k, a, b, dimension, lo, hi, hull)
            again = k > a and dimension[k - 1] == dimension[k]
        at = np.int64(heads[4 * np.int64(dimension[k]) + 3])
        count = np.int64(heads[4 * np.int64(dimension[k])]) if low <= high else 0
        for n in range(at, at + count):
            level, base = np.int64(levels[2 * n]), np.int64(levels[2 * n + 1])
            shift = level - 1 if level > 0 else level
            block = (low >> shift) - 1 if level > 0 and low >> shift > 0 else low >> shift
            if again and block <= np.int64(hi[k - 1]) >> shift:
                block = (np.int64(hi[k - 1]) >> shift) + 1
            for place in range(base + block, base + (high >> shift) + 1):
                first, last = np.int64(top[TOP * place + 2]), np.int64(top[TOP * place + LAST])
                if first == last or written == FULL:
                    continue
                work[3] += 1
                work[0] += last - first
                written = evaluate(
                    e, first, last, general, each, cell, b, dimension, lo, hi, start, literal, set_lo, set_hi,
                    owner_start, out_event, out_clause, written, work,
                )  # fmt: skip
    if written != FULL:
        written = evaluate(
            e, residual, len(start) - 1, general, each, cell, b, dimension, lo, hi, start, literal, set_lo,
            set_hi, owner_start, out_event, out_clause, written, work,
        )  # fmt: skip
    for k in range(a, b):
        cell[dimension[k]] = 0
    return written


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, slot, row_place, bits, partial, words_at,
    place_at, pairs, places, entry, first, posts, lists, path, hits, ordered, bytes_, words32, words, place,
    out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``, batch by batch; return (events done, pairs written).

    Stop before a batch that overflows ``out``. If it overflows ``hits``, stop and write the room to try next
    to ``work[2]``. ``place`` holds begin and end of each array in the arena: the clauses', then the engine's
    ``forms``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    owner_start = words32[place[8] : place[9]]
    heads = words32[place[10] : place[11]]
    levels = words32[place[12] : place[13]]
    hull = words32[place[14] : place[15]]
    top = words32[place[16] : place[17]]
    child = words32[place[18] : place[19]]
    node = words32[place[20] : place[21]]
    layout = words32[place[22] : place[23]]
    decided = bytes_[place[24] : place[25]]
    batch, way = np.int64(layout[0]), layout[1]
    leaps = len(layout) > LEAPFROG and layout[LEAPFROG] != 0
    batched = way >= 2 or leaps
    clauses = len(start) - 1
    residual = np.int64(node[len(node) - NODE + CLAUSE])
    written = 0
    while begin < count:
        done = written
        probed, verified, visited = work[0], work[1], work[3]
        stop = min(begin + batch, count) if batched else begin + 1
        for e in range(begin, stop):
            if (multi[e] or not batched) and written != FULL:
                written = luwak(
                    e, multi[e] != 0, way == 0, event_start, dimension, lo, hi, cell, start, literal, set_lo,
                    set_hi, owner_start, heads, levels, hull, top, residual, out_event,
                    out_clause, written, work,
                )  # fmt: skip
        if batched and written != FULL:
            if leaps:
                rows = invert_lists(
                    begin, stop, event_start, dimension, lo, multi, heads, levels, slot, row_place, bits,
                    places, entry, place_at, first, posts,
                )  # fmt: skip
                found = search_lists(
                    rows, stop - begin, way == 0, row_place, top, child, node, start, literal, heads, slot,
                    first, posts, lists, path, pairs, decided, owner_start, hits, work,
                )  # fmt: skip
            else:
                width = (stop - begin + 63) >> 6
                rows = invert(
                    begin, stop, event_start, dimension, lo, multi, heads, levels, slot, row_place, bits,
                    width, places,
                )  # fmt: skip
                found = presearch(
                    rows, row_place, top, child, node, slot, bits, width, partial, words_at, pairs, decided,
                    hits, work,
                )  # fmt: skip
            forget(rows, slot, row_place)
            if found == FULL:
                work[2] = 4 * len(hits)
                written = FULL
            else:
                by_document(hits, found, stop - begin, place_at, ordered)
                work[0] += (stop - begin) * (clauses - residual)
                written = conclude(
                    begin, stop, event_start, dimension, lo, multi, place_at, ordered, cell, residual,
                    clauses, start, literal, set_lo, set_hi, out_event, out_clause, written, work,
                )  # fmt: skip
        if written == FULL:
            work[0], work[1], work[3] = probed, verified, visited  # the batch is done again
            return begin, done
        begin = stop
    return count, written
