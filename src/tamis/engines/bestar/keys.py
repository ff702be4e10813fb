"""Find the conditions that may partition, their gains, and the capacity of an l-node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.units import Ints, Units, joined_dimensions

CAPACITY = ((0.01, 5), (0.1, 20), (1.0, 160))
"""Table II(a) of the paper: match probabilities, and the number of expressions in an l-node up to each."""
_UNIT = 1 << 16  # gains are whole numbers, so that sums can be undone exactly


class Keys(NamedTuple):
    """The conditions that may partition: those that need a present dimension, as hulls of cells."""

    start: Ints  # clause c owns start[c]:start[c + 1]
    clause: Ints
    dimension: Ints
    lo: Ints
    hi: Ints
    gain: Ints
    unit: Ints  # the condition's number among all conditions


def keys_of(units: Units, selectivity: bool) -> Keys:
    """Return the conditions that may partition, with gains.

    The gain of a condition is the share of events that it keeps away, plus a bit. By popularity alone (the
    paper's optimistic ranking, loss = 0) every condition gains the same.
    """
    chosen = np.flatnonzero(units.usable)
    clause = np.repeat(np.arange(len(units.start) - 1), np.diff(units.start))[chosen]
    start = np.zeros(len(units.start), np.int64)
    np.cumsum(np.bincount(clause, minlength=len(start) - 1), out=start[1:])
    spared = 1.0 - np.clip(units.share[chosen], 0.0, 1.0) if selectivity else np.ones(len(chosen))
    gain = (spared * _UNIT).astype(np.int64) + 1
    return Keys(start, clause, units.dimension[chosen], units.lo[chosen], units.hi[chosen], gain, chosen)


def match_probability(units: Units) -> float:
    """Return the share of clauses that an event is expected to match if conditions are independent."""
    logs = np.zeros(len(units.share) + 1)
    np.cumsum(np.log(np.clip(units.share, 1e-300, 1.0)), out=logs[1:])
    return float(np.mean(np.exp(logs[units.start[1:]] - logs[units.start[:-1]])))


def capacity_for(probability: float) -> int:
    """Return the number of clauses that an l-node may hold before it is partitioned."""
    return next((size for limit, size in CAPACITY if probability < limit), CAPACITY[-1][1])


def hull_of(units: Units, dimensions: int) -> npt.NDArray[np.uint8]:
    """Return 1 for dimensions with joined conditions, which several values of an event may meet together."""
    return joined_dimensions(units, np.arange(len(units.joined)), dimensions).astype(np.uint8)
