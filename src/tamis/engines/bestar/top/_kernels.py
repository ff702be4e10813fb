"""Summarise the weights of nodes, and walk the tree best bound first (algorithms 6 and 7)."""

import numpy as np

from tamis.engines._kernels import holds_general, holds_plain, upper_score
from tamis.engines.bestar._kernels import FIRST_ROOM, push_partitions, touches
from tamis.engines.bestar.nodes import (
    BEGIN,
    COUNT,
    DIM,
    HI,
    LEFT,
    LO,
    OWN_HI,
    OWN_LO,
    P_COUNT,
    P_DIRECTORY,
    P_FIRST,
    RIGHT,
    ROOT,
)
from tamis.engines.order._kernels import drop_first, longer, push
from tamis.kernel import kernel


# -------------------------------------------------------------------------------------------- summaries
@kernel
def greatest_below(c_node, p_node, value, tree, leaf):
    """Write the greatest value of the clauses in each subtree, and in each l-node.

    Children come after their parents.
    """
    for at in range(len(c_node) - 1, -1, -1):
        leaf[at] = -np.inf
        begin = np.int64(c_node[at, BEGIN])
        for c in range(begin, begin + np.int64(c_node[at, COUNT])):
            leaf[at] = max(leaf[at], value[c])
        tree[at] = leaf[at]
        for side in (LEFT, RIGHT):
            if c_node[at, side] != ROOT:
                tree[at] = max(tree[at], tree[c_node[at, side]])
        first = np.int64(c_node[at, P_FIRST])
        for p in range(first, first + np.int64(c_node[at, P_COUNT])):
            tree[at] = max(tree[at], tree[p_node[p, P_DIRECTORY]])


@kernel
def sizes_below(c_node, p_node):
    """Return the number of clauses in each subtree."""
    size = np.zeros(len(c_node), np.int64)
    for at in range(len(c_node) - 1, -1, -1):
        size[at] = c_node[at, COUNT]
        for side in (LEFT, RIGHT):
            if c_node[at, side] != ROOT:
                size[at] += size[c_node[at, side]]
        first = np.int64(c_node[at, P_FIRST])
        for p in range(first, first + np.int64(c_node[at, P_COUNT])):
            size[at] += size[p_node[p, P_DIRECTORY]]
    return size


@kernel
def summarise(c_node, p_node, size, priority, rest, start, attribute, share, attributes):
    """Return (start, attribute, share, rest, priority): per p-node, the greatest values below it.

    ``share`` is the greatest share of each attribute. The clauses of a subtree stand together.
    """
    out_start = np.zeros(len(p_node) + 1, np.int64)
    out_rest, out_priority = np.zeros(len(p_node)), np.zeros(len(p_node))
    out_attribute, out_share = np.empty(FIRST_ROOM, np.int64), np.empty(FIRST_ROOM)
    most, seen = np.full(attributes, -1.0), np.empty(attributes, np.int64)
    written = 0
    for p in range(len(p_node)):
        root = p_node[p, P_DIRECTORY]
        begin = np.int64(c_node[root, BEGIN])
        many = 0
        out_priority[p] = -np.inf
        for c in range(begin, min(begin + size[root], len(rest))):
            out_rest[p] = max(out_rest[p], rest[c])
            out_priority[p] = max(out_priority[p], priority[c])
            for i in range(start[c], start[c + 1]):
                if most[attribute[i]] < 0.0:
                    seen[many] = attribute[i]
                    many += 1
                most[attribute[i]] = max(most[attribute[i]], share[i])
        out_attribute, out_share = longer(out_attribute, written, many), longer(out_share, written, many)
        out_attribute[written : written + many] = np.sort(seen[:many])
        for i in range(written, written + many):
            out_share[i] = most[out_attribute[i]]
            most[out_attribute[i]] = -1.0
        written += many
        out_start[p + 1] = written
    return out_start, out_attribute[:written], out_share[:written], out_rest, out_priority


# ---------------------------------------------------------------------------------------------- the walk
@kernel
def seek(
    cell, a, b, dimension, lo, hi, general, start, literal, set_lo, set_hi, c_node, p_node, hull, tree_a,
    tree_b, leaf_a, leaf_b, clause_a, clause_b, of_directory, sum_start, sum_attribute, sum_share, sum_rest,
    sum_priority, asked, weight, greatest, bounds, items, left, threshold, most, work,
):  # fmt: skip
    """Walk on until ``most`` clauses are found or nothing is left; return (bounds, items, left, clauses).

    Even items of the heap are c-nodes with everything below them, odd ones their l-nodes. A bound is never
    above that of the node from which it was reached. Bounds equal to the threshold count, because ids decide
    between equals.
    """
    for k in range(b - 1, a - 1, -1):
        cell[dimension[k]] = k + 1 if general else lo[k]
    stack, out = np.empty(FIRST_ROOM, np.int64), np.empty(FIRST_ROOM, np.int64)
    found = 0
    while left > 0 and found < most:
        bound, at = bounds[0], items[0] >> 1
        leaf = items[0] & 1
        if bound < threshold:
            left = 0  # early termination: no remaining node can score more
            break
        drop_first(bounds, items, left)
        left -= 1
        if leaf:
            begin = np.int64(c_node[at, BEGIN])
            end = begin + np.int64(c_node[at, COUNT])
            work[0] += end - begin
            out = longer(out, found, end - begin)
            for c in range(begin, end):
                if greatest * clause_a[c] + clause_b[c] < threshold:
                    continue
                work[1] += 1
                if general:
                    holds = holds_general(
                        literal, start[c], start[c + 1], cell, b, dimension, lo, hi, set_lo, set_hi
                    )
                else:
                    holds = holds_plain(literal, start[c], start[c + 1], cell, set_lo, set_hi)
                out[found] = c
                found += holds
            continue
        work[2] += 1
        d, reached = np.int64(c_node[at, DIM]), 0
        for side in (LEFT, RIGHT):
            child = np.int64(c_node[at, side])
            if child != ROOT and touches(d, c_node[child, LO], c_node[child, HI], cell, general, b, dimension,
                                         lo, hi, hull):  # fmt: skip
                stack[reached] = child
                reached += 1
        if at == ROOT or touches(d, c_node[at, OWN_LO], c_node[at, OWN_HI], cell, general, b, dimension, lo,
                                 hi, hull):  # fmt: skip
            own = min(bound, greatest * leaf_a[at] + leaf_b[at])
            if c_node[at, COUNT] > 0 and own >= threshold:
                bounds, items = longer(bounds, left, 1), longer(items, left, 1)
                push(bounds, items, left, own, 2 * at + 1)
                left += 1
            stack, reached = push_partitions(
                at, c_node, p_node, a, b, cell, general, dimension, lo, hi, hull, stack, reached, work
            )
        bounds, items = longer(bounds, left, reached), longer(items, left, reached)
        for i in range(reached):
            child = stack[i]
            refined = min(bound, greatest * tree_a[child] + tree_b[child])
            if refined >= threshold and of_directory[child] >= 0:
                score = upper_score(
                    of_directory[child], sum_start, sum_attribute, sum_share, sum_rest, sum_priority, asked,
                    weight, greatest,
                )  # fmt: skip
                refined = min(refined, score)
            if refined >= threshold:
                push(bounds, items, left, refined, 2 * child)
                left += 1
    for k in range(a, b):
        cell[dimension[k]] = 0
    return bounds, items, left, out[:found]
