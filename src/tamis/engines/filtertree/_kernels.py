"""Enumerate the paths of clauses, and descend the tree. ``tree.py`` describes the arrays."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain
from tamis.kernel import kernel

MOST_PATHS = 64  # of one clause: a set that would need more is one step over its hull


@kernel
def steps_of(begin, end, usable, dimension, rank, names, out):
    """Write the conditions of a clause on the tree's names, in their order; return their number."""
    count = 0
    for u in range(begin, end):
        if not usable[u] or rank[dimension[u]] >= names:
            continue
        at = count
        while at > 0 and rank[dimension[out[at - 1]]] > rank[dimension[u]]:
            out[at] = out[at - 1]
            at -= 1
        out[at] = u
        count += 1
    return count


@kernel
def write_paths(
    start, usable, dimension, lo, hi, set_at, set_count, set_lo, set_hi, rank, names, most_values,
    path_clause, path_start, step_dimension, step_lo, step_hi, split,
):  # fmt: skip
    """Write one path for every choice of one range from each set; ``split`` marks the sets that were split.

    With empty outputs nothing is written. Return (paths, steps) either way.
    """
    widest = 0
    for c in range(len(start) - 1):
        widest = max(widest, start[c + 1] - start[c])
    chosen = np.empty(widest, np.int64)
    paths, steps = 0, 0
    for c in range(len(start) - 1):
        count = steps_of(start[c], start[c + 1], usable, dimension, rank, names, chosen)
        total = 1
        for i in range(count):
            u = chosen[i]
            split[u] = 1 < set_count[u] <= most_values and total * set_count[u] <= MOST_PATHS
            total *= set_count[u] if split[u] else 1
        for number in range(total):
            if len(path_clause):
                path_clause[paths] = c
                path_start[paths + 1] = steps + count
                rest = number
                for i in range(count):
                    u = chosen[i]
                    step_dimension[steps + i] = dimension[u]
                    step_lo[steps + i], step_hi[steps + i] = lo[u], hi[u]
                    if split[u]:
                        at = set_at[u] + rest % set_count[u]
                        rest //= set_count[u]
                        step_lo[steps + i], step_hi[steps + i] = set_lo[at], set_hi[at]
            paths += 1
            steps += count
    return paths, steps


@kernel
def first_at_least(numbers, low, high, value):
    """Return the first place in low:high whose number is at least ``value``."""
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def covering(first, split, last, low, high, node_lo, node_hi, stack, depth, work):
    """Push the children that cover a value (or an interval low..high); return the new depth."""
    for child in range(first_at_least(node_lo, first, split, low), split):
        if node_lo[child] > high:
            break
        stack[depth] = child
        depth += 1
    for child in range(split, last):
        if node_lo[child] > high:
            break
        work[0] += 1
        stack[depth] = child
        depth += node_hi[child] >= low
    return depth


@kernel
def covering_several(first, split, last, entry, end, dimension, lo, hi, joined, node_lo, node_hi, stack,
                     depth, work):  # fmt: skip
    """Push the children that cover any value of an attribute; return the new depth.

    If conditions were joined, two values may meet them from both sides, so the cells between them count, too.
    """
    final = entry
    while final + 1 < end and dimension[final + 1] == dimension[entry]:
        final += 1
    if joined or final == entry:
        return covering(first, split, last, lo[entry], hi[final], node_lo, node_hi, stack, depth, work)
    for k in range(entry, final + 1):
        depth = covering(first, split, split, lo[k], hi[k], node_lo, node_hi, stack, depth, work)
    for child in range(split, last):
        work[0] += 1
        for k in range(entry, final + 1):
            if node_lo[child] <= hi[k] and node_hi[child] >= lo[k]:
                stack[depth] = child
                depth += 1
                break
    return depth


@kernel
def descend(
    a, b, dimension, lo, hi, multi, cell, joined, node_lo, node_hi, group_start, group_dimension, child_start,
    child_split, filter_start, filters, stack, hits, work,
):  # fmt: skip
    """Collect the clauses of all nodes that the event reaches (algorithm 1); return their number.

    A node has few groups of children, which are tried one by one. The root may have thousands; then the
    event's attributes are looked up among them.
    """
    stack[0] = 0
    depth, found = 1, 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        work[2] += 1
        for at in range(np.int64(filter_start[node]), np.int64(filter_start[node + 1])):
            hits[found] = filters[at]
            found += 1
        begin, end = np.int64(group_start[node]), np.int64(group_start[node + 1])
        by_entry = end - begin > b - a
        for turn in range(a if by_entry else begin, b if by_entry else end):
            group = turn
            if by_entry:
                if multi and turn > a and dimension[turn - 1] == dimension[turn]:
                    continue
                group = first_at_least(group_dimension, begin, end, dimension[turn])
                if group == end or group_dimension[group] != dimension[turn]:
                    continue
            d = group_dimension[group]
            value = np.int64(cell[d])
            if value == 0:
                continue
            first, last = np.int64(child_start[group]), np.int64(child_start[group + 1])
            split = np.int64(child_split[group])
            if multi:
                depth = covering_several(
                    first, split, last, value - 1, b, dimension, lo, hi, joined[d], node_lo, node_hi, stack,
                    depth, work,
                )  # fmt: skip
            else:
                depth = covering(first, split, last, value, value, node_lo, node_hi, stack, depth, work)
    work[0] += found
    return found


@kernel
def match_events(
    begin, events, event_start, dimension, lo, hi, multi, cell, stack, hits, start, literal, set_lo, set_hi,
    doubtful, joined, node_lo, node_hi, group_start, group_dimension, child_start, child_split, filter_start,
    filters, out_event, out_clause, work,
):  # fmt: skip
    """Match events from ``begin``; return (events done, pairs written). Stop before ``out`` overflows."""
    written = 0
    for e in range(begin, events):
        a, b = event_start[e], event_start[e + 1]
        for k in range(b - 1, a - 1, -1):
            cell[dimension[k]] = k + 1 if multi[e] else lo[k]
        found = descend(
            a, b, dimension, lo, hi, multi[e], cell, joined, node_lo, node_hi, group_start, group_dimension,
            child_start, child_split, filter_start, filters, stack, hits, work,
        )  # fmt: skip
        mark = written
        for h in range(found):
            c = hits[h]
            if multi[e]:
                work[1] += 1
                if not holds_general(
                    literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                ):
                    continue
            elif doubtful[c]:
                work[1] += 1
                if not holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi):
                    continue
            if written < len(out_event):
                out_event[written] = e
                out_clause[written] = c
            written += 1
        for k in range(a, b):
            cell[dimension[k]] = 0
        if written > len(out_event):
            return e, mark
    return events, written
