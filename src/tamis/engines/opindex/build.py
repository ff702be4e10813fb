"""Building the index: pivots, clauses in the order of their pivots, predicate lists and their segments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.opindex._kernels import GROUPED, UNDECIDED, choose_pivots, sign_lists
from tamis.engines.opindex.alternatives import Alternatives, alternatives_of
from tamis.engines.opindex.predicates import OPERATORS, Ints, Predicates, countable, predicates_of
from tamis.engines.units import Floats, Statistics, reorder
from tamis.space.space import GROUP, Clauses

Arrays = dict[str, npt.NDArray[Any]]


class Posted(NamedTuple):
    """Predicates as they are posted: under which pivot, and with the pointer of their counter or bit."""

    pivot: Ints
    dimension: Ints
    operator: Ints
    operand: Ints
    pointer: Ints


def build(
    clauses: Clauses, statistics: Statistics, optimised: int, segment_bits: int, fill: int
) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    start = clauses.start.astype(np.int64)
    predicates = countable(predicates_of(clauses), start)
    often = frequency(clauses, predicates, statistics)
    grouped = _grouped(clauses, start)
    alternatives = alternatives_of(clauses, start, grouped, predicates, often)
    pivots = _pivots(clauses, start, predicates, often, grouped, alternatives.posted)
    counted = _counted(clauses, start, predicates, pivots, grouped)
    bits = max(_bits(counted.pointer), _bits(alternatives.pointer))
    base = np.concatenate([[0], np.cumsum(clauses.cells.astype(np.int64) + 1)])
    directories = segment_bits if optimised else 0
    arrays: Arrays = {
        "pivot_start": pivots.start.astype(np.uint32),
        **_lists("", counted, base, bits, optimised, directories, fill),
        "cell_base": base.astype(np.uint64),
        "top": predicates.top.astype(np.uint32),
        "layout": np.array([bits, pivots.residual], np.uint32),
        **_counters(start, predicates, pivots, grouped, alternatives),
        **_bitmaps(alternatives, pivots, clauses.dimensions),
        **_lists("cnf_", Posted(*alternatives.predicates), base, bits, optimised, directories, fill),
    }
    return reorder(clauses, pivots.order), arrays


def frequency(clauses: Clauses, predicates: Predicates, statistics: Statistics) -> Floats:
    """Return how often events have each dimension: from a log of events, else from the predicates on it."""
    if statistics.sampled:
        return statistics.presence
    return np.bincount(predicates.dimension, minlength=clauses.dimensions).astype(np.float64)


def _grouped(clauses: Clauses, start: Ints) -> npt.NDArray[np.bool_]:
    """Return which clauses are conjunctions of disjunctions."""
    return _sums((clauses.literal[:, 1] >> GROUP) > 0, start) > 0


class Pivots(NamedTuple):
    """Level 1: the pivot of each clause, and the clauses in the order of their pivots.

    After them stand the clauses without a pivot, then, from ``residual`` on, those with several.
    """

    of_clause: Ints
    order: Ints
    rank: Ints
    start: Ints  # per dimension, in that order
    residual: int


def _pivots(
    clauses: Clauses, start: Ints, predicates: Predicates, often: Floats, grouped: Any, several: Any
) -> Pivots:
    dimension = clauses.literal[:, 0].astype(np.int64)
    pivot = np.empty(clauses.count, np.int64)
    choose_pivots(start, dimension, predicates.needed, often, pivot)
    pivot[grouped] = np.where(several[grouped], clauses.dimensions + 1, clauses.dimensions)
    order = np.argsort(pivot, kind="stable")
    first = np.searchsorted(pivot[order], np.arange(clauses.dimensions + 2))
    rank = np.empty(clauses.count, np.int64)
    rank[order] = np.arange(clauses.count)
    return Pivots(pivot, order, rank, first[:-1], int(first[-1]))


def _counted(
    clauses: Clauses, start: Ints, predicates: Predicates, pivots: Pivots, grouped: npt.NDArray[np.bool_]
) -> Posted:
    """Return the predicates of plain conjunctions."""
    clause = np.repeat(np.arange(clauses.count), np.diff(start))[predicates.literal]
    columns = [predicates.dimension, predicates.operator, predicates.operand]
    if grouped.any():
        plain = ~grouped[clause]
        clause, columns = clause[plain], [column[plain] for column in columns]
    pivot = pivots.of_clause[clause]
    dimension, operator, operand = columns
    return Posted(pivot, dimension, operator, operand, pivots.rank[clause] - pivots.start[pivot])


def _lists(
    prefix: str, posted: Posted, base: Ints, pointer_bits: int, optimised: int, segment_bits: int, fill: int
) -> Arrays:
    """Level 2: pivot ``d`` owns the segments ``directory_start[d]:directory_start[d + 1]``.

    There is a power of two of them, and a dimension's predicates stand in the one that is the dimension
    modulo their number. The lists of the operators are side by side there: list ``OPERATORS * segment +
    operator`` begins at ``list_start``. A record is (dimension, operand, pointer) as one number: the
    cells of all dimensions are numbered through, those of ``d`` from ``base[d]`` on.
    """
    length = np.bincount(posted.pivot, minlength=len(base) - 1)
    segments = np.where(length > 0, 1, 0)
    for _ in range(segment_bits):
        segments = np.where(length >= 2 * fill * OPERATORS * segments, 2 * segments, segments)
    directory = np.concatenate([[0], np.cumsum(segments)])
    segment = directory[posted.pivot] + (posted.dimension & (segments[posted.pivot] - 1))
    number = OPERATORS * segment + posted.operator
    count = OPERATORS * int(directory[-1])
    start = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=count))])
    signature = np.zeros(count if optimised else 0, np.uint64)
    if optimised:
        sign_lists(posted.operator, posted.dimension, posted.operand, number, signature)
    record = ((base[posted.dimension] + posted.operand) << pointer_bits) | posted.pointer
    return {
        f"{prefix}directory_start": directory.astype(np.uint32),
        f"{prefix}list_start": start.astype(np.uint32),
        f"{prefix}signature": signature,
        f"{prefix}record": _sorted(number, count, record, (int(base[-1]) << pointer_bits).bit_length()),
    }


def _sorted(number: Ints, count: int, record: Ints, bits: int) -> npt.NDArray[Any]:
    """Records in the order of their lists, sorted within each."""
    if bits + count.bit_length() < np.iinfo(np.int64).bits:
        record = np.sort((number << bits) | record) & ((1 << bits) - 1)
    else:
        record = record[np.lexsort((record, number))]
    return record.astype(np.uint32 if bits <= np.iinfo(np.uint32).bits else np.uint64)


def _counters(
    start: Ints, predicates: Predicates, pivots: Pivots, grouped: Any, alternatives: Alternatives
) -> Arrays:
    """Return how many predicates each clause needs, and how it is decided if meeting them is not enough."""
    undecided = np.where(grouped, alternatives.undecided, _sums(~predicates.exact, start) > 0)
    verdict = np.where(undecided, UNDECIDED, 0) | np.where(grouped, GROUPED, 0)
    needed = np.where(grouped, 0, _sums(predicates.needed, start))
    return {
        "needed": needed[pivots.order].astype(np.uint8),
        "verdict": verdict[pivots.order].astype(np.uint8),
    }


def _bitmaps(alternatives: Alternatives, pivots: Pivots, dimensions: int) -> Arrays:
    """Return the lists of clauses with several pivots: who is in them, and the bits that must be cleared."""
    return {
        "cnf_pivot_start": np.searchsorted(alternatives.pivot, np.arange(dimensions + 1)).astype(np.uint32),
        "cnf_member": pivots.rank[alternatives.clause].astype(np.uint32),
        "cnf_demand": alternatives.demand[alternatives.clause],
        "cnf_group": alternatives.chosen[alternatives.clause],
    }


def _bits(pointer: Ints) -> int:
    return int(pointer.max(initial=0)).bit_length()


def _sums(column: npt.NDArray[Any], start: Ints) -> Ints:
    total = np.concatenate([[0], np.cumsum(column, dtype=np.int64)])
    return np.asarray(total[start[1:]] - total[start[:-1]])
