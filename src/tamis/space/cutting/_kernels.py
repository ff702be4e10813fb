"""Compiled loops of cutting: mark cuts, write ranges as cells, compare clauses."""

import numpy as np

from tamis.kernel import kernel
from tamis.space._kernels import mix, sort_run


@kernel
def merge_ranges(entry, lo, hi, start, out_entry, out_lo, out_hi):
    """Sort ranges by (entry, lo) and join touching ranges of the same entry. Return the count.

    Before they are joined, the ranges of entry ``e`` take the places start[e]:start[e + 1].
    """
    fill = start[:-1].copy()
    for i in range(len(entry)):
        at = fill[entry[i]]
        fill[entry[i]] += 1
        out_entry[at], out_lo[at], out_hi[at] = entry[i], lo[i], hi[i]
    count = 0
    for e in range(len(start) - 1):
        first, last = start[e], start[e + 1]
        if last - first > 1:
            sort_run(out_lo, out_hi, out_entry, first, last)
        own = count
        for i in range(first, last):
            if count > own and out_lo[i] <= out_hi[count - 1] + 1:
                out_hi[count - 1] = max(out_hi[count - 1], out_hi[i])
                continue
            out_entry[count], out_lo[count], out_hi[count] = e, out_lo[i], out_hi[i]
            count += 1
    return count


BETWEEN, IN, STRUCTURAL = 10, 12, 250  # as in columns/codes.py and the definitions of BETWEEN and IN


@kernel
def begin_operands(op, arity, out):
    """Write where the operands of each row begin; structural rows have none."""
    out[0] = 0
    for n in range(len(op)):
        out[n + 1] = out[n] + (arity[n] if op[n] < STRUCTURAL else 0)


@kernel
def mark_operands(row, arg, arity, args, mark):
    """Mark the operands of the given rows."""
    for n in row:
        for k in range(arg[n], arg[n] + arity[n]):
            mark[args[k]] = True


# The key of its operand that a range begins and ends at, by operator: see Keys in sections.py.
BOTTOM, BEFORE, AFTER, TOP = 0, 1, 2, 3
LOW = np.array([BEFORE, BEFORE, BOTTOM, BOTTOM, BOTTOM, BOTTOM, AFTER, AFTER, *[BEFORE] * 6])
HIGH = np.array([AFTER, AFTER, BEFORE, BEFORE, AFTER, AFTER, TOP, TOP, TOP, TOP, *[AFTER] * 4])


@kernel
def mark_comparisons(row, op, attribute, arg, arity, args, key, keys, mark, codes):
    """Mark the cuts at the ends of every range, (dimension, key) as one number.

    If ``mark`` is empty, the cuts are listed in ``codes`` instead. Return the number of listed cuts, and the
    number of operands of the sets.
    """
    listed, members = 0, 0
    for n in row:
        first = np.int64(attribute[n]) * keys
        several, to = op[n] >= IN, np.int64(op[n] >> 1 == BETWEEN >> 1)
        low, high = LOW[op[n]], HIGH[op[n]]
        count = arity[n] if several else 1
        members += count
        for k in range(arg[n], arg[n] + count):
            if key[BEFORE, args[k]] < 0:
                continue
            below, above = first + key[low, args[k]], first + key[high, args[k + to]]
            if len(mark) > 0:
                mark[below] = True
                mark[above] = True
            else:
                codes[listed], codes[listed + 1] = below, above
                listed += 2
    return listed, members


@kernel
def cell_below(code, codes, cell):
    """Return the cell that ends at a cut: by table, or by the place of the cut in the list ``codes``."""
    if len(codes) == 0:
        return cell[code]
    low, high = 0, len(codes)
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return cell[low]


@kernel
def cells_below(cuts, codes, cell, out):
    """Write the cells that end at many cuts."""
    for i in range(len(cuts)):
        out[i] = cell_below(cuts[i], codes, cell)


@kernel
def join_ranges(lo, hi, first, last):
    """Sort the ranges first:last and join touching ones, in place. Return how many are left."""
    for i in range(first + 1, last):
        if lo[i] < lo[i - 1]:
            sort_run(lo, hi, hi, first, last)
            break
    count = first
    for i in range(first, last):
        if count > first and lo[i] <= hi[count - 1] + 1:
            hi[count - 1] = max(hi[count - 1], hi[i])
            continue
        lo[count], hi[count] = lo[i], hi[i]
        count += 1
    return count - first


NEGATIVE, ABSENT_OK, MANY = 1, 2, 4
NEVER, ALWAYS = 1, 2


@kernel
def pack_literal(i, dimension, flags, count, lo, hi, in_sets, cells, packed, fate):
    """Write literal ``i``: its only range lo..hi, or ``count`` ranges from place ``in_sets`` on.

    If a literal is left without a range, a positive one never holds, a negative one tests for presence, one
    that accepts absence tests for absence, and a negative one that accepts absence always holds. ``fate``
    marks NEVER and ALWAYS.
    """
    fate[i] = 0
    packed[i, 0], packed[i, 1] = dimension, flags
    if count == 1:
        packed[i, 2], packed[i, 3] = lo, hi
    elif count > 1:
        packed[i, 1] = flags | MANY
        packed[i, 2], packed[i, 3] = in_sets, count
    else:
        packed[i, 2], packed[i, 3] = 1, cells[dimension]
        if flags == 0:
            fate[i] = NEVER
        elif flags == NEGATIVE | ABSENT_OK:
            fate[i] = ALWAYS
        elif flags == NEGATIVE:
            packed[i, 1] = 0
        else:
            packed[i, 1] = NEGATIVE | ABSENT_OK


@kernel
def pack_literals(dimension, flags, count, lo, hi, cells, packed, fate):
    """Write (dimension, flags, lo, hi) of every literal from its ranges, which stand in order."""
    at, in_sets = 0, 0
    for i in range(len(dimension)):
        low, high = (lo[at], hi[at]) if count[i] > 0 else (0, 0)
        pack_literal(i, dimension[i], flags[i], count[i], low, high, in_sets, cells, packed, fate)
        at += count[i]
        if count[i] > 1:
            in_sets += count[i]


@kernel
def pack_comparisons(
    row, op, attribute, arg, arity, args, key, keys, codes, cell, negated, cells, packed, fate, set_lo, set_hi
):
    """Write (dimension, flags, lo, hi) of every comparison; return how many ranges the sets have.

    ``set_lo`` and ``set_hi`` need room for one range more than the greatest possible number.
    """
    in_sets = 0
    for i in range(len(row)):
        n = row[i]
        dimension = np.int64(attribute[n])
        several, to = op[n] >= IN, np.int64(op[n] >> 1 == BETWEEN >> 1)
        low, high = LOW[op[n]], HIGH[op[n]]
        last = in_sets
        for k in range(arg[n], arg[n] + (arity[n] if several else 1)):
            if key[BEFORE, args[k]] < 0:
                continue
            set_lo[last] = cell_below(dimension * keys + key[low, args[k]], codes, cell) + 1
            set_hi[last] = cell_below(dimension * keys + key[high, args[k + to]], codes, cell)
            last += set_lo[last] <= set_hi[last]
        count = last - in_sets
        if count > 1:
            count = join_ranges(set_lo, set_hi, in_sets, last)
        flags = ABSENT_OK * negated[i] + NEGATIVE * ((op[n] & 1 == 1) != negated[i])
        pack_literal(
            i, dimension, flags, count, set_lo[in_sets], set_hi[in_sets], in_sets, cells, packed, fate
        )
        if count > 1:
            in_sets += count
    return in_sets


@kernel
def order_literals(literal, first, last):
    """Sort the literals of a clause, in place, so that equal clauses look equal."""
    for i in range(first + 1, last):
        a, b, x, y = literal[i, 0], literal[i, 1], literal[i, 2], literal[i, 3]
        j = i - 1
        while j >= first and (
            literal[j, 0] > a
            or (literal[j, 0] == a and (literal[j, 1] > b or (literal[j, 1] == b and literal[j, 2] > x)))
        ):
            for k in range(4):
                literal[j + 1, k] = literal[j, k]
            j -= 1
        literal[j + 1, 0], literal[j + 1, 1], literal[j + 1, 2], literal[j + 1, 3] = a, b, x, y


@kernel
def hash_clauses(start, literal, set_lo, set_hi, revise, out):
    """Order the literals of every clause and hash its content (sets by their ranges, not by their place)."""
    for c in range(len(start) - 1):
        order_literals(literal, start[c], start[c + 1])
        state = mix(np.uint64(start[c + 1] - start[c]), np.uint64(revise[c]))
        for i in range(start[c], start[c + 1]):
            state = mix(mix(state, np.uint64(literal[i, 0])), np.uint64(literal[i, 1]))
            if literal[i, 1] & 4:
                for r in range(literal[i, 2], literal[i, 2] + literal[i, 3]):
                    state = mix(mix(state, np.uint64(set_lo[r])), np.uint64(set_hi[r]))
            else:
                state = mix(mix(state, np.uint64(literal[i, 2])), np.uint64(literal[i, 3]))
        out[c] = state


@kernel
def number_groups(order, same, group):
    """Assign numbers to groups of equal clauses by their first members; return the number of groups.

    In ``order`` the clauses of a group stand together; ``same`` marks all but one of each group.
    """
    first = 0
    while first < len(order):
        least, last = order[first], first + 1
        while last < len(order) and same[last]:
            least = min(least, order[last])
            last += 1
        for n in range(first, last):
            group[order[n]] = least
        first = last
    count = 0
    for c in range(len(group)):
        if group[c] == c:
            group[c] = count
            count += 1
        else:
            group[c] = group[group[c]]
    return count


@kernel
def copy_clauses(group, start, literal, leads, new_start, out):
    """Write the first clause of every group and its literals, one after the other; return their number."""
    count, at = 0, 0
    for c in range(len(group)):
        if group[c] != count:
            continue
        leads[count], new_start[count] = c, at
        count += 1
        for i in range(start[c], start[c + 1]):
            for k in range(4):
                out[at, k] = literal[i, k]
            at += 1
    new_start[count] = at
    return at


@kernel
def collect_owners(group, owner, fill, out):
    """Write the owners of all clauses group by group; ``fill`` holds the place where each group begins."""
    for c in range(len(group)):
        out[fill[group[c]]] = owner[c]
        fill[group[c]] += 1


@kernel
def same_as_previous(order, digest, start, literal, set_lo, set_hi, revise, out):
    """Write, for clauses in hash order, whether each has the same content as the one before it."""
    for n in range(1, len(order)):
        a, b = order[n - 1], order[n]
        if digest[a] != digest[b] or revise[a] != revise[b]:
            continue
        if start[a + 1] - start[a] != start[b + 1] - start[b]:
            continue
        same = True
        for k in range(start[a + 1] - start[a]):
            i, j = start[a] + k, start[b] + k
            if (
                literal[i, 0] != literal[j, 0]
                or literal[i, 1] != literal[j, 1]
                or literal[i, 3] != literal[j, 3]
            ):
                same = False
                break
            if literal[i, 1] & 4:
                for r in range(literal[i, 3]):
                    p, q = literal[i, 2] + r, literal[j, 2] + r
                    if set_lo[p] != set_lo[q] or set_hi[p] != set_hi[q]:
                        same = False
            elif literal[i, 2] != literal[j, 2]:
                same = False
            if not same:
                break
        out[n] = same
