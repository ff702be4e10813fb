"""Predicates: the literals of all clauses, rewritten with the three operators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space.space import ABSENT_OK, MANY, NEGATIVE, Clauses, hulls

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

EQ, LE, GE = range(3)
OPERATORS = 3
MOST_COUNTED = 255
"""A counter is one byte. Predicates of a clause beyond this are not posted, but checked at the end."""


class Predicates(NamedTuple):
    """(dimension, operator, operand) of each predicate, and the literal it comes from.

    A set of single cells becomes an ``=`` for each; a plain event meets at most one of them. A proper
    range becomes ``>=`` and ``<=``.
    """

    literal: Ints
    dimension: Ints
    operator: Ints
    operand: Ints
    needed: Ints  # per literal: how many of its predicates a plain event that satisfies it meets
    exact: Flags  # per literal: whether meeting them is also enough
    top: Ints  # per dimension: the last cell that a ``>=`` reaches


def predicates_of(clauses: Clauses) -> Predicates:
    """Rewrite all literals; those that absence satisfies have no predicate."""
    lo, hi = hulls(clauses)
    flags, dimension = clauses.literal[:, 1], clauses.literal[:, 0].astype(np.int64)
    posted, negative = (flags & ABSENT_OK) == 0, (flags & NEGATIVE) != 0
    sets = posted & ~negative & ((flags & MANY) != 0)
    spelled = _of_single_cells(clauses, sets)
    top = _tops(clauses, dimension, hi, posted & ~negative)
    single = posted & ~spelled & (lo == hi) & ~negative
    # What may hold for any present cell (!=) stands among the ``<=`` with the greatest operand.
    upper = posted & ~spelled & ~single & ((lo == 1) | (hi < top[dimension]))
    lower = posted & ~spelled & ~single & (lo > 1)
    points, owner = _points(clauses, spelled)
    literal = np.concatenate([np.flatnonzero(single), owner, np.flatnonzero(upper), np.flatnonzero(lower)])
    sizes = [int(single.sum()) + len(points), int(upper.sum()), int(lower.sum())]
    return Predicates(
        literal,
        dimension[literal],
        np.repeat(np.arange(OPERATORS), sizes),
        np.concatenate([lo[single], points, hi[upper], lo[lower]]),
        (single | spelled).astype(np.int64) + upper + lower,
        posted & ~negative & (~sets | spelled),
        top,
    )


def _of_single_cells(clauses: Clauses, sets: Flags) -> Flags:
    """Return which sets hold single cells only."""
    found = np.zeros(len(sets), np.bool_)
    if sets.any():
        wide = np.concatenate([[0], np.cumsum(clauses.set_lo != clauses.set_hi)])
        first = clauses.literal[sets, 2].astype(np.int64)
        found[sets] = wide[first + clauses.literal[sets, 3]] == wide[first]
    return found


def _points(clauses: Clauses, spelled: Flags) -> tuple[Ints, Ints]:
    """Return the cells of sets of single cells, and the literal of each."""
    literal = np.flatnonzero(spelled)
    count = clauses.literal[literal, 3].astype(np.int64)
    skipped = clauses.literal[literal, 2] - (np.cumsum(count) - count)
    place = np.repeat(skipped, count) + np.arange(count.sum())
    return clauses.set_lo[place].astype(np.int64), np.repeat(literal, count)


def _tops(clauses: Clauses, dimension: Ints, hi: Ints, ranges: Flags) -> Ints:
    """Where ``>=`` ends: at the last cell, or one before, if the last is for values of no type asked for."""
    top = np.zeros(clauses.dimensions, np.int64)
    np.maximum.at(top, dimension[ranges], hi[ranges])
    cells = clauses.cells.astype(np.int64)
    return np.where(top == cells - 1, top, cells)


def countable(predicates: Predicates, start: Ints) -> Predicates:
    """Without the predicates of literals that come after a clause has ``MOST_COUNTED`` to count."""
    before = np.concatenate([[0], np.cumsum(predicates.needed)])
    clause = np.repeat(np.arange(len(start) - 1), np.diff(start))
    kept = before[1:] - before[start[clause]] <= MOST_COUNTED
    if kept.all():
        return predicates
    chosen = kept[predicates.literal]
    literal, dimension, operator, operand = (column[chosen] for column in predicates[:4])
    needed = np.where(kept, predicates.needed, 0)
    return Predicates(literal, dimension, operator, operand, needed, predicates.exact & kept, predicates.top)
