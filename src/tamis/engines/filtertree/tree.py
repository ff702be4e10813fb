"""Merge paths into a tree, level by level.

The children of a node have consecutive numbers, grouped by name. In a group, fixed values come first, in
order, then ranges by their lower end. ``group_start`` leads from a node to its groups, ``child_start`` from a
group to its first child and ``child_split`` to its first range. ``filter_start`` leads to the clauses that
end at the node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.filtertree.paths import Paths

Ints = npt.NDArray[np.int64]


class Tree(NamedTuple):
    """A merged tree; node 0 is the root."""

    node_dimension: Ints
    node_lo: Ints
    node_hi: Ints
    parent: Ints
    path_node: Ints  # the node where each path ends
    whole: npt.NDArray[np.bool_]  # whether the path ends there with its last step


def merge(paths: Paths, leaf: int) -> Tree:
    """Return the tree of all paths; a node with at most ``leaf`` paths is not divided further."""
    step, dimension, lo, hi = _distinct_steps(paths)
    count = np.diff(paths.start)
    node = np.zeros(len(count), np.int64)  # the current node of each path
    columns = [np.zeros((4, 1), np.int64)]
    taken, nodes, depth = np.zeros(len(count), np.int64), 1, 0
    active = np.arange(len(count))
    while len(active):
        crowd = np.bincount(node[active], minlength=nodes)
        active = active[(count[active] > depth) & (crowd[node[active]] > leaf)]
        if not len(active):
            break
        key = (node[active] << 32) | step[paths.start[active] + depth]
        distinct, place = np.unique(key, return_inverse=True)
        chosen = distinct & 0xFFFFFFFF
        columns.append(np.stack([dimension[chosen], lo[chosen], hi[chosen], distinct >> 32]))
        node[active] = nodes + place
        nodes += len(distinct)
        depth += 1
        taken[active] = depth
    of_name, low, high, parent = np.concatenate(columns, axis=1)
    return Tree(of_name, low, high, parent, node, taken == count)


def _distinct_steps(paths: Paths) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the steps numbered in the order of children: by name, fixed before ranges, by lower end."""
    columns = paths.dimension, (paths.lo < paths.hi).astype(np.int64), paths.lo, paths.hi
    bits = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(bits) < 63:  # one number per step sorts several times faster
        key = np.zeros(len(paths.lo), np.int64)
        for column, width in zip(columns, bits, strict=True):
            key = (key << width) | column
        _, first, step = np.unique(key, return_index=True, return_inverse=True)
        return step, paths.dimension[first], paths.lo[first], paths.hi[first]
    order = np.lexsort(columns[::-1])
    ordered = np.stack(columns)[:, order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)
    step = np.empty(len(order), np.int64)
    step[order] = np.cumsum(fresh) - 1
    dimension, _, lo, hi = ordered[:, fresh]
    return step, dimension, lo, hi


def arrays_of(tree: Tree, paths: Paths) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays to descend."""
    nodes = len(tree.parent)
    child = np.arange(1, nodes)
    parent, dimension = tree.parent[1:], tree.node_dimension[1:]
    fresh = np.ones(len(child), np.bool_)
    fresh[1:] = (np.diff(parent) != 0) | (np.diff(dimension) != 0)
    first = np.flatnonzero(fresh)
    fixed = np.concatenate([[0], np.cumsum(tree.node_lo[1:] == tree.node_hi[1:])])
    ends = np.append(first[1:], len(child))
    filters = np.argsort(tree.path_node, kind="stable")
    return {
        "node_lo": tree.node_lo.astype(np.uint32),
        "node_hi": tree.node_hi.astype(np.uint32),
        "group_start": np.searchsorted(parent[first], np.arange(nodes + 1)).astype(np.uint32),
        "group_dimension": dimension[first].astype(np.uint32),
        "child_start": np.append(first + 1, nodes).astype(np.uint32),
        "child_split": (first + 1 + fixed[ends] - fixed[first]).astype(np.uint32),
        "filter_start": np.searchsorted(tree.path_node[filters], np.arange(nodes + 1)).astype(np.uint32),
        "filters": paths.clause[filters].astype(np.uint32),
    }
