"""Postings of ``kindex``: a list for every cell, divided by the size of the clauses.

Clauses are numbered by their size (how many attributes they need), so within a list, sorted by clause,
those of one size stand together and a bound on the clause number cuts off all that are too large.
Lists of a dimension stand at ``base[dimension] + cell``; the list of cell 0 is led to by every value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.kindex._kernels import DENIED, post_clauses
from tamis.engines.units import reorder
from tamis.space.space import ABSENT_OK, MANY, NEGATIVE, Clauses

Ints = npt.NDArray[np.int64]
Arrays = dict[str, npt.NDArray[Any]]
LARGEST_SIZE = DENIED - 1


def build(clauses: Clauses, most_cells: int, budget: int) -> tuple[Clauses, Arrays]:
    """Clauses by size, and the lists."""
    size = np.minimum(sizes(clauses), LARGEST_SIZE)
    order = np.argsort(size, kind="stable")
    clauses = reorder(clauses, order)
    width = widths(clauses)
    narrow = width <= _widest(width, most_cells, budget)
    target, doubtful = _targets(clauses, narrow)
    base = np.cumsum(clauses.cells.astype(np.int64) + 1) - (clauses.cells.astype(np.int64) + 1)
    asked_start, asked, denied_start, denied = _lists(clauses, narrow, base)
    return clauses, {
        "size_start": np.searchsorted(size[order], np.arange(size.max(initial=0) + 2)).astype(np.uint32),
        "base": base,
        "target": target,
        "doubtful": doubtful,
        "asked_start": asked_start,
        "asked": asked,
        "denied_start": denied_start,
        "denied": denied,
    }


def sizes(clauses: Clauses) -> Ints:
    """Return how many attributes an event must have: those of literals that absence does not satisfy."""
    clause = np.repeat(np.arange(clauses.count), np.diff(clauses.start))
    asking = (clauses.literal[:, 1] & ABSENT_OK) == 0
    clause, dimension = clause[asking], clauses.literal[asking, 0].astype(np.int64)
    fresh = np.ones(len(clause), np.bool_)
    fresh[1:] = (np.diff(clause) != 0) | (np.diff(dimension) != 0)
    return np.bincount(clause[fresh], minlength=clauses.count)


def widths(clauses: Clauses) -> Ints:
    """Return how many cells each literal names."""
    lo, hi = clauses.literal[:, 2].astype(np.int64), clauses.literal[:, 3].astype(np.int64)
    total = np.concatenate([[0], np.cumsum(clauses.set_hi.astype(np.int64) - clauses.set_lo + 1)])
    many = (clauses.literal[:, 1] & MANY) != 0
    width = hi - lo + 1
    width[many] = total[lo[many] + hi[many]] - total[lo[many]]
    return width


def _widest(width: Ints, most_cells: int, budget: int) -> int:
    """Return the widest literal that is enumerated, so narrow that all postings stay within the budget."""
    while most_cells > 1 and int(np.where(width <= most_cells, width, 1).sum()) > budget:
        most_cells //= 2
    return most_cells


def _targets(clauses: Clauses, narrow: npt.NDArray[np.bool_]) -> tuple[Any, Any]:
    """Postings that a plain event must meet, and whether the literals must be checked all the same."""
    flags = clauses.literal[:, 1]
    clause = np.repeat(np.arange(clauses.count), np.diff(clauses.start))
    asking = (flags & ABSENT_OK) == 0
    count = np.bincount(clause[asking], minlength=clauses.count)
    open_ = ~narrow | ((flags & (ABSENT_OK | NEGATIVE)) == ABSENT_OK)
    doubtful = (np.bincount(clause[open_], minlength=clauses.count) > 0) | (count == 0)
    # A clause with absurdly many literals is checked once it has met as many as can be counted.
    return np.minimum(count, LARGEST_SIZE).astype(np.uint16), (doubtful | (count > LARGEST_SIZE)).astype(
        np.uint8
    )


def _lists(clauses: Clauses, narrow: npt.NDArray[np.bool_], base: Ints) -> tuple[Any, Any, Any, Any]:
    lists = int((clauses.cells.astype(np.int64) + 1).sum())
    asked, denied = np.zeros(lists, np.int64), np.zeros(lists, np.int64)
    none = np.empty(0, np.uint32)
    literal = clauses.literal.reshape(-1)
    fixed = clauses.start, literal, clauses.set_lo, clauses.set_hi, narrow, base
    post_clauses(*fixed, False, asked, none, denied, none)
    asked_start, denied_start = _starts(asked), _starts(denied)
    asked_out, denied_out = np.empty(asked_start[-1], np.uint32), np.empty(denied_start[-1], np.uint32)
    post_clauses(*fixed, True, asked_start[:-1].copy(), asked_out, denied_start[:-1].copy(), denied_out)
    return asked_start.astype(np.uint32), asked_out, denied_start.astype(np.uint32), denied_out


def _starts(count: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(count)])
