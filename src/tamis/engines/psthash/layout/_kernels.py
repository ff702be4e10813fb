"""Choose access predicates, and compute the keys on which building and matching must agree."""

import numpy as np

from tamis.engines.postings.layout._kernels import blocks_at
from tamis.kernel import kernel

NONE = -1
FILTER = 16  # bits of the filter of keys for a bucket, a power of two
TRIES = 12  # number of predicates tried, best first, to stay within the allowed combinations


@kernel(inline="always")
def space_key(space):
    """Return 64 well-mixed bits for a predicate space ID; the key of several spaces is the XOR of theirs."""
    mixed = (np.uint64(space) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel
def measure_spread(
    chosen, dimension, lo, hi, set_at, set_count, set_lo, set_hi, coarsest, most, within, blocks
):
    """Count, per dimension and grain, access predicates of at most ``most`` spaces, and their spaces."""
    single = np.zeros_like(within)  # by the finest grain at which a predicate has one space
    for u in chosen:
        d = dimension[u]
        for grain in range(coarsest[d] + 1):
            count = blocks_at(u, lo, hi, set_at, set_count, set_lo, set_hi, grain)
            if count == 1:  # and therefore at all coarser grains
                single[d, grain] += 1
                break
            if count <= most:
                within[d, grain] += 1
                blocks[d, grain] += count
    for d in range(len(coarsest)):
        total = 0
        for grain in range(coarsest[d] + 1):
            total += single[d, grain]
            within[d, grain] += total
            blocks[d, grain] += total


@kernel
def choose_access(
    unit_start, rank, usable, dimension, lo, hi, set_at, set_count, set_lo, set_hi, grain, most, access, count
):
    """Choose per clause its best predicates that have at most ``most`` combinations of spaces together.

    ``count`` receives the combinations. A clause with too few such predicates has access[0] = NONE.
    """
    wanted = access.shape[0]
    for c in range(access.shape[1]):
        chosen, product = 0, 1
        last = NONE
        for _ in range(TRIES):
            if chosen == wanted:
                break
            best = NONE
            for u in range(unit_start[c], unit_start[c + 1]):
                if not usable[u] or (best != NONE and rank[u] >= rank[best]):
                    continue
                if last == NONE or rank[u] > rank[last] or (rank[u] == rank[last] and u > last):
                    best = u
            if best == NONE:
                break
            last = best
            blocks = blocks_at(best, lo, hi, set_at, set_count, set_lo, set_hi, grain[dimension[best]])
            if product * blocks <= most:
                access[chosen, c] = best
                product *= blocks
                chosen += 1
        if chosen < wanted:
            access[:, c] = NONE
            product = 0
        count[c] = product


@kernel
def choose_inline(unit_start, share, usable, access, single, inline, second):
    """Choose per clause the two conditions beside the access predicates that are least likely to hold.

    If there are fewer than two, the access predicates follow, because a list stands for more than their
    cells.
    """
    for c in range(len(inline)):
        one, two, two_taken = NONE, NONE, False
        for u in range(unit_start[c], unit_start[c + 1]):
            taken = u == single[c]
            for n in range(access.shape[0]):
                taken |= u == access[n, c]
            if not usable[u] or taken:
                continue
            if one == NONE or share[u] < share[one]:
                one, two = u, one
            elif two == NONE or share[u] < share[two]:
                two = u
        for n in range(-1, access.shape[0]):
            u = single[c] if n < 0 else access[n, c]
            if u != NONE and one == NONE:
                one = u
            elif u != NONE and (two == NONE or (two_taken and share[u] < share[two])):
                two, two_taken = u, True
        inline[c], second[c] = one, two


@kernel
def spaces_of(u, lo, hi, set_at, set_count, set_lo, set_hi, grain, base, spaces, used):
    """Write the IDs of the spaces that condition ``u`` covers, mark them as used; return their number."""
    count = 0
    previous = -1
    ranges = max(set_count[u], 1)
    for r in range(ranges):
        low, high = lo[u], hi[u]
        if set_count[u] > 0:
            low, high = np.int64(set_lo[set_at[u] + r]), np.int64(set_hi[set_at[u] + r])
        for block in range(max(low >> grain, previous + 1), (high >> grain) + 1):
            space = base + block
            used[space >> 5] |= np.uint32(1) << np.uint32(space & 31)
            spaces[count] = space
            count += 1
            previous = block
    return count


@kernel
def combine_spaces(
    access, most, dimension, lo, hi, set_at, set_count, set_lo, set_hi, grain, base, start, first, keys, used
):
    """Write, for every combination of spaces of every clause, its first space and the keys of the others.

    Clause ``c`` owns start[c]:start[c + 1]. The key in column n stands for the n + 1 spaces after the first.
    """
    wanted = access.shape[0]
    spaces = np.empty((wanted, most), np.int64)
    count = np.empty(wanted, np.int64)
    odometer = np.empty(wanted, np.int64)
    for c in range(access.shape[1]):
        if access[0, c] == NONE:
            continue
        for n in range(wanted):
            u = access[n, c]
            d = dimension[u]
            count[n] = spaces_of(
                u, lo, hi, set_at, set_count, set_lo, set_hi, grain[d], base[d], spaces[n], used
            )
            odometer[n] = 0
        for at in range(start[c], start[c + 1]):
            first[at] = spaces[0, odometer[0]]
            key = np.uint64(0)
            for n in range(1, wanted):
                key ^= space_key(spaces[n, odometer[n]])
                keys[at, n - 1] = key
            n = 0
            while n < wanted:
                odometer[n] += 1
                if odometer[n] < count[n]:
                    break
                odometer[n] = 0
                n += 1


@kernel(inline="always")
def bucket_of(key, row, size):
    """Return the bucket of a key in the row that has ``size`` buckets from ``row`` on."""
    return row + np.int64(key & np.uint64(size - 1))


@kernel(inline="always")
def filter_bit(key, row, size):
    """Return the bit of a key in the filter of keys, where a bucket has ``FILTER`` bits."""
    return FILTER * row + np.int64((key >> np.uint64(32)) & np.uint64(FILTER * size - 1))


@kernel
def fill_rows(first, keys, rows, lists, known):
    """Write the bucket of every combination, and add its keys to the filter."""
    for at in range(len(first)):
        row = rows[first[at]]
        size = rows[first[at] + 1] - row
        lists[at] = bucket_of(keys[at, -1], row, size)
        for n in range(keys.shape[1]):
            bit = filter_bit(keys[at, n], row, size)
            known[bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)
