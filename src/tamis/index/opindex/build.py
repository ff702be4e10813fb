"""Building the index: pivots, clauses in the order of their pivots, predicate lists and their segments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.index.arrange import reorder
from tamis.index.opindex._kernels import choose_pivots, sign_segments
from tamis.index.opindex.predicates import OPERATORS, Ints, Predicates, countable, predicates_of
from tamis.index.statistics import Floats, Statistics
from tamis.space.clauses import Clauses

Arrays = dict[str, npt.NDArray[Any]]


def build(
    clauses: Clauses, statistics: Statistics, optimised: int, segment_bits: int, fill: int
) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    start = clauses.start.astype(np.int64)
    predicates = countable(predicates_of(clauses), start)
    pivots = _pivots(clauses, start, predicates, statistics)
    lists = _lists(clauses, start, predicates, pivots, segment_bits if optimised else 0, fill)
    records, places, pointer_bits = _records(clauses, predicates, lists, pivots)
    signature = np.zeros(len(lists.start) - 1 if optimised else 0, np.uint64)
    if optimised:
        sign_segments(predicates.operator, predicates.dimension, predicates.operand, lists.part, signature)
    arrays: Arrays = {
        "pivot_start": pivots.start.astype(np.uint32),
        "directory_start": lists.directory.astype(np.uint32),
        "list_start": lists.start.astype(np.uint32),
        "signature": signature,
        "record": records,
        "cell_base": places.astype(np.uint64),
        "top": predicates.top.astype(np.uint32),
        "layout": np.array([pointer_bits], np.uint32),
        **_counters(start, predicates, pivots),
    }
    return reorder(clauses, pivots.order), arrays


class Pivots(NamedTuple):
    """Level 1: the pivot of each clause, and the clauses in the order of their pivots.

    A clause without a pivot has the number after the last dimension, and stands last.
    """

    of_clause: Ints
    order: Ints
    start: Ints  # per dimension, in that order; from the last on there is no pivot
    pointer: Ints  # of each clause into the counter array of its pivot


def _pivots(clauses: Clauses, start: Ints, predicates: Predicates, statistics: Statistics) -> Pivots:
    dimension = clauses.literal[:, 0].astype(np.int64)
    pivot = np.empty(clauses.count, np.int64)
    choose_pivots(start, dimension, predicates.needed, frequency(clauses, predicates, statistics), pivot)
    order = np.argsort(pivot, kind="stable")
    first = np.searchsorted(pivot[order], np.arange(clauses.dimensions + 1))
    rank = np.empty(clauses.count, np.int64)
    rank[order] = np.arange(clauses.count)
    return Pivots(pivot, order, first, rank - first[pivot])


def frequency(clauses: Clauses, predicates: Predicates, statistics: Statistics) -> Floats:
    """How often events have each dimension: from a log of events, else from the predicates on it."""
    if statistics.sampled:
        return statistics.presence
    return np.bincount(predicates.dimension, minlength=clauses.dimensions).astype(np.float64)


class Lists(NamedTuple):
    """Level 2: pivot ``d`` owns the segments ``directory[d]:directory[d + 1]``, a power of two of them.

    A dimension's predicates stand in the segment ``dimension mod segments``. The lists of the operators
    are side by side there: the part of a list in a segment has the number
    ``OPERATORS * segment + operator``, and ``start`` says where its records begin.
    """

    directory: Ints
    start: Ints
    part: Ints  # of each predicate
    clause: Ints  # of each predicate


def _lists(
    clauses: Clauses, start: Ints, predicates: Predicates, pivots: Pivots, segment_bits: int, fill: int
) -> Lists:
    clause = np.repeat(np.arange(clauses.count), np.diff(start))[predicates.literal]
    pivot = pivots.of_clause[clause]
    length = np.bincount(pivot, minlength=clauses.dimensions)
    segments = np.where(length > 0, 1, 0)
    for _ in range(segment_bits):
        segments = np.where(length >= 2 * fill * OPERATORS * segments, 2 * segments, segments)
    directory = np.concatenate([[0], np.cumsum(segments)])
    segment = directory[pivot] + (predicates.dimension & (segments[pivot] - 1))
    part = OPERATORS * segment + predicates.operator
    sizes = np.bincount(part, minlength=OPERATORS * int(directory[-1]))
    return Lists(directory, np.concatenate([[0], np.cumsum(sizes)]), part, clause)


def _records(
    clauses: Clauses, predicates: Predicates, lists: Lists, pivots: Pivots
) -> tuple[npt.NDArray[Any], Ints, int]:
    """(dimension, operand, pointer) of each predicate as one number, sorted within each list.

    The cells of all dimensions are numbered through, so that one number says (dimension, operand).
    Returned with the first of each dimension and the bits of a pointer.
    """
    base = np.concatenate([[0], np.cumsum(clauses.cells.astype(np.int64) + 1)])
    pointer_bits = int(pivots.pointer[pivots.of_clause < clauses.dimensions].max(initial=0)).bit_length()
    record = (base[predicates.dimension] + predicates.operand) << pointer_bits
    record |= pivots.pointer[lists.clause]
    bits = (int(base[-1]) << pointer_bits).bit_length()
    if bits + len(lists.start).bit_length() < np.iinfo(np.int64).bits:
        ordered = np.sort((lists.part << bits) | record) & ((1 << bits) - 1)
    else:
        ordered = record[np.lexsort((record, lists.part))]
    word = np.uint32 if bits <= np.iinfo(np.uint32).bits else np.uint64
    return ordered.astype(word), base, pointer_bits


def _counters(start: Ints, predicates: Predicates, pivots: Pivots) -> Arrays:
    """How many predicates each clause needs, and whether meeting them leaves it undecided."""
    needed, inexact = (
        _sums(column, start)[pivots.order] for column in (predicates.needed, ~predicates.exact)
    )
    return {"needed": needed.astype(np.uint8), "undecided": (inexact > 0).astype(np.uint8)}


def _sums(column: npt.NDArray[Any], start: Ints) -> Ints:
    total = np.concatenate([[0], np.cumsum(column, dtype=np.int64)])
    return np.asarray(total[start[1:]] - total[start[:-1]])
