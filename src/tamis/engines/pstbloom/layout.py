"""Laying out ``pstbloom``: the access predicate of every clause, its leaves and its signature."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import rank_units
from tamis.engines.postings.layout.lists import check_order
from tamis.engines.pst import conditions, joined_dimensions, post_in_leaves, ranking
from tamis.engines.pstbloom._kernels import count_fitting, sign_clauses
from tamis.engines.units import Ints, Statistics, Units, arrange, posting_order
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]
FILLED = 0.4  # share of its signature's bits that an event of some thirty values sets


def build(clauses: Clauses, statistics: Statistics, most_blocks: int, crowd: int) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    units = conditions(clauses, statistics)
    best = np.empty((4, clauses.count), np.int64)
    rank_units(units.start, ranking(clauses, units, statistics), units.usable, best)
    access = best[0]
    grain = signature_grain(clauses, units, statistics)
    leaves = post_in_leaves(clauses, units, access, grain, most_blocks, crowd)
    clause_order, rank = posting_order(leaves.owner, clauses.count)
    late = np.zeros(len(units.share), np.bool_)
    late[access[access >= 0]] = True
    literal_order = check_order(clauses, units, late, clause_order)
    signature = np.empty(clauses.count, np.uint64)
    ranges = units.dimension, units.lo, units.hi
    sign_clauses(units.start, *ranges, units.usable, access, grain, signature)
    arrays: Arrays = {
        "heads": leaves.heads,
        "levels": leaves.levels,
        "list_start": leaves.start.astype(np.uint32),
        "posting": rank[leaves.owner].astype(np.uint32),
        "residual": rank[np.flatnonzero(access < 0)].astype(np.uint32),
        "hull": joined_dimensions(clauses, units, access),
        "layout": np.array([0, 0, 0, 0, len(leaves.start) - 1, leaves.most], np.uint32),
        "signature": signature[leaves.owner],
    }
    return arrange(clauses, clause_order, literal_order), arrays


def signature_grain(clauses: Clauses, units: Units, statistics: Statistics) -> Ints:
    """Per dimension how many leaves, as a power of two, form one space of the signatures.

    The finer, the fewer events pass the bit of a predicate; the coarser, the more predicates lie in one
    space and have a bit at all. The grain is the one that lets the fewest pass. At the coarsest, the bit
    only says that the attribute is there.
    """
    cells = clauses.cells.astype(np.int64)
    coarsest = np.ceil(np.log2(cells + 1)).astype(np.int64)
    grains = np.arange(int(coarsest.max(initial=0)) + 1)
    fitting = np.zeros((clauses.dimensions, len(grains)), np.int64)
    total = np.zeros(clauses.dimensions, np.int64)
    count_fitting(units.dimension, units.lo, units.hi, units.usable, fitting, total)
    share = fitting / np.maximum(total, 1)[:, None]
    spaces = (cells[:, None] >> grains) + 1
    holding = statistics.presence[:, None] / spaces
    passing = share * (holding + (1.0 - holding) * FILLED) + (1.0 - share)
    return np.asarray(np.argmin(passing, axis=1), np.int64)
