"""Put clauses into the lists of the head and take them out; ``leaves/_kernels.py`` describes the arrays."""

import numpy as np

from tamis.head.leaves._kernels import (
    ABSENT_OK,
    BEGIN,
    COUNT,
    DIM_BITS,
    DIM_WIDTH,
    FEW_KEYS,
    FIRST_LEAF,
    FIRST_LIST,
    FIRST_ROOM,
    HALF,
    HIGHEST,
    KEY,
    LEAVES,
    LIST_WIDTH,
    LISTS_USED,
    MANY,
    MOST_KEYS,
    NEGATIVE,
    NEXT,
    NO_ACCESS,
    NO_CONDITION,
    POSTINGS_USED,
    RANGES,
    REMOVED,
    ROOM,
    SEED,
    TABLE_USED,
    WANTED_LISTS,
    WANTED_POSTINGS,
    leaf_of,
    list_of,
    slot_of,
)
from tamis.kernel import kernel


@kernel
def new_list(lists, meta, dims, dimension, key):
    """Add an empty list to the chain of a dimension; return it."""
    at = meta[LISTS_USED]
    meta[LISTS_USED] += 1
    row = LIST_WIDTH * at
    lists[row + BEGIN] = lists[row + COUNT] = lists[row + ROOM] = 0
    lists[row + KEY] = key
    lists[row + NEXT] = dims[DIM_WIDTH * dimension + FIRST_LIST]
    dims[DIM_WIDTH * dimension + FIRST_LIST] = at
    return at


@kernel
def append(lists, postings, meta, at, first, second):
    """Append a posting to a list, which moves to a place with twice the room if it is full."""
    row = LIST_WIDTH * at
    count = lists[row + COUNT]
    if count == lists[row + ROOM]:
        begin, room = meta[POSTINGS_USED], max(2 * count, FIRST_ROOM)
        old = 2 * lists[row + BEGIN]
        for i in range(2 * count):
            postings[2 * begin + i] = postings[old + i]
        meta[POSTINGS_USED] += room
        lists[row + BEGIN] = begin
        lists[row + ROOM] = room
    place = 2 * (lists[row + BEGIN] + count)
    postings[place] = first
    postings[place + 1] = second
    lists[row + COUNT] = count + 1


@kernel
def take_out(lists, postings, at, c):
    """Take the posting of a clause out of a list; the last posting fills its place."""
    row = LIST_WIDTH * at
    last = lists[row + BEGIN] + lists[row + COUNT] - 1
    for i in range(lists[row + BEGIN], last + 1):
        if postings[2 * i] & HALF == c:
            postings[2 * i], postings[2 * i + 1] = postings[2 * last], postings[2 * last + 1]
            lists[row + COUNT] -= 1
            return


@kernel
def width(low, high):
    """Return the number of keys in a range, or more than MOST_KEYS."""
    distance = high - low
    # The distance of far ends is too large for a word, and seems negative.
    return distance + 1 if 0 <= distance < MOST_KEYS else np.int64(MOST_KEYS + 1)


@kernel
def keys_in(literal, row, set_lo, set_hi):
    """Return the number of keys that a positive literal accepts, or more than MOST_KEYS."""
    if not literal[row + 1] & MANY:
        return width(literal[row + 2], literal[row + 3])
    total = np.int64(0)
    for s in range(literal[row + 2], literal[row + 2] + literal[row + 3]):
        total += width(set_lo[s], set_hi[s])
        if total > MOST_KEYS:
            return np.int64(MOST_KEYS + 1)
    return total


@kernel
def joined(literal, begin, end, row):
    """Return the keys that all plain ranges on the dimension of ``row`` share; its own if they share none."""
    low, high = literal[row + 2], literal[row + 3]
    for at in range(begin, end):
        if literal[4 * at] == literal[row] and literal[4 * at + 1] == 0:
            low, high = max(low, literal[4 * at + 2]), min(high, literal[4 * at + 3])
    return (low, high) if low <= high else (literal[row + 2], literal[row + 3])


@kernel
def cost_of_keys(literal, row, set_lo, set_hi, table, mask, lists, seed):
    """Return how many postings stand in the lists of a literal's keys; it has few."""
    total = np.int64(0)
    many = (literal[row + 1] & MANY) != 0
    first = literal[row + 2] if many else row
    count = literal[row + 3] if many else 1
    for s in range(first, first + count):
        low, high = (set_lo[s], set_hi[s]) if many else (literal[row + 2], literal[row + 3])
        for key in range(low, high + 1):
            at = list_of(table, mask, literal[row], key, seed)
            total += lists[LIST_WIDTH * at + COUNT] if at >= 0 else 0
    return total


@kernel
def cost_of_range(dims, leaves, dimension, low, high):
    """Return how many ranges of a dimension an event meets, times the share of leaves that one touches."""
    row = DIM_WIDTH * dimension
    count = dims[row + LEAVES]
    if count == 0:
        return dims[row + RANGES]
    first = dims[row + FIRST_LEAF]
    touched = leaf_of(leaves, first, count, high) - leaf_of(leaves, first, count, low) + 1
    return dims[row + RANGES] * touched // count + 1


@kernel
def choose(c, start, literal, set_lo, set_hi, table, mask, lists, leaves, dims, seed):
    """Return the literal that a clause is posted under; -1 if there is none.

    The best condition meets the fewest postings so far. A condition on keys wins over a range: an event has
    one key of a dimension, but stands between the ends of many ranges.
    """
    access, least = np.int64(NO_ACCESS), HIGHEST
    for at in range(start[c], start[c + 1]):
        row = 4 * at
        flags = literal[row + 1]
        if flags & (NEGATIVE | ABSENT_OK):
            continue
        keys = keys_in(literal, row, set_lo, set_hi)
        if keys <= FEW_KEYS:
            cost = 2 * cost_of_keys(literal, row, set_lo, set_hi, table, mask, lists, seed) + keys - 1
        elif flags & MANY:
            cost = 4 * keys + np.int64(1 << 20)
        else:
            low, high = joined(literal, start[c], start[c + 1], row)
            cost = np.int64(1 << 16) + 8 * cost_of_range(dims, leaves, literal[row], low, high)
        if cost < least:
            access, least = np.int64(at), cost
    return access


@kernel
def condition_of(literal, row, low, high, leaves, dims):
    """Return the condition that keys low:high set on their dimension, and the share of leaves in it."""
    d = literal[row]
    if d >> DIM_BITS:
        return NO_CONDITION, 1.0
    first, count = dims[DIM_WIDTH * d + FIRST_LEAF], dims[DIM_WIDTH * d + LEAVES]
    if count == 0:
        return d | np.int64(1 << DIM_BITS) | np.int64(63 << 26), 1.0
    lo = leaf_of(leaves, first, count, low) - first + 1
    hi = leaf_of(leaves, first, count, high) - first + 1
    return d | (lo << DIM_BITS) | (hi << 26), (hi - lo + 1) / (count + 1)


@kernel
def conditions(c, access, start, literal, set_lo, set_hi, leaves, dims):
    """Return the three conditions, beside that of ``access``, which fewest events satisfy."""
    best, shares = np.full(3, NO_CONDITION, np.int64), np.full(3, 2.0)
    for at in range(start[c], start[c + 1]):
        row = 4 * at
        flags = literal[row + 1]
        if at == access or flags & (NEGATIVE | ABSENT_OK):
            continue
        if flags & MANY:
            if literal[row + 3] == 0:
                continue
            low, high = set_lo[literal[row + 2]], set_hi[literal[row + 2] + literal[row + 3] - 1]
        else:
            low, high = joined(literal, start[c], start[c + 1], row)
        found, share = condition_of(literal, row, low, high, leaves, dims)
        for place in range(3):
            if share < shares[place] and found != best[place]:
                found, best[place] = best[place], found
                share, shares[place] = shares[place], share
    return best


@kernel
def change(lists, postings, meta, at, c, one, two, adding):
    """Append a posting to a list, or take that of the clause out."""
    if adding:
        append(lists, postings, meta, at, one, two)
    else:
        take_out(lists, postings, at, c)


@kernel
def change_lists(
    c, access, one, two, adding, start, literal, set_lo, set_hi, table, mask, lists, postings, leaves, dims,
    meta,
):  # fmt: skip
    """Change all lists that a clause belongs to."""
    if access == NO_ACCESS:
        change(lists, postings, meta, np.int64(0), c, one, two, adding)
        return
    row = 4 * access
    dimension, flags = literal[row], literal[row + 1]
    if keys_in(literal, row, set_lo, set_hi) <= (MOST_KEYS if flags & MANY else FEW_KEYS):
        many = (flags & MANY) != 0
        first = literal[row + 2] if many else row
        for s in range(first, first + (literal[row + 3] if many else 1)):
            low, high = (set_lo[s], set_hi[s]) if many else (literal[row + 2], literal[row + 3])
            for key in range(low, high + 1):
                at = slot_of(table, mask, dimension, key, meta[SEED])
                if table[3 * at + 2] == 0:
                    table[3 * at] = dimension
                    table[3 * at + 1] = key
                    table[3 * at + 2] = new_list(lists, meta, dims, dimension, key) + 1
                    meta[TABLE_USED] += 1
                change(lists, postings, meta, table[3 * at + 2] - 1, c, one, two, adding)
        return
    if flags & MANY:
        low, high = set_lo[literal[row + 2]], set_hi[literal[row + 2] + literal[row + 3] - 1]
    else:
        low, high = joined(literal, start[c], start[c + 1], row)
    d = DIM_WIDTH * dimension
    dims[d + RANGES] += 1 if adding else -1
    first, count = dims[d + FIRST_LEAF], dims[d + LEAVES]
    if count == 0:  # a dimension without leaves: everything is looked at until they are cut
        change(lists, postings, meta, np.int64(0), c, one, two, adding)
        return
    for leaf in range(leaf_of(leaves, first, count, low), leaf_of(leaves, first, count, high) + 1):
        change(lists, postings, meta, leaves[2 * leaf + 1], c, one, two, adding)


@kernel(inline="always")
def room_of(lists, at):
    """Return the postings that a list takes when one more is appended; ``at`` is -1 for a new list."""
    if at < 0:
        return np.int64(FIRST_ROOM)
    row = LIST_WIDTH * at
    full = lists[row + COUNT] == lists[row + ROOM]
    return max(2 * lists[row + COUNT], np.int64(FIRST_ROOM)) if full else np.int64(0)


@kernel
def wants(c, access, start, literal, set_lo, set_hi, table, mask, lists, leaves, dims, meta):
    """Return how many further lists and postings the arrays must hold before a clause is posted."""
    if access == NO_ACCESS:
        return np.int64(0), room_of(lists, np.int64(0))
    row = 4 * access
    dimension, many = literal[row], (literal[row + 1] & MANY) != 0
    new, more = np.int64(0), np.int64(0)
    if keys_in(literal, row, set_lo, set_hi) <= (MOST_KEYS if many else FEW_KEYS):
        first = literal[row + 2] if many else row
        for s in range(first, first + (literal[row + 3] if many else 1)):
            low, high = (set_lo[s], set_hi[s]) if many else (literal[row + 2], literal[row + 3])
            for key in range(low, high + 1):
                at = list_of(table, mask, dimension, key, meta[SEED])
                new += at < 0
                more += room_of(lists, at)
        return new, more
    first, count = dims[DIM_WIDTH * dimension + FIRST_LEAF], dims[DIM_WIDTH * dimension + LEAVES]
    if count == 0:
        return np.int64(0), room_of(lists, np.int64(0))
    for leaf in range(first, first + count):
        more += room_of(lists, leaves[2 * leaf + 1])
    return new, more


@kernel
def insert_run(
    first, last, start, literal, set_lo, set_hi, table, lists, postings, leaves, dims, meta, access
):
    """Insert the clauses first:last that are not removed; return the first one that finds no room."""
    mask = np.int64(len(table) // 3 - 1)
    for c in range(first, last):
        if access[c] == REMOVED:
            continue
        by = choose(c, start, literal, set_lo, set_hi, table, mask, lists, leaves, dims, meta[SEED])
        new, more = wants(c, by, start, literal, set_lo, set_hi, table, mask, lists, leaves, dims, meta)
        meta[WANTED_LISTS], meta[WANTED_POSTINGS] = meta[LISTS_USED] + new, meta[POSTINGS_USED] + more
        if (
            LIST_WIDTH * meta[WANTED_LISTS] > len(lists)
            or 2 * meta[WANTED_POSTINGS] > len(postings)
            or 6 * (meta[TABLE_USED] + new) > len(table)  # half of the rows stay empty
        ):
            return c
        best = conditions(c, by, start, literal, set_lo, set_hi, leaves, dims)
        one, two = c | (best[0] << 32), best[1] | (best[2] << 32)
        change_lists(
            c, by, one, two, True, start, literal, set_lo, set_hi, table, mask, lists, postings, leaves, dims,
            meta,
        )  # fmt: skip
        access[c] = by
    return last


@kernel
def remove_run(
    clauses, posted, start, literal, set_lo, set_hi, table, lists, postings, leaves, dims, meta, access
):
    """Take clauses out of their lists; those from ``posted`` on are in none, and will not be inserted."""
    mask, nothing = np.int64(len(table) // 3 - 1), np.int64(0)
    for c in clauses:
        if c < posted and access[c] != REMOVED:
            change_lists(
                c, access[c], nothing, nothing, False, start, literal, set_lo, set_hi, table, mask, lists,
                postings, leaves, dims, meta,
            )  # fmt: skip
        access[c] = REMOVED


@kernel
def rehash(old, table, seed):
    """Enter all rows of a hash table into a larger one, which is empty."""
    mask = np.int64(len(table) // 3 - 1)
    for row in range(0, len(old), 3):
        if old[row + 2] != 0:
            at = 3 * slot_of(table, mask, old[row], old[row + 1], seed)
            table[at], table[at + 1], table[at + 2] = old[row], old[row + 1], old[row + 2]


@kernel
def operand_ends(count, start, literal, set_lo, set_hi, dimension, ends):
    """Write dimension and key of both ends of every literal that does not deny; return how many."""
    written = 0
    for c in range(count):
        for at in range(start[c], start[c + 1]):
            row = 4 * at
            flags = literal[row + 1]
            if flags & (NEGATIVE | ABSENT_OK) or (flags & MANY and literal[row + 3] == 0):
                continue
            low, high = literal[row + 2], literal[row + 3]
            if flags & MANY:
                low, high = set_lo[low], set_hi[low + high - 1]
            for end in (low, high):
                dimension[written], ends[written] = literal[row], end
                written += 1
    return written
