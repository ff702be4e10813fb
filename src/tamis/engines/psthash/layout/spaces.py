"""The predicate spaces of ``psthash``, and the access predicates of every clause."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.psthash.layout._kernels import choose_access, measure_spread
from tamis.engines.units import Ints, Units
from tamis.space.space import Clauses

MEAN_SPACES = 2.0  # per access predicate: finer spaces spare candidates, but cost postings


class Spaces(NamedTuple):
    """Per dimension how many leaves, as a power of two, form a space, and the ID of its first space."""

    grain: Ints
    base: Ints  # -1: no access predicate is on this dimension
    number: int


class Access(NamedTuple):
    """The access predicates (N rows) of each clause, and how many combinations of spaces they have."""

    chosen: Ints
    combinations: Ints


def choose(
    clauses: Clauses, units: Units, rank: npt.NDArray[np.float64], access: int, most: int
) -> tuple[Access, Spaces]:
    """Return the N best predicates of every clause and the spaces of their dimensions."""
    sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
    ranges = units.dimension, units.lo, units.hi, *sets
    chosen = np.full((access, clauses.count), -1)
    combinations = np.zeros(clauses.count, np.int64)
    finest = np.zeros(clauses.dimensions, np.int64)
    anything = np.iinfo(np.int32).max
    choose_access(units.start, rank, units.usable, *ranges, finest + 62, anything, chosen, combinations)
    grain = _grain(clauses, units, chosen[chosen >= 0], most)
    choose_access(units.start, rank, units.usable, *ranges, grain, most, chosen, combinations)
    used = np.zeros(clauses.dimensions, np.bool_)
    used[units.dimension[chosen[chosen >= 0]]] = True
    size = np.where(used, (clauses.cells.astype(np.int64) >> grain) + 1, 0)
    base = np.where(used, np.cumsum(size) - size, -1)
    return Access(chosen, combinations), Spaces(grain, base, int(size.sum()))


def _grain(clauses: Clauses, units: Units, chosen: Ints, most: int) -> Ints:
    """Return the finest grain at which most access predicates of a dimension have few spaces.

    The few that are far wider than the others do not count: they find another access predicate, or are
    posted under one alone.
    """
    cells = clauses.cells.astype(np.int64)
    coarsest = np.ceil(np.log2(cells + 1)).astype(np.int64)
    shape = clauses.dimensions, int(coarsest.max(initial=0)) + 1
    within, blocks = np.zeros((2, *shape), np.int64)
    sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
    measure_spread(chosen, units.dimension, units.lo, units.hi, *sets, coarsest, most, within, blocks)
    total = np.bincount(units.dimension[chosen], minlength=clauses.dimensions)
    fine = (2 * within >= total[:, None]) & (blocks <= MEAN_SPACES * within)
    fine[np.arange(len(cells)), coarsest] = True
    return np.asarray(np.argmax(fine, axis=1), np.int64)
