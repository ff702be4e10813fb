"""The tree as arrays: units to partition by, capacity of l-nodes, arranged clauses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.index.arrange import arrange
from tamis.index.bestar.layout._kernels import construct
from tamis.index.bestar.nodes import C_WIDTH, COUNT, P_WIDTH, PARENT
from tamis.index.hybrid.layout._kernels import order_for_checks
from tamis.index.hybrid.layout.units import Ints, Units, units_of
from tamis.index.statistics import Statistics
from tamis.space.clauses import Clauses

Arrays = dict[str, npt.NDArray[Any]]

CAPACITY = ((0.01, 5), (0.1, 20), (1.0, 160))
"""Table II(a) of the paper: up to which match probability an l-node holds how many expressions."""
_UNIT = 1 << 16  # gains are whole numbers, so that what is added can be taken away again


class Keys(NamedTuple):
    """The conditions that may partition: those that ask for a present dimension, as hulls of cells."""

    start: Ints  # clause c owns start[c]:start[c + 1]
    clause: Ints
    dimension: Ints
    lo: Ints
    hi: Ints
    gain: Ints
    unit: Ints  # the condition's number among all


def build(
    clauses: Clauses, statistics: Statistics, leaf: int, alpha: float, split: int, selectivity: int
) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    if clauses.count == 0 or len(clauses.literal) == 0:
        return clauses, _only_root(clauses)
    units = units_of(clauses, statistics)
    keys = keys_of(units, bool(selectivity))
    capacity = leaf or capacity_for(match_probability(units))
    late = np.zeros(len(keys.unit), np.bool_)
    c_node, p_node, order = construct(*keys[:-1], clauses.cells, capacity, float(alpha), split, late)
    marked = np.zeros(len(units.share), np.bool_)
    marked[keys.unit[late]] = True
    arranged = arrange(clauses, order, check_order(clauses, units, marked, order))
    return arranged, {
        "c_node": _frozen(c_node),
        "p_node": p_node.astype(np.uint32),
        "hull": _hull(units, clauses.dimensions),
    }


def keys_of(units: Units, selectivity: bool) -> Keys:
    """What may partition. The gain of a condition is the share of events that it keeps away, plus a bit.

    By popularity alone (the paper's optimistic ranking, loss = 0) every condition gains the same.
    """
    chosen = np.flatnonzero(units.usable)
    clause = np.repeat(np.arange(len(units.start) - 1), np.diff(units.start))[chosen]
    start = np.zeros(len(units.start), np.int64)
    np.cumsum(np.bincount(clause, minlength=len(start) - 1), out=start[1:])
    spared = 1.0 - np.clip(units.share[chosen], 0.0, 1.0)
    gain = (spared * _UNIT).astype(np.int64) + 1 if selectivity else np.ones(len(chosen), np.int64)
    return Keys(
        start, clause, units.dimension[chosen], units.lo[chosen], units.hi[chosen], gain, chosen
    )


def match_probability(units: Units) -> float:
    """The share of clauses that an event is expected to match, conditions taken as independent."""
    logs = np.zeros(len(units.share) + 1)
    np.cumsum(np.log(np.clip(units.share, 1e-300, 1.0)), out=logs[1:])
    return float(np.mean(np.exp(logs[units.start[1:]] - logs[units.start[:-1]])))


def capacity_for(probability: float) -> int:
    """How many clauses an l-node may hold before it is partitioned."""
    return next((size for limit, size in CAPACITY if probability < limit), CAPACITY[-1][1])


def check_order(clauses: Clauses, units: Units, late: npt.NDArray[np.bool_], clause_order: Ints) -> Ints:
    """All literals in their new order: what the way down has looked at is checked last."""
    start = clauses.start.astype(np.int64)
    size = start[1:] - start[:-1]
    place = np.empty(clauses.count, np.int64)
    place[clause_order] = np.cumsum(size[clause_order]) - size[clause_order]
    order = np.empty(len(clauses.literal), np.int64)
    order_for_checks(start, place, units.of_literal, late, units.share, order)
    return order


def _frozen(c_node: Ints) -> npt.NDArray[np.uint32]:
    """The table without what only building needs."""
    c_node[:, PARENT] = 0
    return c_node.astype(np.uint32)


def _hull(units: Units, dimensions: int) -> npt.NDArray[np.uint8]:
    """Dimensions with joined conditions: several values of an event may meet one together."""
    hull = np.zeros(dimensions, np.uint8)
    hull[units.dimension[units.joined]] = 1
    return hull


def _only_root(clauses: Clauses) -> Arrays:
    """Without a literal there is nothing to partition: every clause lies in the l-node of the root."""
    root = np.zeros((1, C_WIDTH), np.uint32)
    root[0, COUNT] = clauses.count
    return {
        "c_node": root,
        "p_node": np.zeros((0, P_WIDTH), np.uint32),
        "hull": np.zeros(clauses.dimensions, np.uint8),
    }
