"""Terms: what a condition on a dimension is looked up by.

A term is a block of cells of a dimension. A condition on one cell (every word of a text) is the term of
that cell, level 0. A range is the term of the least block that holds it: the blocks of level ``l`` are
``2^l`` cells wide and begin at every multiple of ``2^(l - 1)``, so that any range finds a block at most
four times as wide as itself, and a cell lies in two blocks of each level.

Terms are numbered by *place*: the levels in use of all dimensions, each with its blocks, end to end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.units import Statistics, Units
from tamis.space.space import Clauses

Ints = npt.NDArray[np.int64]

HEAD = 4  # number of levels, first level, base of the first level, where the levels stand


class Terms(NamedTuple):
    """The term of every condition: its place, how likely it is, and whether it decides the condition."""

    place: Ints
    share: npt.NDArray[np.float64]
    decides: npt.NDArray[np.bool_]
    heads: npt.NDArray[np.uint32]
    levels: npt.NDArray[np.uint32]
    places: int


def terms_of(clauses: Clauses, units: Units, statistics: Statistics) -> Terms:
    """Return the terms of all conditions (those of unusable ones mean nothing)."""
    cells = clauses.cells.astype(np.int64)
    level, block = cover(units.lo, units.hi)
    span = np.maximum(level.max(initial=0) + 1, 1)
    key = units.dimension * span + level
    used = np.unique(key[units.usable])
    dimension, used_level = used // span, used % span
    blocks = (cells[dimension] >> half(used_level)) + 1
    base = np.cumsum(blocks) - blocks
    at = np.minimum(np.searchsorted(used, key), max(len(used) - 1, 0))
    place = np.where(units.usable, base[at] + block, 0) if len(used) else np.zeros(len(key), np.int64)
    low, high = bounds(level, block, cells[units.dimension])
    plain = np.ones(len(key), np.bool_)
    plain[units.of_literal[clauses.literal[:, 1] != 0]] = False
    agree = np.ones(len(key), np.bool_)  # literals that exclude each other are left to evaluation
    literal_lo, literal_hi = clauses.literal[:, 2], clauses.literal[:, 3]
    inside = (literal_lo <= units.lo[units.of_literal]) & (units.hi[units.of_literal] <= literal_hi)
    agree[units.of_literal[~inside]] = False
    decides = units.usable & plain & agree & (low == units.lo) & (high == units.hi)
    levels = np.stack([used_level, base], axis=1).astype(np.uint32)
    return Terms(
        place,
        statistics.share(units.dimension, low, high),
        decides,
        _heads(dimension, levels, len(cells)),
        levels,
        int(blocks.sum()),
    )


def half(level: Any) -> Any:
    """By how much the beginnings of a level's blocks are shifted."""
    return np.maximum(level - 1, 0)


def cover(lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
    """Level and number of the least block that holds each range."""
    level = np.zeros(len(lo), np.int64)
    todo = np.flatnonzero(lo < hi)
    while len(todo):
        level[todo] += 1
        shift = half(level[todo])
        last = ((lo[todo] >> shift) << shift) + (1 << level[todo]) - 1
        todo = todo[hi[todo] > last]
    return level, lo >> half(level)


def bounds(level: Ints, block: Ints, cells: Ints) -> tuple[Ints, Ints]:
    """First and last cell of blocks, absence (cell 0) and what lies beyond the dimension left out."""
    low = block << half(level)
    return np.maximum(low, 1), np.minimum(low + (1 << level) - 1, cells)


def _heads(dimension: Ints, levels: npt.NDArray[np.uint32], dimensions: int) -> npt.NDArray[np.uint32]:
    """Per dimension its levels, with the first one spelled out: most have no other."""
    heads = np.zeros((dimensions, HEAD), np.uint32)
    heads[:, 0] = np.bincount(dimension, minlength=dimensions)
    first = np.flatnonzero(np.diff(dimension, prepend=-1))
    heads[dimension[first], 1:3] = levels[first]
    heads[dimension[first], 3] = first
    return heads
