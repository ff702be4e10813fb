"""Write the rows of plain conjunctions as literals of the head, and the numbers of an event as keys."""

import numpy as np

from tamis.kernel import kernel

NEGATIVE, MANY, ALWAYS_REVISE = 1, 4, 1
EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, LIST, BETWEEN, PRESENT, OTHER_FORM = range(9)
NUMBER, TIME, UNORDERED, STRING, NO_KEY = range(5)  # families of literals
ABSENT = np.int64(-(2**63))
SETS_USED, LITERALS_USED, DOUBTS = range(3)
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
def ends_of(form, first, second, family, key_lo, key_hi, lowest, highest):
    """Return (lo, hi, exact) of a comparison with one or two literals; lo is above hi if nothing fits."""
    kind = family[first]
    exact = key_lo[first] == key_hi[first]
    if form == EQUAL:
        return key_lo[first], key_hi[first], exact
    lo, hi = lowest[kind], highest[kind]
    if form in (GREATER, GREATER_EQUAL, BETWEEN):
        lo = key_lo[first] + (form == GREATER and exact)
    if form in (LESS, LESS_EQUAL):
        hi = key_hi[first] - (form == LESS and exact)
    if form == BETWEEN:
        hi = key_hi[second]
        exact = exact and key_lo[second] == key_hi[second]
    return lo, hi, exact


@kernel
def can_place(form, arg, arity, args, family):
    """Return whether keys alone express a row."""
    if form == PRESENT:
        return True
    if form == OTHER_FORM or arity > MOST_VALUES:
        return False
    for a in range(arg, arg + arity):
        kind = family[args[a]]
        if kind == NO_KEY or (kind >= UNORDERED and form != EQUAL and form != LIST):
            return False
    return form != BETWEEN or family[args[arg]] == family[args[arg + 1]]


@kernel
def place_rows(
    n, row_start, arg_start, packed, args, form_of, dimension, family, key_lo, key_hi, lowest, highest, start,
    literal, set_lo, set_hi, owner, revise, used, clause, slot,
):  # fmt: skip
    """Write expressions from ``n`` on as clauses, until one that keys alone cannot express; return it.

    ``clause`` and ``slot`` are those of expression ``n``. ``used`` counts the sets and literals
    so far, and the clauses that the tree must decide. A packed row has 32 bits for the attribute, 24 for the
    number of operands and 8 for the operator.
    """
    for e in range(n, len(row_start) - 1):
        arg = ahead = arg_start[e] - arg_start[0]
        begin, end = row_start[e] - row_start[0], row_start[e + 1] - row_start[0]
        for row in range(begin, end):
            arity = np.int64(packed[row] >> 8 & 0xFFFFFF)
            if not can_place(form_of[packed[row] & 0xFF], ahead, arity, args, family):
                return e
            ahead += arity
        doubtful = False
        for row in range(begin, end):
            attribute, arity = np.int64(packed[row] >> 32), np.int64(packed[row] >> 8 & 0xFFFFFF)
            form, negative = form_of[packed[row] & 0xFF], np.int64(packed[row] & 1)
            at, flags = 4 * used[LITERALS_USED], negative
            lo, hi, exact = ABSENT + 1, np.int64(2**63 - 1), True
            if form == PRESENT:
                flags = 3 * negative  # IS NULL: an absent attribute satisfies it
            elif form == LIST:
                lo, exact = used[SETS_USED], True
                for a in range(arg, arg + arity):
                    set_lo[used[SETS_USED]], set_hi[used[SETS_USED]] = key_lo[args[a]], key_hi[args[a]]
                    exact = exact and key_lo[args[a]] == key_hi[args[a]]
                    used[SETS_USED] += 1
                used[SETS_USED] = sort_ranges(set_lo, set_hi, lo, used[SETS_USED])
                flags |= MANY
                hi = used[SETS_USED] - lo
            else:
                second = args[arg + 1] if form == BETWEEN else args[arg]
                lo, hi, exact = ends_of(form, args[arg], second, family, key_lo, key_hi, lowest, highest)
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
    return len(row_start) - 1


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
