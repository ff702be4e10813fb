"""Which predicates prune best: section 3.3 of the paper.

With historical events the predicate that fewer of them match is the more selective one. Without, the
operator decides, {=} > {∈} > {in} > {<, ≤, >, ≥} > {∉} > {≠}, and among equal operators the width.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.index.hybrid.layout.units import Ints, Units
from tamis.index.statistics import Statistics
from tamis.space.clauses import NEGATIVE, Clauses

EQUAL, SET, BETWEEN, ONE_SIDED, NOT_SET, NOT_EQUAL = range(6)

Floats = npt.NDArray[np.float64]
_BELOW_ONE = np.nextafter(1.0, 0.0)


def ranking(clauses: Clauses, units: Units, statistics: Statistics) -> Floats:
    """A number for each condition, the smaller the more selective it is taken to be.

    The width of a predicate is that of its cells among all cells of the dimension, times the share of
    clauses that ask for the attribute: of two equalities the one on the rarer attribute goes first.
    """
    if statistics.sampled:
        return units.share
    return operators(clauses, units) + np.minimum(units.share, _BELOW_ONE)


def operators(clauses: Clauses, units: Units) -> Ints:
    """The operator of each condition, read off its cells."""
    positive, many = np.zeros((2, len(units.share)), np.bool_)
    negative = (clauses.literal[:, 1] & NEGATIVE) != 0
    positive[units.of_literal[~negative]] = True
    many[units.of_literal[negative & (clauses.literal[:, 1] > NEGATIVE)]] = True
    # The first and last cells that predicates reach on a dimension: a range up to there is open-ended.
    ranges = np.flatnonzero(positive)
    least = np.full(clauses.dimensions, np.iinfo(np.int64).max)
    most = np.zeros(clauses.dimensions, np.int64)
    np.minimum.at(least, units.dimension[ranges], units.lo[ranges])
    np.maximum.at(most, units.dimension[ranges], units.hi[ranges])
    open_ended = (units.lo == least[units.dimension]) | (units.hi == most[units.dimension])
    found = np.where(open_ended, ONE_SIDED, BETWEEN)
    found[units.set_count > 0] = SET
    found[units.lo == units.hi] = EQUAL
    return np.where(positive, found, np.where(many, NOT_SET, NOT_EQUAL))
