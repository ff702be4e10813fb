"""Rank conditions, choose levels and write postings: the compiled loops of the layout."""

import numpy as np

from tamis.kernel import kernel

NONE = -1


@kernel
def rank_units(unit_start, share, usable, best):
    """Choose per clause as many usable conditions with the least shares as ``best`` has rows (else NONE)."""
    for c in range(len(unit_start) - 1):
        for r in range(len(best)):
            best[r, c] = NONE
        for u in range(unit_start[c], unit_start[c + 1]):
            if not usable[u]:
                continue
            candidate = u
            for r in range(len(best)):
                held = best[r, c]
                if held == NONE or share[candidate] < share[held]:
                    best[r, c] = candidate
                    candidate = held
                    if held == NONE:
                        break


@kernel
def set_blocks(at, count, set_lo, set_hi, level):
    """Return the number of blocks of a level that the ranges of a set touch."""
    blocks, previous = 0, -1
    for r in range(at, at + count):
        a, b = np.int64(set_lo[r]) >> level, np.int64(set_hi[r]) >> level
        if a == previous:
            a += 1
        if b >= a:
            blocks += b - a + 1
            previous = b
    return blocks


@kernel
def blocks_at(u, lo, hi, set_at, set_count, set_lo, set_hi, level):
    """Return the number of blocks of a level that a condition touches."""
    if set_count[u] > 0:
        return set_blocks(set_at[u], set_count[u], set_lo, set_hi, level)
    return (hi[u] >> level) - (lo[u] >> level) + 1


@kernel
def choose_level(u, lo, hi, set_at, set_count, set_lo, set_hi, bottom, top, most):
    """Return the lowest level on which a condition touches at most ``most`` blocks, and their number."""
    allowed = 4 * most if set_count[u] > 0 else most
    level = bottom
    blocks = blocks_at(u, lo, hi, set_at, set_count, set_lo, set_hi, level)
    while level < top and blocks > allowed:
        level += 1
        blocks = blocks_at(u, lo, hi, set_at, set_count, set_lo, set_hi, level)
    return level, blocks


@kernel
def choose_levels(
    access, paired, dimension, lo, hi, set_at, set_count, set_lo, set_hi, bottom, top, most, level, count
):
    """Choose per clause the level of its postings, and count them."""
    for c in range(len(access)):
        u = access[c]
        if u == NONE or paired[c]:
            level[c], count[c] = 0, 0
            continue
        d = dimension[u]
        level[c], count[c] = choose_level(
            u, lo, hi, set_at, set_count, set_lo, set_hi, bottom[d], top[d], most
        )


@kernel
def weigh_levels(
    access, paired, dimension, lo, hi, set_at, set_count, set_lo, set_hi, crowded, bottom, top, most,
    lists, touched, several,
):  # fmt: skip
    """Weigh, per crowded dimension, one level against several.

    For each single level, count the blocks that the clauses touch. For several levels, count the levels in
    use and the postings that an event meets.
    """
    used = np.zeros(touched.shape, np.bool_)
    for c in range(len(access)):
        u = access[c]
        if u == NONE or paired[c] or not crowded[dimension[u]]:
            continue
        d = dimension[u]
        for n in range(top[d] + 1):
            touched[d, n] += blocks_at(u, lo, hi, set_at, set_count, set_lo, set_hi, n)
        level, blocks = choose_level(u, lo, hi, set_at, set_count, set_lo, set_hi, bottom[d], top[d], most)
        used[d, level] = True
        several[1, d] += blocks / lists[d, level]
    for d in range(len(crowded)):
        for n in range(top[d] + 1):
            several[0, d] += used[d, n]


@kernel
def triangle(one, two, width):
    """Return the place of a pair of zones, ``one`` before ``two``, in a triangle of ``width`` zones."""
    return one * (2 * width - one - 1) // 2 + two - one - 1


@kernel
def post_pair(one, two, dimension, lo, hi, slot, zones, width, first, cells, at, out_list):
    """Write the lists of one clause's pair of conditions if there is room; return their number."""
    if slot[dimension[one]] > slot[dimension[two]]:
        one, two = two, one
    d, e = dimension[one], dimension[two]
    written = 0
    for a in range(lo[one] * zones // (cells[d] + 1), hi[one] * zones // (cells[d] + 1) + 1):
        for b in range(lo[two] * zones // (cells[e] + 1), hi[two] * zones // (cells[e] + 1) + 1):
            if len(out_list) > 0:
                place = triangle(slot[d] * zones + a, slot[e] * zones + b, width)
                out_list[at + written] = first + place
            written += 1
    return written


@kernel
def post(
    access, dimension, lo, hi, set_at, set_count, set_lo, set_hi, level, base, paired, second, slot, zones,
    width, first_pair, cells, start, out_list, count,
):  # fmt: skip
    """Write the list of every posting; clause ``c`` owns start[c]:start[c + 1].

    With an empty ``out_list`` only the pairs are counted.
    """
    counting = len(out_list) == 0
    for c in range(len(access)):
        u = access[c]
        if u == NONE:
            continue
        at = start[c]
        if paired[c]:
            count[c] = post_pair(
                u, second[c], dimension, lo, hi, slot, zones, width, first_pair, cells, at, out_list
            )
            continue
        if counting:
            continue
        first = base[dimension[u], level[c]]
        if set_count[u] == 0:
            for block in range(lo[u] >> level[c], (hi[u] >> level[c]) + 1):
                out_list[at] = first + block
                at += 1
            continue
        previous = -1
        for r in range(set_at[u], set_at[u] + set_count[u]):
            a, b = np.int64(set_lo[r]) >> level[c], np.int64(set_hi[r]) >> level[c]
            if a == previous:
                a += 1
            for block in range(a, b + 1):
                out_list[at] = first + block
                at += 1
                previous = block


@kernel
def sort_postings(start, lists, list_start, owner):
    """Distribute postings to their lists: ``owner`` receives the clauses of every list in order.

    ``list_start`` holds, one place up, the number of postings of each list; at the end it holds the lists'
    starts.
    """
    for n in range(1, len(list_start)):
        list_start[n] += list_start[n - 1]
    fill = list_start[:-1].copy()
    for c in range(len(start) - 1):
        for i in range(start[c], start[c + 1]):
            owner[fill[lists[i]]] = c
            fill[lists[i]] += 1


@kernel
def order_for_checks(start, place, unit_of, late, share, out):
    """Write a new order of all literals: per clause unseen ones by share, then those already checked.

    The literals of clause ``c`` move to ``place[c]``.
    """
    for c in range(len(start) - 1):
        begin = place[c]
        end = begin
        for literal in range(start[c], start[c + 1]):
            unit = unit_of[literal]
            j = end - 1
            while j >= begin:
                other = unit_of[out[j]]
                if late[other] < late[unit] or (late[other] == late[unit] and share[other] <= share[unit]):
                    break
                out[j + 1] = out[j]
                j -= 1
            out[j + 1] = literal
            end += 1
