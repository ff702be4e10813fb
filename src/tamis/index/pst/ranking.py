"""Which predicates prune best: section 3.3 of the paper.

With historical events the predicate that fewer of them match is the more selective one. Without, the
operator decides, {=} > {∈} > {in} > {<, ≤, >, ≥} > {∉} > {≠}, and among equal operators the width.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.index.statistics import Statistics
from tamis.index.units import Ints, Units
from tamis.space.clauses import MANY, NEGATIVE, Clauses

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
    return np.asarray(operators(clauses, units) + np.minimum(units.share, _BELOW_ONE), np.float64)


def operators(clauses: Clauses, units: Units) -> Ints:
    """The operator of each condition, read off its cells.

    A range of one cell counts as an equality: no other predicate ends inside it. The first cell of a
    dimension lies below all operands, and the last but one above (the last is for values of other types):
    a range up to there is one-sided, and so is a Boolean, which half of all values satisfy.
    """
    positive, many = np.zeros((2, len(units.share)), np.bool_)
    negative = (clauses.literal[:, 1] & NEGATIVE) != 0
    positive[units.of_literal[~negative]] = True
    many[units.of_literal[negative & ((clauses.literal[:, 1] & MANY) != 0)]] = True
    cells = clauses.cells.astype(np.int64)[units.dimension]
    one_sided = (cells > 1) & ((units.lo == 1) | (units.hi >= cells - 1))
    found = np.where(units.lo == units.hi, EQUAL, BETWEEN)
    found[one_sided] = ONE_SIDED
    found[units.set_count > 0] = SET
    return np.where(positive, found, np.where(many, NOT_SET, NOT_EQUAL))
