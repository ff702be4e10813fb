"""Compute flat bounds, count one size at a time, and hand out the counted clauses."""

import numpy as np

from tamis.engines._kernels import first_from, holds_general, holds_plain
from tamis.engines.kindex._kernels import count, deny, distinct, touch
from tamis.kernel import kernel


# ------------------------------------------------------------------------------------------------ bounds
@kernel
def greatest_of_runs(start, clause, value):
    """Return the greatest value among the clauses of each run; -inf if it has none."""
    out = np.full(len(start) - 1, -np.inf)
    for n in range(len(out)):
        for i in range(start[n], start[n + 1]):
            out[n] = max(out[n], value[clause[i]])
    return out


@kernel
def insert_falling(values, many, value):
    """Insert ``value`` into ``many`` falling values."""
    at = many
    while at > 0 and values[at - 1] < value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value


@kernel
def size_bounds(a, b, dimension, multi, size_start, size_a, size_b, start, attribute, share, rest, priority,
                most, asked, weight, greatest):  # fmt: skip
    """Return the most that clauses of each size can score: the sum of the event's best shares.

    It adds as many shares as a clause of that size may have. Sizes beyond the event's attributes are left
    out.
    """
    sizes = min(distinct(a, b, dimension, multi), len(size_start) - 2) + 1
    out, best = np.empty(sizes), np.empty(len(asked) + 1)
    for size in range(sizes):
        many, low, end = 0, start[size], start[size + 1]
        for j in range(len(asked)):
            low = first_from(attribute, low, end, asked[j])
            if low < end and attribute[low] == asked[j]:
                insert_falling(best, many, weight[j] * share[low])
                many += 1
        score = greatest * rest[size] + priority[size]
        for j in range(min(many, most[size])):
            score += best[j]
        out[size] = min(score, greatest * size_a[size] + size_b[size])
    return out


# ---------------------------------------------------------------------------------------------- counting
@kernel
def part_of(at, size, of_list, part_size, part_a, part_b, greatest, threshold):
    """Return the part of list ``at`` with clauses of ``size``; -1 if none of them reaches the threshold."""
    for part in range(of_list[at], of_list[at + 1]):
        if part_size[part] == size:
            return part if greatest * part_a[part] + part_b[part] >= threshold else -1
    return -1


@kernel
def hits_of_size(
    size, threshold, a, b, dimension, lo, hi, multi, counter, hits, base, size_start, target, asked,
    denied_start, denied, of_list, part_start, part_size, part_a, part_b, greatest, work,
):  # fmt: skip
    """Collect the clauses of one size whose count is complete, or that a general event touches.

    The kernel skips a part below the threshold. Its clauses no longer matter, so their incomplete counts do
    no harm.
    """
    low, limit = np.int64(size_start[size]), np.int64(size_start[size + 1])
    counter[low:limit] = 0
    found = 0
    if not multi:
        for k in range(a, b):
            at = base[dimension[k]] + lo[k]
            end = np.int64(denied_start[at + 1])
            begin = first_from(denied, denied_start[at], end, low)
            deny(begin, end, denied, limit, counter, work)
            work[2] += 1
    for k in range(a, b):
        first = base[dimension[k]]
        if k == a or dimension[k - 1] != dimension[k]:
            cells = range(first + lo[k] - 1, first + hi[k] + 1)
        else:
            cells = range(first + lo[k], first + hi[k] + 1)
        for n in cells:
            at = first if n < first + lo[k] else n  # before its cells, visit the list of every present value
            work[2] += 1
            part = part_of(at, size, of_list, part_size, part_a, part_b, greatest, threshold)
            if part < 0:
                continue
            begin, end = part_start[part], part_start[part + 1]
            if multi:
                found = touch(begin, end, asked, limit, counter, hits, found, work)
            else:
                found = count(begin, end, asked, limit, target, counter, hits, found, work)
    return found


# ------------------------------------------------------------------------------------------- handing out
@kernel
def hand_out(
    clauses, at, most, a, b, dimension, lo, hi, multi, cell, start, literal, set_lo, set_hi, doubtful, work
):
    """Return (place, clauses): the clauses that hold, from place ``at``, until there are ``most``."""
    for k in range(b - 1, a - 1, -1):
        cell[dimension[k]] = k + 1 if multi else lo[k]
    out = np.empty(min(most, len(clauses)), np.int64)
    found = 0
    while at < len(clauses) and found < most:
        c = clauses[at]
        holds = True
        if multi:
            work[1] += 1
            holds = holds_general(literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi)
        elif doubtful[c]:
            work[1] += 1
            holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
        out[found] = c
        found += holds
        at += 1
    for k in range(a, b):
        cell[dimension[k]] = 0
    return at, out[:found]
