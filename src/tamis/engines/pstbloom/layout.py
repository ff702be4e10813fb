"""Lay out ``pstbloom``: the access predicate of every clause, its leaves and its signature."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import rank_units
from tamis.engines.postings.layout.lists import check_order
from tamis.engines.pst import conditions, post_in_leaves, ranking
from tamis.engines.pstbloom._kernels import MARKS, NO_WIDTH, count_widths, sign_clauses
from tamis.engines.units import Ints, Statistics, Units, arrange, joined_dimensions, posting_order
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]
MOST_WIDTHS = 4  # of the spaces of a dimension: an event adds its spaces of each width to its filter
WIDEST = 31


def build(clauses: Clauses, statistics: Statistics, most_blocks: int, crowd: int) -> tuple[Clauses, Arrays]:
    """Return the arranged clauses and the arrays of the engine."""
    units = conditions(clauses, statistics)
    best = np.empty((1 + MARKS, clauses.count), np.int64)
    rank_units(units.start, ranking(clauses, units, statistics), units.usable, best)
    access, signed = best[0], best[1:]
    leaves = post_in_leaves(
        clauses, units, access, np.zeros(clauses.dimensions, np.int64), most_blocks, crowd
    )
    clause_order, rank = posting_order(leaves.owner, clauses.count)
    late = np.zeros(len(units.share), np.bool_)
    late[access[access >= 0]] = True
    literal_order = check_order(clauses, units, late, clause_order)
    signature = np.empty(clauses.count, np.uint64)
    ranges = units.dimension, units.lo, units.hi, clauses.cells
    widths = choose_widths(clauses, units, signed)
    sign_clauses(signed, *ranges, (widths << np.arange(widths.shape[1])).sum(axis=1), signature)
    arrays: Arrays = {
        "heads": leaves.heads,
        "levels": leaves.levels,
        "list_start": leaves.start.astype(np.uint32),
        "posting": rank[leaves.owner].astype(np.uint32),
        "residual": rank[np.flatnonzero(access < 0)].astype(np.uint32),
        "hull": joined_dimensions(units, access, clauses.dimensions),
        "layout": np.array([0, 0, 0, 0, len(leaves.start) - 1, leaves.most], np.uint32),
        "widths": pack_widths(widths),
        "marks": signature[leaves.owner],
    }
    return arrange(clauses, clause_order, literal_order), arrays


def choose_widths(clauses: Clauses, units: Units, signed: Ints) -> npt.NDArray[np.bool_]:
    """Return per dimension and w whether it has signature spaces of 2^w leaves.

    A predicate has a mark for the smallest space that holds it. The widths that suit the most predicates are
    chosen, and the one that holds all leaves: its mark says that the attribute is there.
    """
    widest = np.minimum(np.ceil(np.log2(clauses.cells.astype(np.float64) + 1)).astype(np.int64), WIDEST)
    counts = np.zeros((clauses.dimensions, int(widest.max(initial=0)) + 1), np.int64)
    count_widths(signed[signed >= 0], units.dimension, units.lo, units.hi, clauses.cells, counts)
    dimension = np.arange(clauses.dimensions)
    asked = counts.any(axis=1)
    counts[dimension, widest] += asked * (clauses.count + 1)
    order = np.argsort(-counts, axis=1, kind="stable")[:, :MOST_WIDTHS]
    chosen = np.zeros(counts.shape, np.bool_)
    np.put_along_axis(chosen, order, np.take_along_axis(counts, order, axis=1) > 0, axis=1)
    return chosen


def pack_widths(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
    """Return the widths of a dimension as bytes of a word, ``NO_WIDTH`` behind the last."""
    packed = np.full((len(chosen), MOST_WIDTHS), NO_WIDTH, np.uint32)
    dimension, width = np.nonzero(chosen)
    packed[dimension, (np.cumsum(chosen, axis=1) - 1)[dimension, width]] = width
    shifted = packed << np.arange(0, 8 * MOST_WIDTHS, 8, dtype=np.uint32)
    return np.asarray(shifted.sum(axis=1), np.uint32)
