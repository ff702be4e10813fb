"""Compute upper bounds on the scores of a segment's subscriptions, by which top-k prunes.

A conjunction scores at most the sum of its positive predicates, for ``sum`` and for every function that does
not exceed it. A disjunction scores at most the sum of all its branches. So the positive weights of all
predicates of a tree, times the greatest event weight, bound the score of any tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import IS_NULL, STRUCTURAL
from tamis.columns.rows import Columns
from tamis.engines.protocol import Weights
from tamis.segment import Segment

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SLACK = 2.0**-30  # far more than the rounding of any sum; closer scores are computed
_LARGEST = 1e290  # above it, sums may overflow, and nothing is pruned


class Ceilings(NamedTuple):
    """The greatest score of each subscription: ``total``, or ``r * weight + priority``; see Weights."""

    total: Floats
    weight: Floats
    priority: Floats

    def above(self, ordinals: Ints, greatest: float) -> Floats:
        """Return the bounds of some subscriptions for event weights of at most ``greatest``."""
        if greatest == 1.0:
            return self.total[ordinals]
        return np.asarray(greatest * self.weight[ordinals] + self.priority[ordinals])


def ceilings_of(segment: Segment) -> Ceilings | None:
    """Return the bounds of all subscriptions; ``None`` if scores may overflow."""
    whole, priority = _summed(segment, _positive(segment.columns)), segment.arena["priority"]
    if not len(priority):
        priority = np.zeros(segment.count)
    size = whole + np.abs(priority)
    if not np.all(size < _LARGEST):
        return None
    return Ceilings(_up(whole + priority, size), _up(whole, whole), _up(priority, priority))


def weights_of(segment: Segment, ceilings: Ceilings) -> Weights:
    """Return the bounds of all clauses, by attribute if possible."""
    weight = _positive(segment.columns)
    needed = _needed(segment)
    rest = _summed(segment, np.where(needed, 0.0, weight))
    total, whole, priority = (_of_clauses(segment, part) for part in ceilings)
    shared = np.diff(segment.owner_start.astype(np.int64)) > 1
    chosen = segment.owner[segment.owner_start[:-1]].astype(np.int64)
    clause_rest = np.where(shared, whole, _up(rest, rest)[chosen])
    start, attribute, share = _parts(segment.columns, needed, weight, chosen, shared)
    return Weights(total, whole, priority, clause_rest, start, attribute, share)


def _positive(columns: Columns) -> Floats:
    """Return the positive weights of predicates, and 0 for all other rows."""
    weight = columns.weight if len(columns.weight) else np.ones(len(columns.op))
    return np.where(columns.op < STRUCTURAL, np.maximum(weight, 0.0), 0.0)


def _summed(segment: Segment, value: Any) -> Floats:
    """Return the sum of a value over the rows of each subscription."""
    return np.asarray(np.bincount(_row_owner(segment), value, segment.count), np.float64)


def _row_owner(segment: Segment) -> Ints:
    start = segment.columns.row_start.astype(np.int64)
    return np.repeat(np.arange(segment.count), start[1:] - start[:-1])


def _needed(segment: Segment) -> npt.NDArray[np.bool_]:
    """Return the predicates of plain conjunctions whose attribute a matching event must have."""
    op = segment.columns.op
    structural = _summed(segment, op >= STRUCTURAL) > 0
    return np.asarray(~structural[_row_owner(segment)] & (op != IS_NULL))


def _of_clauses(segment: Segment, value: Floats) -> Floats:
    """Return the greatest value among the owners of each clause."""
    if not len(segment.revise):
        return np.zeros(0)
    return np.asarray(np.maximum.reduceat(value[segment.owner], segment.owner_start[:-1].astype(np.int64)))


def _parts(
    columns: Columns, needed: Any, weight: Floats, chosen: Ints, shared: npt.NDArray[np.bool_]
) -> tuple[Ints, Ints, Floats]:
    """Return the attributes and weights of the clauses with one owner: (start, attribute, share)."""
    first = columns.row_start[:-1].astype(np.int64)[chosen]
    count = np.where(shared, 0, columns.row_start[1:].astype(np.int64)[chosen] - first)
    row = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())
    clause = np.repeat(np.arange(len(chosen)), count)
    kept = needed[row]
    row, clause = row[kept], clause[kept]
    # Several predicates on one attribute of a clause count together.
    names = len(columns.names)
    code, place = np.unique(clause * names + columns.attribute[row], return_inverse=True)
    share = np.asarray(np.bincount(place, weight[row], len(code)), np.float64)
    start = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(np.bincount(code // max(names, 1), minlength=len(chosen)), out=start[1:])
    return start, code % max(names, 1), _up(share, share)


def _up(value: Floats, spread: Any) -> Floats:
    """Return ``value`` rounded up, by a share of the magnitude of the summed numbers."""
    return np.asarray(value + np.abs(spread) * _SLACK)


def greatest_weight(weights: Mapping[str, float]) -> float | None:
    """Return the greatest weight of an event, at least 1; ``None`` if the bounds do not hold.

    They do not hold if a weight is negative, or so large that sums may overflow.
    """
    if not weights:
        return 1.0
    greatest = max([1.0, *weights.values()])
    return greatest if min([1.0, *weights.values()]) >= 0 and greatest <= 1e6 else None


def weights_by_attribute(
    numbers: dict[str, int], attributes: Iterable[str], weights: Mapping[str, float]
) -> tuple[Ints, Floats]:
    """Return the attributes of an event that the book knows, by number and sorted, and their weights."""
    known = sorted([(numbers[name], weights.get(name, 1.0)) for name in attributes if name in numbers])
    attribute = np.array([number for number, _ in known], np.int64)
    return attribute, np.array([weight for _, weight in known], np.float64)
