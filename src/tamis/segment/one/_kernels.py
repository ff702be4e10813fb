"""Locate one event, match it, and find the subscriptions that own the clauses."""

import numpy as np

from tamis.engines.hybrid._kernels import match_events
from tamis.kernel import kernel

SECTION = 4  # numbers that describe a dimension: its first cut, the end of its cuts, its base, any other cell
LIMIT = 9007199254740992.0  # 2**53: from here on, a float may stand for several integers
CAREFUL, MORE_ROOM = -1, -2  # results that are no number of subscriptions
FOUND = 5  # where the counts begin, behind the sizes
LOCATED, PROBED, VERIFIED, VISITED, WANTED = range(5)  # the counts
COUNTS = 5
ALWAYS_REVISE = 1


@kernel
def cell_of(number, cuts, sections, dimension):
    """Return the cell of a number; the search has no branch that depends on a comparison."""
    at = SECTION * dimension
    base = sections[at + 2]
    if base == 0:
        return sections[at + 3]
    low = sections[at]
    left = sections[at + 1] - low
    base -= low
    while left > 1:
        half = left >> 1
        low += half * (cuts[low + half - 1] <= number)
        left -= half
    if left == 1:
        low += cuts[low] <= number
    return base + low


@kernel
def enter_numbers(plan, values, cuts, sections, dimension, cell):
    """Write dimension and cell of the numbers of an event; return how many, or ``CAREFUL``.

    ``plan`` has the number of values, then the dimension of each, -1 if no predicate mentions it.
    """
    count = np.int64(0)
    for i in range(plan[0]):
        number = values[i]
        if not -LIMIT < number < LIMIT:
            return np.int64(CAREFUL)
        d = plan[1 + i]
        if d >= 0:
            dimension[count], cell[count] = d, cell_of(number, cuts, sections, d)
            count += 1
    return count


@kernel
def sort_numbers(numbers, count):
    """Sort the first numbers in place (Shell's sort: an event has few matches)."""
    for gap in (10007, 4001, 1750, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, count):
            number, j = numbers[i], i - gap
            while j >= 0 and numbers[j] > number:
                numbers[j + gap] = numbers[j]
                j -= gap
            numbers[j + gap] = number


@kernel
def take_owners(clause, count, owner_start, owner, revise, out):
    """Write the owners of clauses; return their number, or ``CAREFUL`` if a tree must decide one of them."""
    written = np.int64(0)
    for n in range(count):
        c = clause[n]
        if revise[c] & ALWAYS_REVISE:
            return np.int64(CAREFUL)
        first, last = np.int64(owner_start[c]), np.int64(owner_start[c + 1])
        if written + last - first > len(out):
            return np.int64(MORE_ROOM)
        for at in range(first, last):
            out[written] = owner[at]
            written += 1
    return written


@kernel
def distinct(numbers, count):
    """Move the distinct ones of sorted numbers to the front; return how many there are."""
    kept = np.int64(0)
    for n in range(count):
        if n == 0 or numbers[n] != numbers[kept - 1]:
            numbers[kept] = numbers[n]
            kept += 1
    return kept


@kernel
def enter_one(plan, values, cuts, sections, entries):
    """Write dimensions and cells of an event to the halves of ``entries``; return how many, or ``CAREFUL``.

    ``plan`` has the number of values and their dimensions, then the number of entries that are known and
    their dimensions and cells.
    """
    half = len(entries) >> 1
    dimension, cell = entries[:half], entries[half:]
    count = enter_numbers(plan, values, cuts, sections, dimension, cell)
    if count < 0:
        return count
    known = 1 + plan[0]
    more = plan[known]
    for n in range(more):
        dimension[count + n] = plan[known + 1 + n]
        cell[count + n] = plan[known + 1 + more + n]
    return count + more


@kernel
def own_one(clause, clauses, rest, words32, block, owners):
    """Write the sorted subscriptions that own clauses; return how many, ``CAREFUL`` or ``MORE_ROOM``."""
    owner_start, owner = words32[rest[0] : rest[1]], words32[rest[2] : rest[3]]
    matched = take_owners(clause, clauses, owner_start, owner, block[rest[4] : rest[5]], owners)
    if matched < 0:
        return matched
    sort_numbers(owners, matched)
    return matched if rest[6] else distinct(owners, matched)


@kernel
def match_one(plan, values, cuts, static, work, cells, entries, words32, words, inlines, block):
    """Write the sorted subscriptions that one event matches behind the counts in ``work``.

    Return their number, ``CAREFUL`` if this event needs the path of a batch, or ``MORE_ROOM``.

    ``static`` has the number of places that ``match_events`` reads and these places, then those of
    owner_start, owner and revise, whether each subscription has one clause, and the sections.
    ``work`` has its sizes (visits, hits, found, dimensions, and where the table of rounded cells begins), the
    counts, the subscriptions found, and buffers.
    """
    visits, hits, size, dimensions, rounded = work[0], work[1], work[2], work[3], work[4]
    place = static[1 : 1 + static[0]]
    rest = static[1 + static[0] :]
    count = enter_one(plan, values, cuts, rest[7:], entries)
    if count < 0:
        return count
    half = len(entries) >> 1
    dimension, cell = entries[:count], entries[half : half + count]
    counts = work[FOUND : FOUND + COUNTS]
    owners = work[FOUND + COUNTS : FOUND + COUNTS + size]
    buffers = work[FOUND + COUNTS + size :]
    event, clause = buffers[:size], buffers[size : 2 * size]
    lists = buffers[2 * size :]
    start, spent = np.zeros(2, np.int64), np.zeros(5, np.int64)
    start[1] = count
    done, clauses = match_events(
        0, 1, start, dimension, cell, cell, np.zeros(1, np.uint8), cells[:dimensions],
        cells[rounded : rounded + dimensions], lists[:visits], lists[visits : 2 * visits],
        lists[2 * visits : 3 * visits], lists[3 * visits : 3 * visits + hits], words32, words, inlines,
        place, event, clause, spent,
    )  # fmt: skip
    counts[WANTED] = spent[2]
    if done == 0:
        return np.int64(MORE_ROOM)
    counts[LOCATED], counts[PROBED], counts[VERIFIED], counts[VISITED] = count, spent[0], spent[1], spent[3]
    return own_one(clause, clauses, rest, words32, block, owners)
