"""How many names the candidates tree has: few, to visit little, yet enough to leave little to revise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines.filtertree.paths import Paths, paths_of, ranks
from tamis.engines.filtertree.tree import Tree, merge
from tamis.engines.units import Statistics, reorder, units_of
from tamis.space.space import Clauses

Ints = npt.NDArray[np.int64]
TRIAL = 20_000  # clauses of the trees that are tried
# Nanoseconds; what matters is their proportion.
VISIT, TEST, REVISE = 20.0, 2.0, 12.0


def choose_names(clauses: Clauses, statistics: Statistics, most_values: int, leaf: int) -> int:
    """Return the number of names whose tree is expected to cost least per event."""
    if clauses.count > TRIAL:
        some = np.random.default_rng(clauses.count).choice(clauses.count, TRIAL, replace=False)
        clauses = reorder(clauses, np.sort(some))
    units = units_of(clauses, statistics)
    rank = ranks(units, clauses.dimensions)
    used = len(np.unique(units.dimension[units.usable]))
    costs = {}
    for names in sorted({min(names, used) for names in (0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 1024, used)}):
        paths = paths_of(clauses, units, rank, names, most_values)
        costs[names] = expected_cost(merge(paths, leaf), paths, statistics)
    return min(costs, key=lambda names: (costs[names], names))


def expected_cost(tree: Tree, paths: Paths, statistics: Statistics) -> float:
    """Nanoseconds per event, if attributes are independent: nodes visited, ranges tested, clauses revised."""
    reached = np.ones(len(tree.parent))
    share = statistics.share(tree.node_dimension, tree.node_lo, tree.node_hi)
    level = _levels(tree.parent)
    for depth in range(1, int(level.max(initial=0)) + 1):
        at = np.flatnonzero(level == depth)
        reached[at] = reached[tree.parent[at]] * share[at]
    ranges = np.flatnonzero(tree.node_lo < tree.node_hi)
    tests = float((reached[tree.parent[ranges]] * statistics.presence[tree.node_dimension[ranges]]).sum())
    doubtful = ~(tree.whole & paths.decides[paths.clause])
    revised = float(reached[tree.path_node[doubtful]].sum())
    return VISIT * float(reached.sum()) + TEST * tests + REVISE * revised


def _levels(parent: Ints) -> Ints:
    """Return the depth of every node; a parent stands before its children."""
    level = np.zeros(len(parent), np.int64)
    while True:
        deeper = level[parent] + 1
        deeper[0] = 0
        if np.array_equal(deeper, level):
            return level
        level = deeper
