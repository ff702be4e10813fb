"""Write the rows of plain conjunctions as literals of the head, and the numbers of an event as keys."""

import numpy as np

from tamis.kernel import kernel

NEGATIVE, MANY, ALWAYS_REVISE = 1, 4, 1
EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LIST, BETWEEN, PRESENT, OTHER_FORM = range(9)
NUMBER, TIME, UNORDERED, STRING, NO_KEY = range(5)  # families of literals
ABSENT = np.int64(-(2**63))
SETS_USED, LITERALS_USED, DOUBTS = range(3)
LOWEST, HIGHEST = 256, 261  # keys of each family, behind the forms of all operators
MOST_VALUES = 64  # of a list that is sorted by insertion
MAGNITUDE = np.int64(2**63 - 1)  # the bits of a float without its sign
LEAST_BITS = np.int64(512 << 52)  # of 2**-511: a smaller number has no key of its own
EXACT_BITS = np.int64((1023 + 53) << 52)  # of 2**53: an integer from here on may have lost digits as a float


@kernel
def sort_ranges(set_lo, set_hi, first, last):
    """Sort the ranges first:last and join those that touch; return the new end."""
    for i in range(first + 1, last):
        low, high = set_lo[i], set_hi[i]
        k = i - 1
        while k >= first and set_lo[k] > low:
            set_lo[k + 1], set_hi[k + 1] = set_lo[k], set_hi[k]
            k -= 1
        set_lo[k + 1], set_hi[k + 1] = low, high
    kept = first
    for i in range(first, last):
        if kept > first and set_lo[i] <= set_hi[kept - 1] + 1:
            set_hi[kept - 1] = max(set_hi[kept - 1], set_hi[i])
        else:
            set_lo[kept], set_hi[kept] = set_lo[i], set_hi[i]
            kept += 1
    return kept


@kernel
def ends_of(form, first, second, keys, forms):
    """Return (lo, hi, exact) of a comparison with one or two literals; lo is above hi if nothing fits."""
    family, low, high = keys[3 * first], keys[3 * first + 1], keys[3 * first + 2]
    exact = low == high
    if form == EQUAL:
        return low, high, exact
    lo, hi = forms[LOWEST + family], forms[HIGHEST + family]
    if form in (GREATER, GREATER_EQUAL, BETWEEN):
        lo = low + (form == GREATER and exact)
    if form in (LESS, LESS_EQUAL):
        hi = high - (form == LESS and exact)
    if form == BETWEEN:
        hi = keys[3 * second + 2]
        exact = exact and keys[3 * second + 1] == hi
    return lo, hi, exact


@kernel
def can_place(form, arg, arity, rows, keys):
    """Return whether keys alone express a row."""
    if form == PRESENT:
        return True
    if form == OTHER_FORM or arity > MOST_VALUES:
        return False
    for a in range(arg, arg + arity):
        kind = keys[3 * rows[a]]
        if kind == NO_KEY or (kind >= UNORDERED and form != EQUAL and form != LIST):
            return False
    return form != BETWEEN or keys[3 * rows[arg]] == keys[3 * rows[arg + 1]]


@kernel
def place_rows(
    n, rows, forms, dimension, keys, start, literal, set_lo, set_hi, owner, revise, used, clause, slot
):
    """Write expressions from ``n`` on as clauses, until one that keys alone cannot express; return it.

    ``rows`` are those of ``RowWriter.rows_from``, and ``keys`` has three numbers for each literal: family,
    lowest and highest key. ``clause`` and ``slot`` are those of expression ``n``. ``used`` counts the sets
    and literals so far, and the clauses that the tree must decide.
    """
    count = rows[0]
    row_start, arg_start = 1, count + 2
    first_row = arg_start + count + 1
    first_arg = first_row + rows[row_start + count] - rows[row_start]
    for e in range(n, count):
        begin = first_row + rows[row_start + e] - rows[row_start]
        end = first_row + rows[row_start + e + 1] - rows[row_start]
        arg = ahead = first_arg + rows[arg_start + e] - rows[arg_start]
        for row in range(begin, end):
            arity = rows[row] >> 8 & 0xFFFFFF
            if not can_place(forms[rows[row] & 0xFF], ahead, arity, rows, keys):
                return e
            ahead += arity
        doubtful = False
        for row in range(begin, end):
            attribute, arity = rows[row] >> 32, rows[row] >> 8 & 0xFFFFFF
            form, negative = forms[rows[row] & 0xFF], rows[row] & 1
            at, flags = 4 * used[LITERALS_USED], negative
            lo, hi, exact = ABSENT + 1, np.int64(2**63 - 1), True
            if form == PRESENT:
                flags = 3 * negative  # IS NULL: an absent attribute satisfies it
            elif form == LIST:
                lo, exact = used[SETS_USED], True
                for a in range(arg, arg + arity):
                    low, high = keys[3 * rows[a] + 1], keys[3 * rows[a] + 2]
                    set_lo[used[SETS_USED]], set_hi[used[SETS_USED]] = low, high
                    exact = exact and low == high
                    used[SETS_USED] += 1
                used[SETS_USED] = sort_ranges(set_lo, set_hi, lo, used[SETS_USED])
                flags |= MANY
                hi = used[SETS_USED] - lo
            else:
                second = rows[arg + 1] if form == BETWEEN else rows[arg]
                lo, hi, exact = ends_of(form, rows[arg], second, keys, forms)
                if lo > hi:
                    flags, lo, hi = flags | MANY, used[SETS_USED], np.int64(0)
            if negative and not exact:  # a cover of the denied values would lose some of the others
                flags, lo, hi = flags | MANY, used[SETS_USED], np.int64(0)
            doubtful |= not exact
            literal[at], literal[at + 1], literal[at + 2], literal[at + 3] = (
                dimension[attribute], flags, lo, hi,
            )  # fmt: skip
            used[LITERALS_USED] += 1
            arg += arity
        owner[clause], revise[clause] = slot, ALWAYS_REVISE if doubtful else 0
        used[DOUBTS] += doubtful
        clause += 1
        slot += 1
        start[clause] = used[LITERALS_USED]
    return count


@kernel
def keys_of_numbers(dimension, bits, found, key):
    """Write dimension and key of the numbers whose dimension is known; return how many.

    ``bits`` are those of floats. Return -1 if a number has no key, or may have lost digits as a float.
    """
    count = 0
    for n in range(len(bits)):
        magnitude = bits[n] & MAGNITUDE
        if magnitude >= EXACT_BITS or 0 < magnitude < LEAST_BITS:
            return -1
        if dimension[n] >= 0:
            above = magnitude - LEAST_BITS + 1 if magnitude > 0 else np.int64(0)
            found[count], key[count] = dimension[n], -above if bits[n] < 0 else above
            count += 1
    return count
