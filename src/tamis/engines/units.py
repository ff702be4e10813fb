"""Conditions: the literals of a clause on one dimension, their likelihood, and clauses in another order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.rows import runs
from tamis.engines._kernels import group_literals, shares, take_literals
from tamis.space.located import Located
from tamis.space.space import Clauses

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Statistics:
    """Estimates the share of events whose cell on a dimension lies in a range."""

    def __init__(self, clauses: Clauses, sample: Located | None = None) -> None:
        self.cells = clauses.cells.astype(np.int64)
        self.sample = sample
        self.sampled = sample is not None and sample.count > 0
        self._base: Ints = np.zeros(0, np.int64)
        self._cumulative: Floats = np.zeros(0)
        self._events = 0
        if sample is not None and sample.count > 0:
            self._from_sample(sample)
        else:
            self._from_clauses(clauses)

    def _from_clauses(self, clauses: Clauses) -> None:
        """Without events: attributes asked for often are taken to be frequent, values to be even."""
        asked = np.bincount(clauses.literal[:, 0], minlength=len(self.cells))
        self.presence: Floats = np.asarray((asked + 1.0) / (max(clauses.count, 1) + 1.0))

    def _from_sample(self, sample: Located) -> None:
        dimension, lo = sample.dimension.astype(np.int64), sample.lo.astype(np.int64)
        self._base = np.cumsum(self.cells + 2) - (self.cells + 2)
        counts = np.bincount(self._base[dimension] + lo, minlength=int((self.cells + 2).sum()))
        # cumulative[base + c] is the number of sampled entries in cells below c. An event with several values
        # has several entries, so a wide range may count it more than once; kernels stop at its presence.
        self._cumulative = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
        self._events = sample.count
        seen = np.bincount(dimension[_firsts(sample)], minlength=len(self.cells))
        self.presence = np.asarray((seen + 0.5) / (sample.count + 1.0))

    def share(self, dimension: Ints, lo: Ints, hi: Ints) -> Floats:
        """Return the estimated share of events with a cell of ``dimension`` in ``lo``..``hi``."""
        out = np.empty(len(dimension))
        shares(dimension, lo, hi, *self.tables, out)
        return out

    @property
    def tables(self) -> tuple[Ints, Floats, Ints, Floats, int]:
        """What kernels estimate shares from: see ``share_of``."""
        return self.cells, self.presence, self._base, self._cumulative, self._events


def _firsts(sample: Located) -> npt.NDArray[np.bool_]:
    """Return the entries that are the first of their event on their dimension; those of one stand
    together."""
    event = np.repeat(np.arange(sample.count), np.diff(sample.start))
    first = np.ones(len(event), np.bool_)
    first[1:] = (event[1:] != event[:-1]) | (sample.dimension[1:] != sample.dimension[:-1])
    return first


class Units(NamedTuple):
    """Conditions of all clauses; clause ``c`` owns ``start[c]:start[c + 1]``.

    For a plain event, ``price >= 100`` and ``price <= 200`` are one range, far less likely than
    either. ``joined`` marks such conditions: a multi-valued event may meet them with two values.
    """

    start: Ints
    of_literal: npt.NDArray[np.uint32]
    dimension: Ints
    lo: Ints
    hi: Ints
    usable: npt.NDArray[np.bool_]
    joined: npt.NDArray[np.bool_]
    set_at: npt.NDArray[np.int32]
    set_count: npt.NDArray[np.int32]
    share: npt.NDArray[np.float64]


def units_of(clauses: Clauses, statistics: Statistics) -> Units:
    """Group the literals (sorted by dimension within their clause) into conditions.

    The share of a set is the sum over its ranges, not that of its hull.
    """
    most = len(clauses.literal)
    start, of_literal = np.empty(clauses.count + 1, np.int64), np.empty(most, np.uint32)
    ints = [np.empty(most, np.int64) for _ in range(3)]
    usable, joined = np.empty(most, np.bool_), np.empty(most, np.bool_)
    sets = [np.empty(most, np.int32) for _ in range(2)]
    columns: tuple[npt.NDArray[Any], ...] = *ints, usable, joined, *sets, np.empty(most)
    literals = clauses.start, clauses.literal, clauses.set_lo, clauses.set_hi
    count = group_literals(*literals, *statistics.tables, start, of_literal, *columns)
    return Units(start, of_literal, *(column[:count] for column in columns))


def arrange(clauses: Clauses, clause_order: Ints, literal_order: npt.NDArray[Any]) -> Clauses:
    """``clauses`` in ``clause_order``; ``literal_order`` lists all literals in their new order."""
    count = _lengths(clauses.start)[clause_order]
    owners = _lengths(clauses.owner_start)[clause_order]
    literal = np.empty_like(clauses.literal, shape=(len(literal_order), 4))
    take_literals(clauses.literal, literal_order, literal)
    return clauses._replace(
        start=_starts(count),
        literal=literal,
        revise=clauses.revise[clause_order],
        owner_start=_starts(owners),
        owner=clauses.owner[runs(clauses.owner_start, clause_order)[0]],
    )


def reorder(clauses: Clauses, clause_order: Ints) -> Clauses:
    """``clauses`` in ``clause_order``, the literals of each as they were."""
    return arrange(clauses, clause_order, runs(clauses.start, clause_order)[0])


def posting_order(owner: Ints, clauses: int) -> tuple[Ints, Ints]:
    """Clauses in the order of their first posting (residual ones last), and each clause's rank."""
    first = np.full(clauses, -1, np.int64)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    leads = first[owner] == np.arange(len(owner))
    order = np.concatenate([owner[leads], np.flatnonzero(first < 0)])
    rank = np.empty(clauses, np.int64)
    rank[order] = np.arange(clauses)
    return order, rank


def _lengths(start: npt.NDArray[Any]) -> Ints:
    wide = start.astype(np.int64)
    return wide[1:] - wide[:-1]


def _starts(count: Ints) -> npt.NDArray[np.uint32]:
    start = np.zeros(len(count) + 1, np.uint32)
    np.cumsum(count, out=start[1:])
    return start
