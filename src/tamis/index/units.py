"""Conditions: the literals of a clause on one dimension, taken together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.index.statistics import Statistics
from tamis.space.clauses import ABSENT_OK, MANY, NEGATIVE, Clauses, hulls

Ints = npt.NDArray[np.int64]


class Units(NamedTuple):
    """Conditions of all clauses; clause ``c`` owns ``start[c]:start[c + 1]``.

    For a plain event, ``price >= 100`` and ``price <= 200`` are one range, far less likely than
    either. ``joined`` marks such conditions: a multi-valued event may meet them with two values.
    """

    start: Ints
    of_literal: Ints
    dimension: Ints
    lo: Ints
    hi: Ints
    usable: npt.NDArray[np.bool_]
    joined: npt.NDArray[np.bool_]
    set_at: Ints
    set_count: Ints
    share: npt.NDArray[np.float64]


def units_of(clauses: Clauses, statistics: Statistics) -> Units:
    """Group the literals (sorted by dimension within their clause) into conditions."""
    lo, hi = hulls(clauses)
    dimension, flags = clauses.literal[:, 0].astype(np.int64), clauses.literal[:, 1]
    usable = (flags & ABSENT_OK) == 0
    # A literal that absence satisfies says nothing about present cells that is worth joining.
    lo, hi = np.where(usable, lo, 1), np.where(usable, hi, clauses.cells[dimension])
    clause = np.repeat(np.arange(clauses.count), np.diff(clauses.start))
    fresh = np.ones(len(dimension), np.bool_)
    fresh[1:] = (np.diff(dimension) != 0) | (np.diff(clause) != 0)
    first = np.flatnonzero(fresh)
    size = np.diff(np.append(first, len(dimension)))
    top, bottom = np.maximum.reduceat(lo, first), np.minimum.reduceat(hi, first)
    clash = top > bottom  # only a multi-valued event can satisfy these; its first literal must do
    top, bottom = np.where(clash, lo[first], top), np.where(clash, hi[first], bottom)
    many = ((flags & (MANY | NEGATIVE)) == MANY)[first] & (size == 1)
    start = np.zeros(clauses.count + 1, np.int64)
    np.cumsum(np.bincount(clause[first], minlength=clauses.count), out=start[1:])
    units = Units(
        start,
        np.cumsum(fresh) - 1,
        dimension[first],
        top,
        bottom,
        np.logical_or.reduceat(usable, first),
        (size > 1) & ~clash,
        np.where(many, clauses.literal[first, 2], 0).astype(np.int64),
        np.where(many, clauses.literal[first, 3], 0).astype(np.int64),
        statistics.share(dimension[first], top, bottom),
    )
    _share_sets(units, clauses, statistics)
    return units


def _share_sets(units: Units, clauses: Clauses, statistics: Statistics) -> None:
    """The share of a set is the sum over its ranges, not that of its hull."""
    many = np.flatnonzero(units.set_count)
    if not len(many):
        return
    count = units.set_count[many]
    first = np.cumsum(count) - count
    place = np.repeat(units.set_at[many] - first, count) + np.arange(count.sum())
    ranges = statistics.share(
        np.repeat(units.dimension[many], count),
        clauses.set_lo[place].astype(np.int64),
        clauses.set_hi[place].astype(np.int64),
    )
    units.share[many] = np.add.reduceat(ranges, first)
