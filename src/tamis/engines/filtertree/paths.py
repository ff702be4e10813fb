"""Clauses as paths: their conditions on the tree's names, in the order of the names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.filtertree._kernels import write_paths
from tamis.engines.units import Units
from tamis.space.space import MANY, Clauses

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Paths(NamedTuple):
    """Path ``p`` of clause ``clause[p]`` has the steps ``start[p]:start[p + 1]``."""

    clause: Ints
    start: Ints
    dimension: Ints
    lo: Ints
    hi: Ints
    decides: Flags  # per clause: whoever walks a whole path satisfies it, if no attribute has two values


def ranks(units: Units, dimensions: int) -> Ints:
    """Return the order of the names, the most frequent first: it makes the tree branch late."""
    asked = np.bincount(units.dimension[units.usable], minlength=dimensions)
    rank = np.empty(dimensions, np.int64)
    rank[np.argsort(-asked, kind="stable")] = np.arange(dimensions)
    return rank


def paths_of(clauses: Clauses, units: Units, rank: Ints, names: int, most_values: int) -> Paths:
    """Return the paths of all clauses over the first ``names`` names; a set of few ranges makes a path for
    each."""
    split = np.zeros(len(units.dimension), np.bool_)
    given = (
        units.start, units.usable, units.dimension, units.lo, units.hi, units.set_at, units.set_count,
        clauses.set_lo, clauses.set_hi, rank, names, most_values,
    )  # fmt: skip
    none = np.empty(0, np.int64)
    count, steps = write_paths(*given, none, none, none, none, none, split)
    clause, start = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    dimension, lo, hi = np.empty((3, steps), np.int64)
    write_paths(*given, clause, start, dimension, lo, hi, split)
    return Paths(clause, start, dimension, lo, hi, _decided(clauses, units, rank, names, split))


def _decided(clauses: Clauses, units: Units, rank: Ints, names: int, split: Flags) -> Flags:
    """Clauses whose conditions are all steps, and exact: proper ranges, or sets that were split."""
    proper = np.ones(len(units.dimension), np.bool_)
    flags = clauses.literal[:, 1]
    proper[units.of_literal[(flags != 0) & (flags != MANY)]] = False
    size = np.bincount(units.of_literal, minlength=len(proper))
    clash = (size > 1) & ~units.joined
    exact = units.usable & proper & ~clash & (rank[units.dimension] < names)
    sets = np.zeros(len(exact), np.bool_)
    sets[units.of_literal[flags == MANY]] = True
    exact &= ~sets | split
    owner = np.repeat(np.arange(clauses.count), np.diff(units.start))
    return np.asarray(np.bincount(owner[~exact], minlength=clauses.count) == 0)
