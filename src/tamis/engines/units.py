"""Conditions (the literals of a clause on one dimension, taken together), and clauses in another order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.rows import runs
from tamis.engines._kernels import group_literals, take_literals
from tamis.engines.statistics import Statistics
from tamis.space.clauses import Clauses

Ints = npt.NDArray[np.int64]


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
