"""Choose the predicate spaces of ``psthash``, and the access predicates of every clause."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.psthash.layout._kernels import choose_access, measure_spread
from tamis.engines.units import Ints, Units
from tamis.space.space import Clauses

MEAN_SPACES = (16.0, 8.0, 4.0, 3.0, 2.0)  # of the access predicates of a dimension, finest spaces first
POSTINGS = 8.0  # per clause: finer spaces spare candidates, but cost postings


class Spaces(NamedTuple):
    """Per dimension how many leaves, as a power of two, form a space, and the ID of its first space."""

    grain: Ints
    base: Ints  # -1: no access predicate is on this dimension
    number: int


class Access(NamedTuple):
    """The access predicates (N rows) of each clause, by dimension, and their combinations of spaces."""

    chosen: Ints
    combinations: Ints


def choose(
    clauses: Clauses, units: Units, rank: npt.NDArray[np.float64], access: int, most: int
) -> tuple[Access, Spaces]:
    """Return the N best predicates of every clause and the spaces of their dimensions.

    The spaces are the finest at which a clause has at most ``POSTINGS`` combinations on average. A clause
    that exceeds ``most`` counts as one of ``most``.
    """
    sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
    ranges = units.start, rank, units.usable, units.dimension, units.lo, units.hi, *sets
    chosen = np.full((access, clauses.count), -1)
    combinations = np.zeros(clauses.count, np.int64)
    whole = np.full(clauses.dimensions, 62)
    choose_access(*ranges, whole, most, chosen, combinations)
    able = np.count_nonzero(chosen[0] >= 0)
    spread = _spread(clauses, units, chosen[chosen >= 0], most)
    for mean in MEAN_SPACES:
        grain = _grain(spread, mean)
        choose_access(*ranges, grain, most, chosen, combinations)
        over = able - np.count_nonzero(chosen[0] >= 0)
        if combinations.sum() + most * over <= POSTINGS * able:
            break
    _sort_by_dimension(units, chosen)
    used = np.zeros(clauses.dimensions, np.bool_)
    used[units.dimension[chosen[chosen >= 0]]] = True
    size = np.where(used, (clauses.cells.astype(np.int64) >> grain) + 1, 0)
    base = np.where(used, np.cumsum(size) - size, -1)
    return Access(chosen, combinations), Spaces(grain, base, int(size.sum()))


def _sort_by_dimension(units: Units, chosen: Ints) -> None:
    """Sort the access predicates of every clause in the order in which an event has its dimensions."""
    if len(units.dimension):
        order = np.argsort(units.dimension[chosen], axis=0, kind="stable")
        chosen[:] = np.take_along_axis(chosen, order, axis=0)


class _Spread(NamedTuple):
    """Access predicates of a dimension: at each grain those within the cap and their spaces, and all."""

    within: Ints
    blocks: Ints
    total: Ints
    coarsest: Ints


def _spread(clauses: Clauses, units: Units, chosen: Ints, most: int) -> _Spread:
    coarsest = np.ceil(np.log2(clauses.cells.astype(np.int64) + 1)).astype(np.int64)
    shape = clauses.dimensions, int(coarsest.max(initial=0)) + 1
    within, blocks = np.zeros((2, *shape), np.int64)
    sets = units.set_at, units.set_count, clauses.set_lo, clauses.set_hi
    measure_spread(chosen, units.dimension, units.lo, units.hi, *sets, coarsest, most, within, blocks)
    total = np.bincount(units.dimension[chosen], minlength=clauses.dimensions)
    return _Spread(within, blocks, total, coarsest)


def _grain(spread: _Spread, mean: float) -> Ints:
    """Return the finest grain at which most access predicates of a dimension have ``mean`` spaces on average.

    The few that are far wider than the others do not count: they find another access predicate, or are posted
    under one alone.
    """
    fine = (2 * spread.within >= spread.total[:, None]) & (spread.blocks <= mean * spread.within)
    fine[np.arange(len(fine)), spread.coarsest] = True
    return np.asarray(np.argmax(fine, axis=1), np.int64)
