"""Build the layout: arranged clauses and the arrays of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import rank_units
from tamis.engines.postings.layout.lists import Records, check_order
from tamis.engines.pst import Leaves, conditions, post_in_leaves, ranking
from tamis.engines.psthash.layout._kernels import choose_inline
from tamis.engines.psthash.layout.spaces import Spaces, choose
from tamis.engines.psthash.layout.table import hash_table
from tamis.engines.units import Ints, Statistics, Units, arrange, joined_dimensions, posting_order
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]


def build(
    clauses: Clauses, statistics: Statistics, access: int, combinations: int, most_blocks: int, crowd: int
) -> tuple[Clauses, Arrays]:
    """Return the arranged clauses and the arrays of the engine."""
    units = conditions(clauses, statistics)
    rank = ranking(clauses, units, statistics)
    hashed, spaces = choose(clauses, units, rank, access, combinations)
    single = _single(clauses, units, rank, hashed.chosen[0] >= 0)
    records = Records(clauses)
    leaves = post_in_leaves(clauses, units, single, records.rounding, most_blocks, crowd)
    table = hash_table(clauses, units, hashed, spaces, combinations)
    owner = np.concatenate([leaves.owner, table.owner])
    clause_order, place = posting_order(owner, clauses.count)
    inline, second = np.empty((2, clauses.count), np.int64)
    choose_inline(units.start, units.share, units.usable, hashed.chosen, single, inline, second)
    looked_at = np.concatenate([hashed.chosen.ravel(), single, inline, second])
    literal_order = check_order(clauses, units, _mask(units, looked_at), clause_order)
    residual = (single < 0) & (hashed.chosen[0] < 0)
    arrays = {
        "heads": leaves.heads,
        "levels": leaves.levels,
        "list_start": np.concatenate([leaves.start[:-1], len(leaves.owner) + table.start]).astype(np.uint32),
        "posting": place.astype(np.uint32)[owner],
        "residual": place[np.flatnonzero(residual)].astype(np.uint32),
        "hull": joined_dimensions(units, np.append(hashed.chosen.ravel(), single), clauses.dimensions),
        "layout": _layout(records, leaves, hashed.chosen, single),
        "spaces": _spaces(spaces),
        "used": table.used,
        "rows": table.rows.astype(np.uint32),
        "known": table.known,
        "inline": _pack(records, units, inline)[owner],
        "second": _pack(records, units, second)[clause_order],
    }
    return arrange(clauses, clause_order, literal_order), arrays


def _single(
    clauses: Clauses, units: Units, rank: npt.NDArray[np.float64], hashed: npt.NDArray[np.bool_]
) -> Ints:
    """Return the one access predicate of the clauses that are not hashed (NONE: hashed, or without any)."""
    best = np.empty((4, clauses.count), np.int64)
    rank_units(units.start, rank, units.usable, best)
    return np.where(hashed, -1, best[0])


def _mask(units: Units, chosen: Ints) -> npt.NDArray[np.bool_]:
    mask = np.zeros(len(units.share), np.bool_)
    mask[chosen[chosen >= 0]] = True
    return mask


def _layout(records: Records, leaves: Leaves, access: Ints, single: Ints) -> npt.NDArray[np.uint32]:
    """Return the layout of ``hybrid`` plus: N, begin and end of the hashed clauses.

    Clauses are numbered in posting order, those in leaves first, so that hashed ones follow each other.
    """
    first = np.count_nonzero(single >= 0)
    hashed = np.count_nonzero(access[0] >= 0)
    shared = [*records.bits(), 0, 0, len(leaves.start) - 1, leaves.most]
    return np.array([*shared, len(access), first, first + hashed], np.uint32)


def _spaces(spaces: Spaces) -> npt.NDArray[np.uint32]:
    """Return per dimension its grain, and the ID of its first space plus one (0: it has none)."""
    return np.stack([spaces.grain, spaces.base + 1], axis=1).astype(np.uint32)


def _pack(records: Records, units: Units, chosen: Ints) -> npt.NDArray[Any]:
    if not len(units.share):
        return np.zeros(len(chosen), records.word)
    return records.pack(units, chosen)
