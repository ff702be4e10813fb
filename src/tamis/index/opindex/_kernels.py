"""Building and searching the lists of ``opindex``. ``build.py`` says what the arrays hold."""

import numpy as np
from numba import njit

from tamis.index._kernels import holds_general, holds_plain

EQ, LE, GE, OPERATORS = 0, 1, 2, 3
ANY_BIT = 64  # a probe with many operands: no bit of a signature can rule it out
LOW, HIGH, BIT = 0, 1, 2  # columns of a probe


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
    """The bit (0 to 63) that a predicate sets, and that an event's value looks for.

    For ``=`` it depends on dimension and operand; for the others, which many operands meet, on the
    dimension alone.
    """
    mixed = np.uint64(dimension) * np.uint64(0x9E3779B97F4A7C15)
    if operator == EQ:
        mixed = (mixed ^ np.uint64(operand)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(58))


@njit(cache=True, nogil=True)
def sign_segments(operator, dimension, operand, segment, signature):
    """Set the bits of all predicates."""
    for i in range(len(operator)):
        bit = signature_bit(operator[i], dimension[i], operand[i])
        signature[segment[i]] |= np.uint64(1) << np.uint64(bit)


@njit(cache=True, nogil=True)
def fill_buckets(a, b, dimension, buckets, bucket):
    """Where the probes of each bucket begin, one place later than in the end: entering moves them."""
    bucket[:] = 0
    for k in range(a, b):
        bucket[(dimension[k] & (buckets - 1)) + 2] += 1
    for t in range(2, buckets + 2):
        bucket[t] += bucket[t - 1]


@njit(cache=True, nogil=True)
def furthest(k, b, dimension, lo, hi, top):
    """The highest cell of the entries of a dimension, from ``k`` on, as far as any ``>=`` reaches."""
    high = np.int64(hi[k])
    while k + 1 < b and dimension[k + 1] == dimension[k] and lo[k + 1] <= top:
        k += 1
        high = np.int64(hi[k])
    return high


@njit(cache=True, nogil=True)
def enter_event(a, b, dimension, lo, hi, multi, base, top, pointer_bits, buckets, cell, probe, bucket, mask):
    """Write what an event looks for, in buckets of the dimensions that share a segment.

    Per operator and entry: the lowest and highest record to find, and the bit of the signature. A
    probe that can find nothing has its bounds crossed: with several entries on a dimension the first
    one looks for ``<=`` and ``>=`` on behalf of all. ``mask`` is the event's own signature for every
    segment of a directory.
    """
    fill_buckets(a, b, dimension, buckets, bucket)
    mask[:] = np.uint64(0)
    after = (np.int64(1) << pointer_bits) - 1
    for k in range(a, b):
        d = np.int64(dimension[k])
        t = d & (buckets - 1)
        p = bucket[t + 1]
        bucket[t + 1] += 1
        low, high = np.int64(lo[k]), np.int64(hi[k])
        first, last = np.int64(base[d]), np.int64(base[d + 1])
        one = signature_bit(EQ, d, low) if low == high else ANY_BIT
        any_operand = signature_bit(LE, d, 0)
        probe[EQ, p, LOW] = (first + low) << pointer_bits
        probe[EQ, p, HIGH] = ((first + high) << pointer_bits) | after
        probe[EQ, p, BIT] = one
        probe[LE, p, BIT] = any_operand
        probe[GE, p, BIT] = any_operand
        again = multi and k > a and dimension[k - 1] == d
        if multi and not again:
            high = furthest(k, b, dimension, lo, hi, top[d])
        probe[LE, p, LOW] = (first + low) << pointer_bits
        probe[LE, p, HIGH] = -1 if again else (last << pointer_bits) - 1
        probe[GE, p, LOW] = first << pointer_bits
        probe[GE, p, HIGH] = -1 if again or low > top[d] else ((first + high) << pointer_bits) | after
        at = buckets - 1 + t
        mask[EQ, at] |= ~np.uint64(0) if one == ANY_BIT else np.uint64(1) << np.uint64(one)
        mask[LE, at] |= np.uint64(1) << np.uint64(any_operand)
        mask[GE, at] = mask[LE, at]
        if not again:
            cell[d] = k + 1 if multi else low
    fold_masks(buckets, mask)


@njit(cache=True, nogil=True)
def fold_masks(buckets, mask):
    """The masks for smaller directories: those of n segments stand from n - 1 on."""
    n = buckets >> 1
    while n > 0:
        for s in range(n):
            for operator in range(OPERATORS):
                mask[operator, n - 1 + s] = mask[operator, 2 * n - 1 + s] | mask[operator, 3 * n - 1 + s]
        n >>= 1


@njit(cache=True, nogil=True)
def count_down(begin, end, low, high, record, pointer_mask, counter, hits, found):
    """Count the predicates of a segment from ``low`` to ``high``.

    Returns how many there are, and how many clauses have all they need by now; a counter stays at 0,
    so that no clause is found twice.
    """
    stop = end
    while begin < end:
        middle = (begin + end) >> 1
        if np.int64(record[middle]) < low:
            begin = middle + 1
        else:
            end = middle
    i = begin
    while i < stop and np.int64(record[i]) <= high:
        pointer = np.int64(record[i]) & pointer_mask
        left = np.int64(counter[pointer])
        if left == 1:
            hits[found] = pointer
            found += 1
        counter[pointer] = left - (left > 0)
        i += 1
    return i - begin, found


@njit(cache=True, nogil=True)
def match_pivot(
    d, list_start, segment_start, signature, record, pointer_mask, buckets, probe, bucket, mask, counter,
    hits, work,
):  # fmt: skip
    """Search the lists of pivot ``d`` for everything an event has; returns how many clauses are found."""
    signed = len(signature) > 0
    found = np.int64(0)
    for operator in range(OPERATORS):
        first = np.int64(list_start[OPERATORS * d + operator])
        segments = np.int64(list_start[OPERATORS * d + operator + 1]) - first
        for s in range(segments):
            if signed and signature[first + s] & mask[operator, segments - 1 + s] == 0:
                continue
            begin, end = np.int64(segment_start[first + s]), np.int64(segment_start[first + s + 1])
            for t in range(s, buckets, segments):
                for p in range(bucket[t], bucket[t + 1]):
                    bit = probe[operator, p, BIT]
                    if signed and bit != ANY_BIT and not (signature[first + s] >> np.uint64(bit)) & np.uint64(1):
                        continue
                    low, high = probe[operator, p, LOW], probe[operator, p, HIGH]
                    if low > high:
                        continue
                    work[2] += 1
                    seen, found = count_down(begin, end, low, high, record, pointer_mask, counter, hits, found)
                    work[0] += seen
    return found


@njit(cache=True, nogil=True)
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, counter, hits, probe, bucket, mask, words8,
    words32, words64, words, records, place, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; returns (events done, pairs written). Stops before ``out`` overflows.

    ``place`` holds begin and end of each array in the arena, in the order of ``ARRAYS``.
    """
    start = words32[place[0] : place[1]]
    literal = words[place[2] : place[3]]
    set_lo = words[place[4] : place[5]]
    set_hi = words[place[6] : place[7]]
    pivot_start = words32[place[8] : place[9]]
    list_start = words32[place[10] : place[11]]
    segment_start = words32[place[12] : place[13]]
    signature = words64[place[14] : place[15]]
    record = records[place[16] : place[17]]
    base = words64[place[18] : place[19]]
    top = words32[place[20] : place[21]]
    needed = words8[place[22] : place[23]]
    undecided = words8[place[24] : place[25]]
    pointer_bits, bits = np.int64(words32[place[26]]), np.int64(words32[place[26] + 1])
    pointer_mask, buckets = (np.int64(1) << pointer_bits) - 1, np.int64(1) << bits
    written = 0
    for e in range(begin, count):
        a, b, several = event_start[e], event_start[e + 1], multi[e] != 0
        mark = written
        enter_event(
            a, b, dimension, lo, hi, several, base, top, pointer_bits, buckets, cell, probe, bucket, mask
        )
        for k in range(a, b + 1):
            if k == b:  # clauses without a pivot: all of them are found
                first = np.int64(pivot_start[-1])
                found = len(start) - 1 - first
                work[0] += found
            else:
                d = np.int64(dimension[k])
                first, last = np.int64(pivot_start[d]), np.int64(pivot_start[d + 1])
                if first == last or (several and k > a and dimension[k - 1] == d):
                    continue
                counter[: last - first] = needed[first:last]
                found = match_pivot(
                    d, list_start, segment_start, signature, record, pointer_mask, buckets, probe, bucket,
                    mask, counter, hits, work,
                )  # fmt: skip
            if written + found > len(out_event):
                written = -1
                break
            for h in range(found):
                c = first + (h if k == b else hits[h])
                if several:
                    work[1] += 1
                    holds = holds_general(
                        literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                    )
                elif undecided[c]:
                    work[1] += 1
                    holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
                else:
                    holds = True
                out_event[written] = e
                out_clause[written] = c
                written += holds
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written < 0:
            return e, mark
    return count, written
