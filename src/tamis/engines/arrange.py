"""Arranging clauses: literals in the order they should be checked, clauses in a chosen order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.columns.rows import runs
from tamis.engines._kernels import take_literals
from tamis.space.clauses import Clauses

Ints = npt.NDArray[np.int64]


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
