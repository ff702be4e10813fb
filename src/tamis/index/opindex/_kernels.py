"""Building and searching the lists of ``opindex``. ``build.py`` says what the arrays hold."""

import numpy as np
from numba import njit

from tamis.index._kernels import holds_general, holds_plain

EQ, LE, GE, OPERATORS = 0, 1, 2, 3
LOW, HIGH = 0, 1  # columns of a probe
PROBE, BEGIN, END = 0, 1, 2  # columns of a visit
PIVOT, VISITS = 0, 1  # columns of a turn: a pivot, and where its visits end


@njit(cache=True, nogil=True)
def choose_pivots(start, dimension, needed, frequency, pivot):
    """The least frequent dimension that each clause demands; the number after the last if it has none."""
    for c in range(len(start) - 1):
        best = len(frequency)
        for at in range(start[c], start[c + 1]):
            d = dimension[at]
            if needed[at] > 0 and (best == len(frequency) or frequency[d] < frequency[best]):
                best = d
        pivot[c] = best


@njit(cache=True, nogil=True)
def signature_bit(operator, dimension, operand):
    """The one bit of 64 that a predicate sets, and that an event's value looks for.

    For ``=`` it depends on dimension and operand; for the others, which many operands meet, on the
    dimension alone.
    """
    mixed = np.uint64(dimension) * np.uint64(0x9E3779B97F4A7C15)
    if operator == EQ:
        mixed = (mixed ^ np.uint64(operand)) * np.uint64(0xD6E8FEB86659FD93)
    return np.uint64(1) << (mixed >> np.uint64(58))


@njit(cache=True, nogil=True)
def sign_segments(operator, dimension, operand, segment, signature):
    """Set the bits of all predicates."""
    for i in range(len(operator)):
        signature[segment[i]] |= signature_bit(operator[i], dimension[i], operand[i])


@njit(cache=True, nogil=True)
def furthest(k, b, dimension, lo, hi, top):
    """The highest cell of the entries of a dimension, from ``k`` on, as far as any ``>=`` reaches."""
    high = np.int64(hi[k])
    while k + 1 < b and dimension[k + 1] == dimension[k] and lo[k + 1] <= top:
        k += 1
        high = np.int64(hi[k])
    return high


@njit(cache=True, nogil=True)
def enter_event(a, b, dimension, lo, hi, multi, base, top, pointer_bits, cell, probe, sign):
    """Write what an event looks for, per entry and operator: a range of records and a bit of signatures.

    With several entries on a dimension, the first one looks for ``<=`` and ``>=`` on behalf of all. A
    probe that can find nothing has no bit, and its bounds are crossed.
    """
    after = (np.int64(1) << pointer_bits) - 1
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
        if not again:
            cell[d] = k + 1 if multi else low


@njit(cache=True, nogil=True)
def pass_signatures(k, a, b, dimension, multi, directory_start, signature, sign, visits, turns):
    """Which lists the pivots of an event visit, from entry ``k`` on, as far as ``visits`` has room.

    Returns the entry to go on with, and the number of turns. No branch depends on a signature, so that
    the loads of all pivots are under way together. Without signatures every probe visits its list.
    """
    count, taken = np.int64(0), np.int64(0)
    while k < b and count + OPERATORS * (b - a) < len(visits):
        d = np.int64(dimension[k])
        first = np.int64(directory_start[d])
        segments = np.int64(directory_start[d + 1]) - first
        k += 1
        if segments == 0 or (multi and k - 1 > a and dimension[k - 2] == d):
            continue
        for p in range(b - a):
            at = OPERATORS * (first + (dimension[a + p] & (segments - 1)))
            for operator in range(OPERATORS):
                visits[count, PROBE] = OPERATORS * p + operator
                visits[count, BEGIN] = at + operator
                if len(signature):
                    count += signature[at + operator] & sign[OPERATORS * p + operator] != 0
                else:
                    count += 1
        turns[taken, PIVOT] = d
        turns[taken, VISITS] = count
        taken += 1
    return k, taken


@njit(cache=True, nogil=True)
def bound_visits(turns, taken, visits, list_start, record, probe):
    """Replace lists by their first and last records; keep those that enclose what is sought.

    The point is as much to fetch the records of all visits together.
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


@njit(cache=True, nogil=True)
def count_down(begin, end, low, high, record, pointer_mask, counter, hits, found):
    """Count the predicates of a list from ``low`` to ``high``.

    Returns how many there are, and how many clauses have all they need by now; a counter stays at 0,
    so that no clause is found twice.
    """
    at, stop = begin, end
    while at < stop:
        middle = (at + stop) >> 1
        if np.int64(record[middle]) < low:
            at = middle + 1
        else:
            stop = middle
    i = at
    while i < end and np.int64(record[i]) <= high:
        pointer = np.int64(record[i]) & pointer_mask
        needed = np.int64(counter[pointer])
        hits[found] = pointer
        found += needed == 1
        counter[pointer] = needed - (needed > 0)
        i += 1
    return i - at, found


@njit(cache=True, nogil=True)
def take_turn(first, last, v, end, visits, probe, record, pointer_mask, needed, counter, hits, work):
    """Set back the counters of a pivot and make its visits; returns how many clauses are found."""
    for c in range(first, last):
        counter[c - first] = needed[c]
    found = np.int64(0)
    while v < end:
        p = visits[v, PROBE]
        seen, found = count_down(
            visits[v, BEGIN], visits[v, END], probe[p, LOW], probe[p, HIGH], record, pointer_mask, counter,
            hits, found,
        )  # fmt: skip
        work[0] += seen
        v += 1
    return found


@njit(cache=True, nogil=True)
def settle(
    e, first, found, hits, several, b, dimension, lo, hi, cell, start, literal, set_lo, set_hi, undecided,
    out_event, out_clause, written, work,
):  # fmt: skip
    """Write the clauses found that hold; returns the pairs written, -1 if there is no room.

    ``hits`` are counted from ``first``; without any, all clauses from there on are found. Counting has
    decided most clauses for a plain event; several values on a dimension may have been counted too often.
    """
    if written + found > len(out_event):
        return np.int64(-1)
    for h in range(found):
        c = first + (hits[h] if len(hits) else h)
        holds = True
        if several:
            work[1] += 1
            holds = holds_general(literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi)
        elif undecided[c]:
            work[1] += 1
            holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
        out_event[written] = e
        out_clause[written] = c
        written += holds
    return written


@njit(cache=True, nogil=True)
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, counter, hits, probe, sign, visits, turns,
    words8, words32, words64, words, records, place, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; returns (events done, pairs written). Stops before ``out`` overflows.

    ``place`` holds begin and end of each array in the arena, in the order of ``ARRAYS``.
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
    undecided = words8[place[24] : place[25]]
    pointer_bits = np.int64(words32[place[26]])
    pointer_mask = (np.int64(1) << pointer_bits) - 1
    pivoted = np.int64(pivot_start[-1])
    residual = len(start) - 1 - pivoted
    written = np.int64(0)
    for e in range(begin, count):
        a, b, several = event_start[e], event_start[e + 1], multi[e] != 0
        mark = written
        enter_event(a, b, dimension, lo, hi, several, base, top, pointer_bits, cell, probe, sign)
        k = a
        while k < b and written >= 0:
            k, taken = pass_signatures(
                k, a, b, dimension, several, directory_start, signature, sign, visits, turns
            )
            work[2] += bound_visits(turns, taken, visits, list_start, record, probe)
            v = np.int64(0)
            for t in range(taken):
                if v < turns[t, VISITS] and written >= 0:
                    first, last = np.int64(pivot_start[turns[t, PIVOT]]), pivot_start[turns[t, PIVOT] + 1]
                    found = take_turn(
                        first, np.int64(last), v, turns[t, VISITS], visits, probe, record, pointer_mask,
                        needed, counter, hits, work,
                    )  # fmt: skip
                    if found:
                        written = settle(
                            e, first, found, hits, several, b, dimension, lo, hi, cell, start, literal,
                            set_lo, set_hi, undecided, out_event, out_clause, written, work,
                        )  # fmt: skip
                v = turns[t, VISITS]
        if residual and written >= 0:
            work[0] += residual
            written = settle(
                e, pivoted, residual, hits[:0], several, b, dimension, lo, hi, cell, start, literal, set_lo,
                set_hi, undecided, out_event, out_clause, written, work,
            )  # fmt: skip
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written < 0:
            return e, mark
    return count, written
