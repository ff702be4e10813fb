"""Postings in leaves: the subscription lists that hang from the leaves of the PS-Trees.

A predicate that covers a handful of leaves is posted in each of them. One that covers more is posted in
blocks of neighbouring leaves, so that no clause has more than a few postings whatever its width; the
levels of blocks are those of ``index.postings``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout.lists import HEAD, Levels, Pairs
from tamis.engines.units import Ints, Statistics, Units, units_of
from tamis.space.space import Clauses


class Leaves(NamedTuple):
    """The lists of all leaves (``start``), the clauses in them (``owner``), and how to find a list."""

    start: Ints
    owner: Ints
    heads: npt.NDArray[np.uint32]
    levels: npt.NDArray[np.uint32]
    most: int  # levels of a dimension


def conditions(clauses: Clauses, statistics: Statistics) -> Units:
    """Return the conditions of all clauses, also if there is none."""
    if len(clauses.literal):
        return units_of(clauses, statistics)
    none, no = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    start = np.zeros(clauses.count + 1, np.int64)
    sets = np.zeros(0, np.int32)
    return Units(start, np.zeros(0, np.uint32), none, none, none, no, no, sets, sets, np.zeros(0))


def post_in_leaves(
    clauses: Clauses, units: Units, access: Ints, rounding: Ints, most_blocks: int, crowd: int
) -> Leaves:
    """Post every clause under its condition ``access`` (NONE: not at all).

    ``rounding`` is a byte per dimension for the engine's own use, kept with the heads.
    """
    if not (access >= 0).any():
        heads = np.zeros((clauses.dimensions, HEAD), np.uint32)
        heads[:, 0] = rounding << 8
        nothing = np.zeros(0, np.int64)
        return Leaves(np.zeros(1, np.int64), nothing, heads, np.zeros((0, 2), np.uint32), 0)
    unpaired = Pairs(np.zeros(clauses.count, np.bool_), np.full(clauses.dimensions, -1), 0, 0)
    levels = Levels(clauses, units, access, access, unpaired, most_blocks, crowd)
    return Leaves(*levels.sorted(), levels.heads(rounding), levels.levels(), levels.most())


def joined_dimensions(clauses: Clauses, units: Units, used: Ints) -> npt.NDArray[np.uint32]:
    """1 for dimensions where a condition of ``used`` joins several literals: see ``Units.joined``."""
    used = used[used >= 0]
    hull = np.zeros(clauses.dimensions, np.uint32)
    hull[units.dimension[used[units.joined[used]]]] = 1
    return hull
