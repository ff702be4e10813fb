"""Rewrite the literals of all clauses as predicates with three operators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.engines.opindex.structures._kernels import EQ, GE, LE
from tamis.engines.opindex.structures.structure import Flags, Ints
from tamis.space.space import ABSENT_OK, GROUP, MANY, NEGATIVE, Clauses, hulls

MOST_COUNTED = 255
"""A counter is one byte. Predicates of a clause beyond this number are not posted but checked at the end."""


HALVES = 2
"""The predicates of a proper range: ``>=`` its first cell and ``<=`` its last."""


MOST_EXCLUDED = 4
"""Ranges of a ∉ that are counted one by one. Beyond it, presence is counted and the clause checked."""


class Predicates(NamedTuple):
    """The dimension, operator and operand of each predicate, and the literal it comes from.

    A set of single cells becomes an ``=`` for each; a plain event meets at most one of them. A proper range
    becomes ``>=`` and ``<=``. A range that is excluded becomes the ``<=`` below it, the ``>=`` above it, and
    an ``=`` for the cell of other types; a plain event meets at most one of these too.
    """

    literal: Ints
    dimension: Ints
    operator: Ints
    operand: Ints
    needed: Ints  # per literal: the number of its predicates that a satisfying plain event meets
    exact: Flags  # per literal: whether meeting them is also enough
    top: Ints  # per dimension: the last cell that a ``>=`` reaches


def predicates_of(clauses: Clauses) -> Predicates:
    """Rewrite all literals; those that absence satisfies get no predicate."""
    lo, hi = hulls(clauses)
    flags, dimension = clauses.literal[:, 1], clauses.literal[:, 0].astype(np.int64)
    posted, negative = (flags & ABSENT_OK) == 0, (flags & NEGATIVE) != 0
    sets = posted & ~negative & ((flags & MANY) != 0)
    spelled = _of_single_cells(clauses, sets)
    excluding = _excluding(clauses, posted & negative)
    top = _tops(clauses, dimension, hi, posted & ~negative)
    single = posted & ~spelled & (lo == hi) & ~negative
    # A literal that may hold for any present cell (a long ∉) becomes a ``<=`` with the greatest operand.
    rest = posted & ~spelled & ~single & ~excluding
    upper, lower = rest & ((lo == 1) | (hi < top[dimension])), rest & (lo > 1)
    points, owner = _points(clauses, spelled)
    around = _around(clauses, excluding, top)
    ranged = np.flatnonzero(upper), np.flatnonzero(lower)
    literal = np.concatenate([np.flatnonzero(single), owner, *ranged, around.literal])
    sizes = [len(literal) - len(around.literal) - sum(map(len, ranged)), *map(len, ranged)]
    operand = np.concatenate([lo[single], points, hi[upper], lo[lower]])
    return Predicates(
        literal,
        dimension[literal],
        np.append(np.repeat([EQ, LE, GE], sizes), around.operator),
        np.append(operand, around.operand),
        (single | spelled).astype(np.int64) + upper + lower + _excluded(clauses, excluding),
        posted & ((~negative & (~sets | spelled)) | excluding),
        top,
    )


class _Around(NamedTuple):
    """The predicates around excluded ranges."""

    literal: Ints
    operator: Ints
    operand: Ints


def _excluding(clauses: Clauses, negative: Flags) -> Flags:
    """Return the negative literals whose ranges are counted: ≠, one range, or a short set outside groups.

    A literal of a group has one bit, which a set would clear at the first range that does not hold the value.
    """
    flags = clauses.literal[:, 1]
    short = (clauses.literal[:, 3] <= MOST_EXCLUDED) & (flags >> GROUP == 0)
    return np.asarray(negative & ((flags & MANY == 0) | short))


def _excluded(clauses: Clauses, excluding: Flags) -> Ints:
    """Return the number of ranges that each literal excludes."""
    many = clauses.literal[:, 1] & MANY != 0
    return np.asarray(np.where(excluding, np.where(many, clauses.literal[:, 3].astype(np.int64), 1), 0))


def _around(clauses: Clauses, excluding: Flags, top: Ints) -> _Around:
    """Return the predicates below and above each excluded range, and for the cell of other types."""
    literal = np.repeat(np.arange(len(excluding)), _excluded(clauses, excluding))
    lo, hi = (clauses.literal[literal, column].astype(np.int64) for column in (2, 3))
    many = np.flatnonzero(clauses.literal[literal, 1] & MANY)
    first = np.searchsorted(literal, literal[many])
    place = lo[many] + many - first
    lo[many], hi[many] = clauses.set_lo[place], clauses.set_hi[place]
    dimension = clauses.literal[literal, 0].astype(np.int64)
    cells, top = clauses.cells.astype(np.int64)[dimension], top[dimension]
    below, above = np.flatnonzero(lo > 1), np.flatnonzero(hi < top)
    other = np.flatnonzero((top < cells) & (hi < cells))
    chosen = np.concatenate([below, above, other])
    operator = np.repeat([LE, GE, EQ], [len(below), len(above), len(other)])
    return _Around(literal[chosen], operator, np.concatenate([lo[below] - 1, hi[above] + 1, cells[other]]))


def _of_single_cells(clauses: Clauses, sets: Flags) -> Flags:
    """Return the sets that hold single cells only."""
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
    """Return the last cell of ``>=``: the dimension's last, or the one before if that is for other types."""
    top = np.zeros(clauses.dimensions, np.int64)
    np.maximum.at(top, dimension[ranges], hi[ranges])
    cells = clauses.cells.astype(np.int64)
    return np.where(top == cells - 1, top, cells)


def countable(predicates: Predicates, start: Ints) -> Predicates:
    """Drop the predicates of literals that come after a clause has ``MOST_COUNTED`` to count."""
    before = np.concatenate([[0], np.cumsum(predicates.needed)])
    clause = np.repeat(np.arange(len(start) - 1), np.diff(start))
    kept = before[1:] - before[start[clause]] <= MOST_COUNTED
    if kept.all():
        return predicates
    chosen = kept[predicates.literal]
    literal, dimension, operator, operand = (column[chosen] for column in predicates[:4])
    needed = np.where(kept, predicates.needed, 0)
    return Predicates(literal, dimension, operator, operand, needed, predicates.exact & kept, predicates.top)


def proper_ranges(clauses: Clauses, predicates: Predicates) -> Ints:
    """Return the literals outside groups that are one range and counted as ``>=`` and ``<=``."""
    flags = clauses.literal[:, 1]
    one = (flags & (NEGATIVE | MANY) == 0) & (flags >> GROUP == 0)
    return np.flatnonzero(one & (predicates.needed == HALVES))


def without_halves(predicates: Predicates, ranges: Ints) -> Predicates:
    """Drop both halves of the literals ``ranges``; another structure counts each of these ranges once."""
    whole = np.zeros(len(predicates.needed), np.bool_)
    whole[ranges] = True
    chosen = ~whole[predicates.literal]
    literal, dimension, operator, operand = (column[chosen] for column in predicates[:4])
    needed = np.where(whole, 1, predicates.needed)
    return Predicates(literal, dimension, operator, operand, needed, predicates.exact, predicates.top)
