"""Build the index: pivots, clauses in the order of their pivots, predicate lists and their segments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.opindex.layout._kernels import GROUPED, UNDECIDED, choose_pivots
from tamis.engines.opindex.layout.alternatives import Alternatives, alternatives_of
from tamis.engines.opindex.layout.predicates import (
    Predicates,
    countable,
    predicates_of,
    proper_ranges,
    without_halves,
)
from tamis.engines.opindex.structures._kernels import GE
from tamis.engines.opindex.structures.lists import SortedLists
from tamis.engines.opindex.structures.structure import Flags, Grid, Ints, Items
from tamis.engines.opindex.structures.trie import Trie, nested
from tamis.engines.units import Floats, Statistics, reorder
from tamis.space.space import GROUP, Clauses

Arrays = dict[str, npt.NDArray[Any]]


def build(
    clauses: Clauses, statistics: Statistics, optimised: int, segment_bits: int, fill: int, trie: int
) -> tuple[Clauses, Arrays]:
    """Return the arranged clauses and the arrays of the engine."""
    start = clauses.start.astype(np.int64)
    owner = np.repeat(np.arange(clauses.count), np.diff(start))
    predicates = countable(predicates_of(clauses), start)
    often = frequency(clauses, predicates, statistics)
    grouped = _grouped(clauses, start)
    alternatives = alternatives_of(clauses, start, grouped, predicates, often)
    pivots = _pivots(clauses, start, predicates, often, grouped, alternatives.posted)
    ranges = _nested_ranges(clauses, owner, predicates, pivots, trie) if trie else np.zeros(0, np.int64)
    predicates = without_halves(predicates, ranges)
    counted = _counted(owner, predicates, pivots, grouped)
    tries = _whole_ranges(clauses, owner, ranges, pivots)
    bits = max(_bits(items.pointer) for items in (counted, tries, alternatives.items))
    base = np.concatenate([[0], np.cumsum(clauses.cells.astype(np.int64) + 1)])
    grid = Grid(base, bits, optimised != 0, segment_bits if optimised else 0, fill)
    arrays: Arrays = {
        "pivot_start": pivots.start.astype(np.uint32),
        **_level_2(counted, tries, grid),
        "cell_base": base.astype(np.uint64),
        "top": predicates.top.astype(np.uint32),
        "layout": np.array([bits, pivots.residual], np.uint32),
        **_counters(start, predicates, pivots, grouped, alternatives),
        **_bitmaps(alternatives, pivots, clauses.dimensions, grid),
    }
    return reorder(clauses, pivots.order), arrays


def frequency(clauses: Clauses, predicates: Predicates, statistics: Statistics) -> Floats:
    """Return how often events have each dimension: from a log of events, else from the predicates on it."""
    if statistics.sampled:
        return statistics.presence
    return np.bincount(predicates.dimension, minlength=clauses.dimensions).astype(np.float64)


def _grouped(clauses: Clauses, start: Ints) -> Flags:
    """Return which clauses are conjunctions of disjunctions."""
    return _sums((clauses.literal[:, 1] >> GROUP) > 0, start) > 0


class Pivots(NamedTuple):
    """Level 1: the pivot of each clause, and the clauses in the order of their pivots.

    The clauses without a pivot follow, then, from ``residual`` on, those with several.
    """

    of_clause: Ints
    order: Ints
    rank: Ints
    start: Ints  # per dimension, in that order
    residual: int

    def places(self, clause: Ints) -> Ints:
        """Return the place of each clause in the counters of its pivot."""
        return np.asarray(self.rank[clause] - self.start[self.of_clause[clause]])


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


def _nested_ranges(clauses: Clauses, owner: Ints, predicates: Predicates, pivots: Pivots, least: int) -> Ints:
    """Return the literals that join a trie: the ranges that nest with the others of pivot and dimension."""
    literal = proper_ranges(clauses, predicates)
    dimension, _, lo, hi = clauses.literal[literal].astype(np.int64).T
    return literal[nested(pivots.of_clause[owner[literal]], dimension, lo, hi, least)]


def _counted(owner: Ints, predicates: Predicates, pivots: Pivots, grouped: Flags) -> Items:
    """Return the items of sorted lists: the predicates of plain conjunctions."""
    clause = owner[predicates.literal]
    columns = [predicates.dimension, predicates.operator, predicates.operand]
    if grouped.any():
        plain = ~grouped[clause]
        clause, columns = clause[plain], [column[plain] for column in columns]
    dimension, operator, operand = columns
    return Items(pivots.of_clause[clause], dimension, operator, operand, operand, pivots.places(clause))


def _whole_ranges(clauses: Clauses, owner: Ints, literal: Ints, pivots: Pivots) -> Items:
    """Return the items of tries: the ranges ``literal``."""
    dimension, _, lo, hi = clauses.literal[literal].astype(np.int64).T
    clause = owner[literal]
    # A trie is signed like a list of ``>=``, whose probe finds the last range that can begin at a cell.
    operator = np.full(len(literal), GE, np.int64)
    return Items(pivots.of_clause[clause], dimension, operator, lo, hi, pivots.places(clause))


def _level_2(counted: Items, ranges: Items, grid: Grid) -> Arrays:
    """Lay out the structures of all pivots: first the sorted lists, then the tries."""
    lists, tries = SortedLists().insert(counted, grid), Trie().insert(ranges, grid)
    return {
        "directory_start": lists.directory.astype(np.uint32),
        "list_start": np.append(lists.start, lists.start[-1] + tries.start[1:]).astype(np.uint32),
        "signature": np.append(lists.signature, tries.signature),
        "record": np.append(lists.record, tries.record),
        "has_trie": (np.bincount(ranges.dimension, minlength=len(grid.base) - 1) > 0).astype(np.uint8),
        "trie_directory_start": tries.directory.astype(np.uint32),
        "trie": tries.columns,
    }


def _counters(
    start: Ints, predicates: Predicates, pivots: Pivots, grouped: Any, alternatives: Alternatives
) -> Arrays:
    """Return the number of predicates each clause needs, and its further checks if these are not enough."""
    undecided = np.where(grouped, alternatives.undecided, _sums(~predicates.exact, start) > 0)
    verdict = np.where(undecided, UNDECIDED, 0) | np.where(grouped, GROUPED, 0)
    needed = np.where(grouped, 0, _sums(predicates.needed, start))
    return {
        "needed": needed[pivots.order].astype(np.uint8),
        "verdict": verdict[pivots.order].astype(np.uint8),
    }


def _bitmaps(alternatives: Alternatives, pivots: Pivots, dimensions: int, grid: Grid) -> Arrays:
    """Return the lists of clauses with several pivots: their members, the bits to clear, the predicates."""
    lists = SortedLists().insert(alternatives.items, grid)
    return {
        "cnf_directory_start": lists.directory.astype(np.uint32),
        "cnf_list_start": lists.start.astype(np.uint32),
        "cnf_signature": lists.signature,
        "cnf_record": lists.record,
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
