"""Check clauses against one event and bound scores: the loops that engines share.

A plain event has at most one cell per dimension: ``cell[d]``, or 0 if the dimension is absent. A general
event has ranges: ``first[d]`` is its first entry on ``d`` plus one, or 0 if the dimension is absent. Entries
are sorted by dimension, then by cell, and do not overlap.
"""

import numpy as np

from tamis.kernel import kernel

NEGATIVE, ABSENT_OK, MANY = 1, 2, 4

_PLACE = np.zeros(67, np.int64)  # the powers of two up to 2^63 have different remainders modulo 67
for _at in range(64):
    _PLACE[2**_at % 67] = _at


@kernel(inline="always")
def place_of_bit(bit):
    """Return the place of the only bit that is set in a word."""
    return _PLACE[bit % np.uint64(67)]


@kernel(inline="always")
def in_set(value, at, count, set_lo, set_hi):
    """Return whether ``value`` lies in one of ``count`` sorted ranges."""
    low, high = at, at + count
    while low < high:
        middle = (low + high) >> 1
        if set_hi[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < at + count and set_lo[low] <= value


@kernel(inline="always")
def plain_ranges(literal, at, end, cell):
    """Return the first literal of at:end that is not a plain range or does not hold, else ``end``.

    Most literals are plain ranges, and a call of ``holds_plain`` costs as much as checking several.
    """
    while at < end:
        value = cell[literal[4 * at]]
        if literal[4 * at + 1] != 0 or value < literal[4 * at + 2] or value > literal[4 * at + 3]:
            break
        at += 1
    return at


@kernel
def holds_plain(literal, begin, end, cell, set_lo, set_hi):
    """Return whether all literals begin:end hold for a plain event."""
    for at in range(np.int64(begin), np.int64(end)):
        row = 4 * at
        value = cell[literal[row]]
        flags = literal[row + 1]
        if flags == 0:
            if value < literal[row + 2] or value > literal[row + 3]:
                return False
            continue
        if value == 0:
            if not flags & ABSENT_OK:
                return False
            continue
        if flags & MANY:
            inside = in_set(value, np.int64(literal[row + 2]), np.int64(literal[row + 3]), set_lo, set_hi)
        else:
            inside = literal[row + 2] <= value <= literal[row + 3]
        if inside == ((flags & NEGATIVE) != 0):
            return False
    return True


@kernel(inline="always")
def rest_holds(at, end, literal, cell, set_lo, set_hi):
    """Return whether the literals at:end hold for a plain event."""
    at = plain_ranges(literal, at, end, cell)
    return at == end or (literal[4 * at + 1] != 0 and holds_plain(literal, at, end, cell, set_lo, set_hi))


@kernel
def reaching(entry, last, d, low, dimension, hi):
    """Return the first entry, from ``entry`` on, that belongs to another dimension or reaches ``low``.

    The search takes growing steps, then halves: most events have a few entries, some have thousands.
    """
    if dimension[entry] != d or hi[entry] >= low:
        return entry
    step = 1
    while entry + step < last and dimension[entry + step] == d and hi[entry + step] < low:
        entry += step
        step *= 2
    end = min(entry + step, last)
    while entry + 1 < end:
        middle = (entry + end) >> 1
        if dimension[middle] == d and hi[middle] < low:
            entry = middle
        else:
            end = middle
    return end


@kernel
def meets(literal, row, entry, last, dimension, lo, hi, set_lo, set_hi):
    """Return whether a dimension's entries, from ``entry`` on, share a cell with a literal's ranges."""
    d = literal[row]
    if not literal[row + 1] & MANY:
        entry = reaching(entry, last, d, literal[row + 2], dimension, hi)
        return entry < last and dimension[entry] == d and lo[entry] <= literal[row + 3]
    at = np.int64(literal[row + 2])
    end = at + np.int64(literal[row + 3])
    while entry < last and dimension[entry] == d:
        # Take turns: find the range that reaches this entry, then the entry that reaches that range.
        high = end
        while at < high:
            middle = (at + high) >> 1
            if set_hi[middle] < lo[entry]:
                at = middle + 1
            else:
                high = middle
        if at == end:
            return False
        if set_lo[at] <= hi[entry]:
            return True
        entry = reaching(entry, last, d, set_lo[at], dimension, hi)
    return False


@kernel
def holds_general(literal, begin, end, first, last, dimension, lo, hi, set_lo, set_hi):
    """Return whether all literals begin:end hold for an event with several or wide entries."""
    for at in range(np.int64(begin), np.int64(end)):
        row = 4 * at
        flags = literal[row + 1]
        entry = np.int64(first[literal[row]]) - 1
        if entry < 0:
            if not flags & ABSENT_OK:
                return False
            continue
        if meets(literal, row, entry, last, dimension, lo, hi, set_lo, set_hi) == ((flags & NEGATIVE) != 0):
            return False
    return True


@kernel
def first_from(values, low, high, value):
    """Return the first place in ``low:high`` of a sorted array that is not below ``value``."""
    low, high = np.int64(low), np.int64(high)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def upper_score(at, start, attribute, share, rest, priority, asked, weight, greatest):
    """Return the most that clause (or group of clauses) ``at`` can score for an event with ``asked``.

    ``at`` owns ``start[at]:start[at + 1]`` of the attributes; see Weights and Wanted.
    """
    score = greatest * rest[at] + priority[at]
    low, end = start[at], start[at + 1]
    for j in range(len(asked)):  # both arrays are sorted
        low = first_from(attribute, low, end, asked[j])
        if low < end and attribute[low] == asked[j]:
            score += weight[j] * share[low]
    return score


@kernel
def clause_bounds(clauses, start, attribute, share, rest, priority, asked, weight, greatest):
    """Return the most that each of the clauses can score."""
    out = np.empty(len(clauses))
    for n in range(len(clauses)):
        out[n] = upper_score(clauses[n], start, attribute, share, rest, priority, asked, weight, greatest)
    return out


@kernel
def share_of(dimension, lo, hi, cells, presence, base, cumulative, events):
    """Return the estimated share of events with a cell of ``dimension`` in lo..hi: see Statistics."""
    prior = presence[dimension] * ((hi - lo + 1) / cells[dimension])
    if events == 0:
        return prior
    first = base[dimension]
    held = cumulative[first + hi + 1] - cumulative[first + lo]
    # Each entry of an event with several values counts, so cap the share at the attribute's presence.
    seen = presence[dimension] * (events + 1.0) - 0.5
    if held > seen + 0.25:
        held = seen
    return (held + prior) / (events + 1.0)


@kernel
def shares(dimension, lo, hi, cells, presence, base, cumulative, events, out):
    """Write the estimated shares of many ranges."""
    for i in range(len(dimension)):
        out[i] = share_of(dimension[i], lo[i], hi[i], cells, presence, base, cumulative, events)


@kernel
def hull_of(literal, i, cells, set_lo, set_hi):
    """Return the smallest and largest present cell that can satisfy literal ``i``."""
    flags, lo, hi = np.int64(literal[i, 1]), np.int64(literal[i, 2]), np.int64(literal[i, 3])
    if flags & (NEGATIVE | ABSENT_OK):
        # A literal that absence satisfies, too, says nothing useful about present cells, so do not join it.
        return np.int64(1), np.int64(cells[literal[i, 0]])
    if flags & MANY:
        return np.int64(set_lo[lo]), np.int64(set_hi[lo + hi - 1])
    return lo, hi


@kernel
def group_literals(
    start, literal, set_lo, set_hi, cells, presence, base, cumulative, events, unit_start, of_literal,
    dimension, lo, hi, usable, joined, set_at, set_count, share,
):  # fmt: skip
    """Write the conditions of every clause, that is its literals by dimension, and return their number."""
    u = 0
    for c in range(len(start) - 1):
        unit_start[c] = u
        i, last = np.int64(start[c]), np.int64(start[c + 1])
        while i < last:
            first, d = i, np.int64(literal[i, 0])
            top, bottom = low, high = hull_of(literal, i, cells, set_lo, set_hi)
            usable[u] = False
            while i < last and literal[i, 0] == d:
                one, two = hull_of(literal, i, cells, set_lo, set_hi)
                top, bottom = max(top, one), min(bottom, two)
                usable[u] |= not literal[i, 1] & ABSENT_OK
                of_literal[i] = u
                i += 1
            joined[u] = i - first > 1 and top <= bottom
            if top > bottom:  # only a multi-valued event can satisfy these: take the first literal
                top, bottom = low, high
            dimension[u], lo[u], hi[u], set_at[u], set_count[u] = d, top, bottom, 0, 0
            if i - first == 1 and literal[first, 1] & (MANY | NEGATIVE) == MANY:
                set_at[u], set_count[u] = literal[first, 2], literal[first, 3]
                share[u] = 0.0
                for r in range(set_at[u], set_at[u] + set_count[u]):
                    share[u] += share_of(
                        d, np.int64(set_lo[r]), np.int64(set_hi[r]), cells, presence, base, cumulative, events
                    )
                most = share_of(d, np.int64(1), cells[d], cells, presence, base, cumulative, events)
                if events and share[u] > most:  # the set contains several values of one event
                    share[u] = most
            else:
                share[u] = share_of(d, top, bottom, cells, presence, base, cumulative, events)
            u += 1
    unit_start[len(start) - 1] = u
    return u


@kernel
def take_literals(literal, order, out):
    """Write the literals in another order to ``out``."""
    for i in range(len(order)):
        for k in range(4):
            out[i, k] = literal[order[i], k]
