"""Which predicates prune best: section 3.3 of the paper.

With historical events the predicate that fewer of them match is the more selective one. Without, the
operator decides, {=} > {∈} > {in} > {<, ≤, >, ≥} > {∉} > {≠}, and among equal operators the width.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines.pst._kernels import rank_conditions
from tamis.engines.units import Statistics, Units
from tamis.space.space import Clauses

Floats = npt.NDArray[np.float64]


def ranking(clauses: Clauses, units: Units, statistics: Statistics) -> Floats:
    """Return a number for each condition, the smaller the more selective it is taken to be.

    The width of a predicate is that of its cells among all cells of the dimension, times the share of
    clauses that ask for the attribute: of two equalities the one on the rarer attribute goes first.
    """
    if statistics.sampled:
        return units.share
    rank = np.empty(len(units.share))
    ranges = units.dimension, units.lo, units.hi, units.set_count
    rank_conditions(clauses.literal, units.of_literal, *ranges, clauses.cells, units.share, rank)
    return rank
