"""Build the tree's arrays: units to partition by, capacity of l-nodes, arranged clauses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar.batch._kernels import construct
from tamis.engines.bestar.growth import Rules, Tree
from tamis.engines.bestar.keys import capacity_for, hull_of, keys_of, match_probability
from tamis.engines.bestar.nodes import C_WIDTH, COUNT, P_WIDTH, PARENT
from tamis.engines.postings.layout.lists import check_order
from tamis.engines.units import Ints, Statistics, arrange, units_of
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]


def build(
    clauses: Clauses,
    statistics: Statistics,
    leaf: int,
    alpha: float,
    beta: float,
    split: int,
    selectivity: int,
    incremental: int,
) -> tuple[Clauses, Arrays]:
    """Return the arranged clauses and the arrays of the engine."""
    if clauses.count == 0 or len(clauses.literal) == 0:
        return clauses, _only_root(clauses)
    units = units_of(clauses, statistics)
    keys = keys_of(units, bool(selectivity))
    capacity = leaf or capacity_for(match_probability(units))
    if incremental:
        tree = Tree(keys, clauses.cells, Rules(capacity, float(alpha), float(beta), split))
        tree.insert(range(clauses.count))
        c_node, p_node, order, late = tree.freeze()
    else:
        late = np.zeros(len(keys.unit), np.bool_)
        c_node, p_node, order = construct(*keys[:-1], clauses.cells, capacity, float(alpha), split, late)
    marked = np.zeros(len(units.share), np.bool_)
    marked[keys.unit[late]] = True
    arranged = arrange(clauses, order, check_order(clauses, units, marked, order))
    return arranged, {
        "c_node": _frozen(c_node),
        "p_node": p_node.astype(np.uint32),
        "hull": hull_of(units, clauses.dimensions),
    }


def _frozen(c_node: Ints) -> npt.NDArray[np.uint32]:
    """Return the table without the columns that only the builder needs."""
    c_node[:, PARENT] = 0
    return c_node.astype(np.uint32)


def _only_root(clauses: Clauses) -> Arrays:
    """Return a tree of one node: without literals, every clause lies in the root's l-node."""
    root = np.zeros((1, C_WIDTH), np.uint32)
    root[0, COUNT] = clauses.count
    return {
        "c_node": root,
        "p_node": np.zeros((0, P_WIDTH), np.uint32),
        "hull": np.zeros(clauses.dimensions, np.uint8),
    }
