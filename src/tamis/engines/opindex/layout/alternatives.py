"""Choose the pivots of conjunctions of disjunctions, and assign a bit to each disjunction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.opindex.layout._kernels import assign_bits
from tamis.engines.opindex.layout.predicates import HALVES, Predicates
from tamis.engines.opindex.structures._kernels import BITMAP, LE
from tamis.engines.opindex.structures.structure import Flags, Ints, Items
from tamis.engines.units import Floats
from tamis.space.space import GROUP, Clauses


class Alternatives(NamedTuple):
    """Level 1 for clauses with groups: each stands in the lists of all attributes of its smallest group.

    ``pivot`` and ``clause`` are those memberships in the order of pivots. The other arrays are per clause.
    ``items`` are the predicates of all members. A pointer is the place of a bitmap in its pivot's array, and
    a bit.
    """

    posted: Flags
    undecided: Flags
    demand: npt.NDArray[np.uint64]
    chosen: npt.NDArray[np.uint8]  # the group whose attributes are the pivots
    pivot: Ints
    clause: Ints
    items: Items


def alternatives_of(
    clauses: Clauses, start: Ints, grouped: Flags, predicates: Predicates, often: Floats
) -> Alternatives:
    """Choose pivots and assign bits; clauses without a countable group remain unposted."""
    literals, count = len(clauses.literal), clauses.count
    dimension, group = (
        clauses.literal[:, 0].astype(np.int64),
        (clauses.literal[:, 1] >> GROUP).astype(np.uint8),
    )
    bit = np.full((2, literals), -1, np.int64)
    demand, chosen = np.zeros(count, np.uint64), np.zeros(count, np.uint8)
    undecided = np.zeros(count, np.bool_)
    assign_bits(
        np.flatnonzero(grouped), start, group, dimension, predicates.needed, predicates.exact, often, bit,
        demand, chosen, undecided,
    )  # fmt: skip
    owner = np.repeat(np.arange(count), np.diff(start))
    pivot, clause = _members(dimension, owner, (group > 0) & (group == chosen[owner]))
    return Alternatives(
        chosen > 0, undecided, demand, chosen, pivot, clause,
        _items(predicates, owner, bit, pivot, clause, count, clauses.dimensions),
    )  # fmt: skip


def _members(dimension: Ints, owner: Ints, pivotal: Flags) -> tuple[Ints, Ints]:
    """Return each pivot of each clause once, in the order of pivots. Literals are sorted by dimension."""
    pivot, clause = dimension[pivotal], owner[pivotal]
    fresh = np.ones(len(pivot), np.bool_)
    fresh[1:] = (np.diff(pivot) != 0) | (np.diff(clause) != 0)
    order = np.argsort(pivot[fresh], kind="stable")
    return pivot[fresh][order], clause[fresh][order]


def _items(
    predicates: Predicates, owner: Ints, bit: Ints, pivot: Ints, clause: Ints, count: int, dimensions: int
) -> Items:
    """Return the predicates that have a bit, once for every list that contains their clause."""
    upper = (predicates.operator == LE) & (predicates.needed[predicates.literal] == HALVES)
    own = bit[upper.astype(np.int64), predicates.literal]
    used = np.flatnonzero(own >= 0)
    lists = np.bincount(clause, minlength=count)
    by_clause = np.argsort(clause, kind="stable")
    first = np.cumsum(lists) - lists
    asking = owner[predicates.literal[used]]
    copies = lists[asking]
    skipped = first[asking] - (np.cumsum(copies) - copies)
    member = by_clause[np.repeat(skipped, copies) + np.arange(copies.sum())]
    source = np.repeat(used, copies)
    place = member - np.searchsorted(pivot, np.arange(dimensions + 1))[pivot[member]]
    operand = predicates.operand[source]
    return Items(
        pivot[member],
        predicates.dimension[source],
        predicates.operator[source],
        operand,
        operand,
        place * BITMAP + own[source],
    )
