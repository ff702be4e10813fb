"""Insert clauses into lists, and search the lists that an event visits.

``table`` is a hash table of rows (dimension, key, list + 1). A row of ``lists`` is (BEGIN, COUNT, ROOM, NEXT,
KEY): a run of postings, and the next list of the same dimension. List 0 has the clauses without a usable
condition. A row of ``dims`` is (FIRST_LIST, FIRST_LEAF, LEAVES, RANGES); a leaf is (its lowest key, list).

A posting is two words: clause and condition, then two more conditions. A condition is a dimension and a range
of its leaves, numbered from 1; 0 is an absent dimension. Leaves are coarse, so a condition can only let more
pass than its literal does.
"""

import numpy as np

from tamis.engines._kernels import holds_general, in_set
from tamis.kernel import kernel

NEGATIVE, ABSENT_OK, MANY = 1, 2, 4
ABSENT = np.int64(-(2**63))
HIGHEST = np.int64(2**63 - 1)
BEGIN, COUNT, ROOM, NEXT, KEY = range(5)
LIST_WIDTH = 5
FIRST_LIST, FIRST_LEAF, LEAVES, RANGES = range(4)
DIM_WIDTH = 4
LISTS_USED, POSTINGS_USED, TABLE_USED, SEED, WANTED_LISTS, WANTED_POSTINGS = range(6)  # the numbers in ``meta``
FEW_KEYS = 16  # a condition on at most as many keys is posted under each of them
MOST_KEYS = 1 << 17  # of a list of values
FIRST_ROOM = 2
HALF = np.int64(0xFFFFFFFF)
DIM_BITS = 20  # of a condition; its ends have six bits each
NO_CONDITION = np.int64(63 << 26)  # dimension 0 from 0 to 63


@kernel(inline="always")
def slot_of(table, mask, dimension, key, seed):
    """Return the row of (dimension, key) in the hash table, or the empty row where it belongs."""
    word = (np.uint64(key) ^ np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    word ^= (word >> np.uint64(29)) + np.uint64(dimension) * np.uint64(0xBF58476D1CE4E5B9)
    word *= np.uint64(0x94D049BB133111EB)
    at = np.int64(word >> np.uint64(33)) & mask
    while table[3 * at + 2] != 0 and (table[3 * at + 1] != key or table[3 * at] != dimension):
        at = (at + 1) & mask
    return at


@kernel(inline="always")
def list_of(table, mask, dimension, key, seed):
    """Return the list of (dimension, key); -1 if there is none."""
    return table[3 * slot_of(table, mask, dimension, key, seed) + 2] - 1


@kernel(inline="always")
def leaf_of(leaves, first, count, key):
    """Return the leaf, of ``count`` from ``first`` on, that a key lies in."""
    low, high = first, first + count
    while low + 1 < high:
        middle = (low + high) >> 1
        if leaves[2 * middle] <= key:
            low = middle
        else:
            high = middle
    return low


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
def keys_in(literal, row, set_lo, set_hi):
    """Return the number of keys that a positive literal accepts, or more than MOST_KEYS."""
    if not literal[row + 1] & MANY:
        width = np.uint64(literal[row + 3]) - np.uint64(literal[row + 2])
        return np.int64(width) + 1 if width < np.uint64(MOST_KEYS) else np.int64(MOST_KEYS + 1)
    total = np.int64(0)
    for s in range(literal[row + 2], literal[row + 2] + literal[row + 3]):
        width = np.uint64(set_hi[s]) - np.uint64(set_lo[s])
        if width >= np.uint64(MOST_KEYS) or total > MOST_KEYS:
            return np.int64(MOST_KEYS + 1)
        total += np.int64(width) + 1
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
    access, least = np.int64(-1), HIGHEST
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
            access, least = at, cost
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
def post(c, access, start, literal, set_lo, set_hi, table, mask, lists, postings, leaves, dims, meta):
    """Post a clause under a literal."""
    best = conditions(c, access, start, literal, set_lo, set_hi, leaves, dims)
    one, two = c | (best[0] << 32), best[1] | (best[2] << 32)
    if access < 0:
        append(lists, postings, meta, np.int64(0), one, two)
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
                append(lists, postings, meta, table[3 * at + 2] - 1, one, two)
        return
    if flags & MANY:
        low, high = set_lo[literal[row + 2]], set_hi[literal[row + 2] + literal[row + 3] - 1]
    else:
        low, high = joined(literal, start[c], start[c + 1], row)
    d = DIM_WIDTH * dimension
    dims[d + RANGES] += 1
    first, count = dims[d + FIRST_LEAF], dims[d + LEAVES]
    if count == 0:  # a dimension without leaves: everything is looked at until they are cut
        append(lists, postings, meta, np.int64(0), one, two)
        return
    for leaf in range(leaf_of(leaves, first, count, low), leaf_of(leaves, first, count, high) + 1):
        append(lists, postings, meta, leaves[2 * leaf + 1], one, two)


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
    if access < 0:
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
def insert_run(first, last, start, literal, set_lo, set_hi, table, lists, postings, leaves, dims, meta):
    """Insert the clauses first:last; return the first one that finds no room."""
    mask = np.int64(len(table) // 3 - 1)
    for c in range(first, last):
        access = choose(c, start, literal, set_lo, set_hi, table, mask, lists, leaves, dims, meta[SEED])
        new, more = wants(
            c, access, start, literal, set_lo, set_hi, table, mask, lists, leaves, dims, meta
        )
        meta[WANTED_LISTS], meta[WANTED_POSTINGS] = meta[LISTS_USED] + new, meta[POSTINGS_USED] + more
        if (
            LIST_WIDTH * meta[WANTED_LISTS] > len(lists)
            or 2 * meta[WANTED_POSTINGS] > len(postings)
            or 6 * (meta[TABLE_USED] + new) > len(table)  # half of the rows stay empty
        ):
            return c
        post(c, access, start, literal, set_lo, set_hi, table, mask, lists, postings, leaves, dims, meta)
    return last


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


@kernel(inline="always")
def passes(condition, leaf):
    """Return 1 if the leaves of a plain event satisfy a condition, else 0."""
    value = np.int64(leaf[condition & ((1 << DIM_BITS) - 1)])
    return np.int64((value >= (condition >> DIM_BITS) & 63) & (value <= (condition >> 26) & 63))


@kernel
def holds(literal, begin, end, cell, set_lo, set_hi):
    """Return whether all literals begin:end hold for a plain event."""
    for at in range(begin, end):
        row = 4 * at
        value, flags = cell[literal[row]], literal[row + 1]
        if flags == 0:
            if value < literal[row + 2] or value > literal[row + 3]:
                return False
            continue
        if value == ABSENT:
            if not flags & ABSENT_OK:
                return False
            continue
        if flags & MANY:
            accepted = in_set(value, literal[row + 2], literal[row + 3], set_lo, set_hi)
        else:
            accepted = literal[row + 2] <= value <= literal[row + 3]
        if accepted == ((flags & NEGATIVE) != 0):
            return False
    return True


@kernel
def holds_doubtful(literal, begin, end, first, last, dimension, lo, hi, set_lo, set_hi):
    """Return whether all literals that do not deny hold for an event that a tree will decide."""
    for at in range(begin, end):
        if literal[4 * at + 1] & NEGATIVE:
            continue
        if not holds_general(literal, at, at + 1, first, last, dimension, lo, hi, set_lo, set_hi):
            return False
    return True


@kernel
def enter_event(a, b, dimension, lo, cell, leaf, table, mask, leaves, dims, seed, visits):
    """Fill the tables of a plain event, and write the lists that it visits; return their number."""
    visits[0] = 0
    count = np.int64(1)
    for k in range(a, b):
        d = np.int64(dimension[k])
        cell[d] = lo[k]
        leaf[d] = 1
        if DIM_WIDTH * d >= len(dims):  # newer than this snapshot
            continue
        at = list_of(table, mask, d, lo[k], seed)
        visits[count] = at
        count += at >= 0
        number, first = dims[DIM_WIDTH * d + LEAVES], dims[DIM_WIDTH * d + FIRST_LEAF]
        if number > 0:
            found = leaf_of(leaves, first, number, lo[k])
            leaf[d] = found - first + 1
            visits[count] = leaves[2 * found + 1]
            count += 1
    return count


@kernel
def bounds(visits, count, lists, begins):
    """Replace lists by the ends of their runs, write their begins; return (runs, postings)."""
    kept, total = np.int64(0), np.int64(0)
    for v in range(count):
        row = LIST_WIDTH * visits[v]
        begin, number = lists[row + BEGIN], lists[row + COUNT]
        begins[kept], visits[kept] = begin, begin + number
        kept += number > 0
        total += number
    return kept, total


@kernel
def touch(begins, ends, runs, postings, work):
    """Read the ends of every run, so that all of them are fetched at once; see ``touch_runs`` of postings."""
    seen = np.int64(0)
    for r in range(runs):
        seen ^= postings[2 * begins[r]] ^ postings[2 * ends[r] - 1]
    work[4] = seen


@kernel
def general_visits(a, b, dimension, lo, hi, table, mask, lists, leaves, dims, seed, visits):
    """Write the lists that an event with several or wide entries visits; return their number, or -1.

    Two values on either side of a range may satisfy two conditions that were joined, so all leaves between
    the first and the last value of a dimension are visited. The result is -1 if there is no room.
    """
    visits[0] = 0
    count = np.int64(1)
    for k in range(a, b):
        d = np.int64(dimension[k])
        if DIM_WIDTH * d >= len(dims):
            continue
        if lo[k] == hi[k]:
            at = list_of(table, mask, d, lo[k], seed)
            if at >= 0:
                if count == len(visits):
                    return np.int64(-1)
                visits[count] = at
                count += 1
        else:
            at = dims[DIM_WIDTH * d + FIRST_LIST]
            while at >= 0:
                if lo[k] <= lists[LIST_WIDTH * at + KEY] <= hi[k]:
                    if count == len(visits):
                        return np.int64(-1)
                    visits[count] = at
                    count += 1
                at = lists[LIST_WIDTH * at + NEXT]
        number = dims[DIM_WIDTH * d + LEAVES]
        if number == 0 or (k > a and dimension[k - 1] == dimension[k]):
            continue
        last = k
        while last + 1 < b and dimension[last + 1] == dimension[k]:
            last += 1
        first = dims[DIM_WIDTH * d + FIRST_LEAF]
        for leaf in range(leaf_of(leaves, first, number, lo[k]), leaf_of(leaves, first, number, hi[last]) + 1):
            if count == len(visits):
                return np.int64(-1)
            visits[count] = leaves[2 * leaf + 1]
            count += 1
    return count


@kernel
def match_general(
    e, a, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, table, lists, postings, leaves, dims,
    meta, visits, posted, known, out_event, out_clause, written, work,
):  # fmt: skip
    """Match one event with several or wide entries; return the pairs written, -1 if there is no room.

    The clauses posted:known are in no list yet.
    """
    mask = np.int64(len(table) // 3 - 1)
    count = general_visits(a, b, dimension, lo, hi, table, mask, lists, leaves, dims, meta[SEED], visits)
    if count < 0:
        work[2] = -1
        return np.int64(-1)
    for k in range(b - 1, a - 1, -1):
        first[dimension[k]] = k + 1
    doubtful = first[0] != 0
    work[3] += count
    for v in range(count + 1):
        row = LIST_WIDTH * visits[min(v, count - 1)]
        begin, number = (lists[row + BEGIN], lists[row + COUNT]) if v < count else (posted, known - posted)
        for i in range(begin, begin + number):
            c = postings[2 * i] & HALF if v < count else i
            work[0] += 1
            work[1] += 1
            if doubtful:
                true = holds_doubtful(
                    literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi
                )
            else:
                true = holds_general(
                    literal, start[c], start[c + 1], first, b, dimension, lo, hi, set_lo, set_hi
                )
            if true:
                if written == len(out_event):
                    for k in range(a, b):
                        first[dimension[k]] = 0
                    return np.int64(-1)
                out_event[written], out_clause[written] = e, c
                written += 1
    for k in range(a, b):
        first[dimension[k]] = 0
    return written


@kernel
def filter_runs(begins, ends, runs, postings, leaf, hits):
    """Collect the visited postings whose first condition holds. No branches."""
    found = np.int64(0)
    for r in range(runs):
        for i in range(begins[r], ends[r]):
            hits[found] = i
            found += passes(postings[2 * i] >> 32, leaf)
    return found


@kernel
def filter_hits(hits, count, postings, leaf):
    """Keep the hits whose other conditions hold, and replace them by their clauses; return their number."""
    found = np.int64(0)
    for h in range(count):
        one, two = postings[2 * hits[h]], postings[2 * hits[h] + 1]
        hits[found] = one & HALF
        found += passes(two & HALF, leaf) & passes(two >> 32, leaf)
    return found


@kernel
def match_events(
    begin, count, event_start, dimension, lo, hi, multi, cell, leaf, first, visits, begins, hits, start, literal,
    set_lo, set_hi, table, lists, postings, leaves, dims, meta, posted, known, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written).

    The clauses posted:known are in no list yet; all of them are checked. Stop before ``out`` overflows. If ``hits`` would overflow, stop and write the necessary room to
    ``work[2]``; -1 asks for more visits.
    """
    mask = np.int64(len(table) // 3 - 1)
    written = np.int64(0)
    for e in range(begin, count):
        a, b = event_start[e], event_start[e + 1]
        if multi[e]:
            done = match_general(
                e, a, b, dimension, lo, hi, first, start, literal, set_lo, set_hi, table, lists, postings,
                leaves, dims, meta, visits, posted, known, out_event, out_clause, written, work,
            )  # fmt: skip
            if done < 0:
                return e, _of_event(out_event, written, e)
            written = done
            continue
        lists_met = enter_event(
            a, b, dimension, lo, cell, leaf, table, mask, leaves, dims, meta[SEED], visits
        )
        runs, total = bounds(visits, lists_met, lists, begins)
        full = total > len(hits)
        if full:
            work[2] = total
        else:
            touch(begins, visits, runs, postings, work)
            found = filter_runs(begins, visits, runs, postings, leaf, hits)
            found = filter_hits(hits, found, postings, leaf)
            full = written + found + known - posted > len(out_event)
        if not full:
            work[0] += total + known - posted
            work[1] += found + known - posted
            work[3] += lists_met
            for h in range(found + known - posted):
                c = hits[h] if h < found else posted + h - found
                out_event[written], out_clause[written] = e, c
                written += np.int64(holds(literal, start[c], start[c + 1], cell, set_lo, set_hi))
        for k in range(a, b):
            cell[dimension[k]] = ABSENT
            leaf[dimension[k]] = 0
        if full:
            return e, written
    return count, written


@kernel
def _of_event(out_event, written, e):
    """Return the pairs written before event ``e``, which is matched again."""
    while written > 0 and out_event[written - 1] == e:
        written -= 1
    return written
