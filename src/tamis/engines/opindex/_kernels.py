"""Search the structures of ``opindex``. ``layout/build.py`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.engines.opindex.layout._kernels import GROUP, GROUPED, UNDECIDED
from tamis.engines.opindex.structures._kernels import (
    BITMAP,
    COLUMNS,
    EQ,
    GE,
    LE,
    OPERATORS,
    clear_bits,
    climb,
    count_down,
    signature_bit,
)
from tamis.kernel import kernel

LOW, HIGH = 0, 1  # columns of a probe
PROBE, BEGIN, END = 0, 1, 2  # columns of a visit
PIVOT, VISITS = 0, 1  # columns of a turn: a pivot, and the end of its visits


@kernel
def furthest(k, b, dimension, lo, hi, top):
    """Return the highest cell of a dimension's entries, from ``k`` on, as far as any ``>=`` reaches."""
    high = np.int64(hi[k])
    while k + 1 < b and dimension[k + 1] == dimension[k] and lo[k + 1] <= top:
        k += 1
        high = np.int64(hi[k])
    return high


@kernel
def enter_event(
    a, b, dimension, lo, hi, multi, base, top, has_trie, pointer_bits, cell, probe, sign, climbing
):  # fmt: skip
    """Write a range of records and a bit of signatures to look for, per entry and operator of an event.

    With several entries on a dimension, the first one looks for ``<=`` and ``>=`` on behalf of all. A probe
    that cannot find anything has no bit, and its bounds are crossed. Return the number of entries that look
    for tries, which are ``climbing``: they have the probe of ``>=``.
    """
    after, climbers = (np.int64(1) << pointer_bits) - 1, np.int64(0)
    for k in range(a, b):
        p = OPERATORS * (k - a)
        d = np.int64(dimension[k])
        low, high = np.int64(lo[k]), np.int64(hi[k])
        first, last = np.int64(base[d]), np.int64(base[d + 1])
        probe[p + EQ, LOW] = (first + low) << pointer_bits
        probe[p + EQ, HIGH] = ((first + high) << pointer_bits) | after
        sign[p + EQ] = signature_bit(EQ, d, low) if low == high else ~np.uint64(0)
        again = multi and k > a and dimension[k - 1] == d
        if multi and not again:
            high = furthest(k, b, dimension, lo, hi, top[d])
        beyond = again or low > top[d]
        present = signature_bit(LE, d, low)
        probe[p + LE, LOW] = (first + low) << pointer_bits
        probe[p + LE, HIGH] = -1 if again else (last << pointer_bits) - 1
        sign[p + LE] = np.uint64(0) if again else present
        probe[p + GE, LOW] = first << pointer_bits
        probe[p + GE, HIGH] = -1 if beyond else ((first + high) << pointer_bits) | after
        sign[p + GE] = np.uint64(0) if beyond else present
        climbing[climbers] = k - a
        climbers += has_trie[d] != 0 and not beyond
        if not again:
            cell[d] = k + 1 if multi else low
    return climbers


@kernel
def pass_signatures(
    k, a, b, dimension, multi, directory_start, trie_directory, climbing, signature, sign, visits, turns
):  # fmt: skip
    """Write the lists that an event's pivots visit, from entry ``k`` on, as far as ``visits`` has room.

    Return the entry to go on with, and the number of turns. No branch depends on a signature, so that the
    loads of all pivots are under way together. Without signatures every probe visits its list. Tries follow
    the sorted lists; the entries ``climbing`` visit them.
    """
    count, taken = np.int64(0), np.int64(0)
    while k < b and count + (OPERATORS + 1) * (b - a) < len(visits):
        d = np.int64(dimension[k])
        first = np.int64(directory_start[d])
        segments = np.int64(directory_start[d + 1]) - first
        tries = np.int64(trie_directory[d + 1]) - np.int64(trie_directory[d]) if len(climbing) else 0
        k += 1
        if segments + tries == 0 or (multi and k - 1 > a and dimension[k - 2] == d):
            continue
        for p in range(b - a if segments else 0):
            at = OPERATORS * (first + (dimension[a + p] & (segments - 1)))
            for operator in range(OPERATORS):
                visits[count, PROBE] = OPERATORS * p + operator
                visits[count, BEGIN] = at + operator
                if len(signature):
                    count += signature[at + operator] & sign[OPERATORS * p + operator] != 0
                else:
                    count += 1
        for p in climbing[: len(climbing) if tries else 0]:
            at = OPERATORS * np.int64(directory_start[-1]) + np.int64(trie_directory[d])
            at += dimension[a + p] & (tries - 1)
            visits[count, PROBE] = OPERATORS * p + GE
            visits[count, BEGIN] = at
            count += not len(signature) or signature[at] & sign[OPERATORS * p + GE] != 0
        turns[taken, PIVOT] = d
        turns[taken, VISITS] = count
        taken += 1
    return k, taken


@kernel
def bound_visits(turns, taken, visits, list_start, record, probe):
    """Replace lists by their first and last records; keep those that enclose the probe's range.

    This also fetches the records of all visits together, which matters as much.
    """
    count = turns[taken - 1, VISITS] if taken else np.int64(0)
    for v in range(count):
        at = visits[v, BEGIN]
        visits[v, BEGIN] = list_start[at]
        visits[v, END] = list_start[at + 1]
    kept, done = np.int64(0), np.int64(0)
    for t in range(taken):
        for v in range(done, turns[t, VISITS]):
            p, begin, end = visits[v, PROBE], visits[v, BEGIN], visits[v, END]
            visits[kept, PROBE] = p
            visits[kept, BEGIN] = begin
            visits[kept, END] = end
            if begin < end:
                least, greatest = np.int64(record[begin]), np.int64(record[end - 1])
                kept += (least <= probe[p, HIGH]) & (greatest >= probe[p, LOW])
        done = turns[t, VISITS]
        turns[t, VISITS] = kept
    return count


@kernel
def count_turn(
    first, last, v, end, visits, probe, record, trie, pointer_bits, needed, counter, hits, work
):  # fmt: skip
    """Reset the counters of a pivot and make its visits; return the number of clauses found."""
    pointer_mask = (np.int64(1) << pointer_bits) - 1
    lists = len(record) - len(trie) // COLUMNS
    for c in range(first, last):
        counter[c - first] = needed[c]
    found = np.int64(0)
    for at in range(v, end):
        p = visits[at, PROBE]
        if visits[at, BEGIN] < lists:
            seen, found = count_down(
                visits[at, BEGIN], visits[at, END], probe[p, LOW], probe[p, HIGH], record, pointer_mask,
                counter, hits, found,
            )  # fmt: skip
        else:
            seen, found = climb(
                visits[at, BEGIN], visits[at, END], probe[p, LOW], probe[p + LE - GE, LOW], probe[p, HIGH],
                record, pointer_bits, trie, counter, hits, found,
            )  # fmt: skip
        work[0] += seen
    return found


@kernel
def clear_turn(first, last, v, end, visits, probe, record, pointer_mask, demand, bitmap, hits, work):
    """Do the same as ``count_turn`` with bitmaps."""
    for m in range(first, last):
        bitmap[m - first] = demand[m]
    found = np.int64(0)
    for at in range(v, end):
        p = visits[at, PROBE]
        seen, found = clear_bits(
            visits[at, BEGIN], visits[at, END], probe[p, LOW], probe[p, HIGH], record, pointer_mask, bitmap,
            hits, found,
        )  # fmt: skip
        work[0] += seen
    return found


@kernel
def holds_groups(several, literal, begin, end, cell, last, dimension, lo, hi, set_lo, set_hi):
    """Return whether each group of the literals begin:end has one that holds."""
    asked, met = np.uint64(0), np.uint64(0)
    for at in range(np.int64(begin), np.int64(end)):
        group = np.uint64(1) << np.uint64((literal[4 * at + 1] >> GROUP) & (BITMAP - 1))
        asked |= group
        if several:
            holds = holds_general(literal, at, at + 1, cell, last, dimension, lo, hi, set_lo, set_hi)
        else:
            holds = holds_plain(literal, at, at + 1, cell, set_lo, set_hi)
        if holds:
            met |= group
    return asked == met


@kernel
def seen_before(d, group, literal, begin, end, cell):
    """Return whether the event has a pivot of the clause before ``d``, whose list reports the clause."""
    for at in range(np.int64(begin), np.int64(end)):
        other = literal[4 * at]
        if other < d and literal[4 * at + 1] >> GROUP == group and cell[other] != 0:
            return True
    return False


@kernel
def settle(
    e, found, hits, several, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, verdict, out_event,
    out_clause, written, work,
):  # fmt: skip
    """Write the clauses found that hold; return the pairs written, -1 if there is no room.

    Counting has decided most clauses for a plain event. Several values on a dimension may have been counted
    too often.
    """
    if written + found > len(out_event):
        return np.int64(-1)
    for h in range(found):
        c = hits[h]
        holds = True
        if several or verdict[c] & UNDECIDED:
            work[1] += 1
            if verdict[c] & GROUPED:
                holds = holds_groups(
                    several, literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                )
            elif several:
                holds = holds_general(
                    literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
        out_event[written] = e
        out_clause[written] = c
        written += holds
    return written


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, counter, bitmap, hits, probe, sign, visits,
    turns, climbing, words8, words32, words64, words, records, place, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written). Stop before ``out`` overflows.

    ``place`` holds begin and end of each array in the arena: the clauses', then the engine's ``forms``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    pivot_start = words32[place[8] : place[9]]
    directory_start = words32[place[10] : place[11]]
    list_start = words32[place[12] : place[13]]
    signature = words64[place[14] : place[15]]
    record = records[place[16] : place[17]]
    base = words64[place[18] : place[19]]
    top = words32[place[20] : place[21]]
    needed = words8[place[22] : place[23]]
    verdict = words8[place[24] : place[25]]
    member = words32[place[28] : place[29]]
    pointer_bits, several_pivots = np.int64(words32[place[26]]), np.int64(words32[place[26] + 1])
    has_trie = words8[place[44] : place[45]]
    trie_directory = words32[place[46] : place[47]]
    trie = words32[place[48] : place[49]]
    residual = np.arange(np.int64(pivot_start[-1]), several_pivots)
    written = np.int64(0)
    for e in range(begin, count):
        a, b, several = event_start[e], event_start[e + 1], multi[e] != 0
        mark = written
        climbers = enter_event(
            a, b, dimension, lo, hi, several, base, top, has_trie, pointer_bits, cell, probe, sign, climbing
        )
        k = a
        while k < b and written >= 0:
            k, taken = pass_signatures(
                k, a, b, dimension, several, directory_start, trie_directory, climbing[:climbers], signature,
                sign, visits, turns,
            )  # fmt: skip
            work[2] += bound_visits(turns, taken, visits, list_start, record, probe)
            v = np.int64(0)
            for t in range(taken):
                if v < turns[t, VISITS] and written >= 0:
                    first, last = np.int64(pivot_start[turns[t, PIVOT]]), pivot_start[turns[t, PIVOT] + 1]
                    found = count_turn(
                        first, np.int64(last), v, turns[t, VISITS], visits, probe, record, trie,
                        pointer_bits, needed, counter, hits, work,
                    )  # fmt: skip
                    if found:
                        for h in range(found):
                            hits[h] += first
                        written = settle(
                            e, found, hits, several, b, dimension, lo, hi, cell, start, literal, set_lo,
                            set_hi, verdict, out_event, out_clause, written, work,
                        )  # fmt: skip
                v = turns[t, VISITS]
        if len(member) and written >= 0:
            written = match_groups(
                e, a, b, several, dimension, lo, hi, cell, bitmap, hits, probe, sign, visits, turns, words8,
                words32, words64, words, records, place, out_event, out_clause, written, work,
            )  # fmt: skip
        if len(residual) and written >= 0:
            work[0] += len(residual)
            written = settle(
                e, len(residual), residual, several, b, dimension, lo, hi, cell, start, literal, set_lo,
                set_hi, verdict, out_event, out_clause, written, work,
            )  # fmt: skip
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written < 0:
            return e, mark
    return count, written


@kernel
def match_groups(
    e, a, b, several, dimension, lo, hi, cell, bitmap, hits, probe, sign, visits, turns, words8, words32,
    words64, words, records, place, out_event, out_clause, written, work,
):  # fmt: skip
    """Match one event against the clauses with groups; return the pairs written, -1 if there is no room."""
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    verdict = words8[place[24] : place[25]]
    pointer_mask = (np.int64(1) << np.int64(words32[place[26]])) - 1
    member = words32[place[28] : place[29]]
    pivot_start = words32[place[30] : place[31]]
    directory_start = words32[place[32] : place[33]]
    list_start = words32[place[34] : place[35]]
    signature = words64[place[36] : place[37]]
    record = records[place[38] : place[39]]
    demand = words64[place[40] : place[41]]
    group = words8[place[42] : place[43]]
    k = a
    while k < b:
        k, taken = pass_signatures(
            k, a, b, dimension, several, directory_start, directory_start, turns[:0, PIVOT], signature, sign,
            visits, turns,
        )  # fmt: skip
        work[2] += bound_visits(turns, taken, visits, list_start, record, probe)
        v = np.int64(0)
        for t in range(taken):
            d = turns[t, PIVOT]
            first, last = np.int64(pivot_start[d]), np.int64(pivot_start[d + 1])
            found = clear_turn(
                first, last, v, turns[t, VISITS], visits, probe, record, pointer_mask, demand, bitmap, hits,
                work,
            )  # fmt: skip
            v = turns[t, VISITS]
            kept = np.int64(0)
            for h in range(found):
                m = first + hits[h]
                c = np.int64(member[m])
                hits[kept] = c
                kept += not seen_before(d, group[m], literal, start[c], start[c + 1], cell)
            written = settle(
                e, kept, hits, several, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, verdict,
                out_event, out_clause, written, work,
            )  # fmt: skip
            if written < 0:
                return written
    return written
