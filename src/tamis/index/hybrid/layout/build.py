"""The layout as a whole: arranged clauses and the arrays of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.index.arrange import arrange, posting_order
from tamis.index.hybrid.layout._kernels import NONE, order_for_checks, rank_units
from tamis.index.hybrid.layout.decided import FLAG, decided_units, undecided_literals
from tamis.index.hybrid.layout.levels import HEAD, Levels
from tamis.index.hybrid.layout.pairs import Pairs, choose_pairs
from tamis.index.hybrid.layout.records import Records
from tamis.index.statistics import Statistics
from tamis.index.units import Ints, Units, units_of
from tamis.space.clauses import Clauses

Arrays = dict[str, npt.NDArray[Any]]


def build(
    clauses: Clauses, statistics: Statistics, most_blocks: int, crowd: int, pairs: int
) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    if clauses.count == 0 or len(clauses.literal) == 0:
        return clauses, _empty(clauses)
    units = units_of(clauses, statistics)
    best = np.empty((4, clauses.count), np.int64)
    rank_units(units.start, units.share, units.usable, best)
    chosen = choose_pairs(clauses, units, best[0], best[1], crowd, pairs)
    levels = Levels(clauses, units, best[0], best[1], chosen, most_blocks, crowd)
    list_start, owner = levels.sorted()
    clause_order, rank = posting_order(owner, clauses.count)
    records = Records(clauses)
    inline = _inline(best, chosen.chosen)
    exact = (levels.level == 0) & ~chosen.chosen
    decided = decided_units(clauses, units, records.rounding, best[0], exact, inline)
    seen = _looked_at(units, best, chosen) + decided.astype(np.uint8)
    literal_order = check_order(clauses, units, seen, clause_order)
    arranged = arrange(clauses, clause_order, literal_order)
    left = undecided_literals(clauses, units, decided)[clause_order]
    posting = rank[owner] | np.where(left[rank[owner]] == 0, FLAG, 0)
    arrays = {
        "heads": levels.heads(records.rounding),
        "levels": levels.levels(),
        "list_start": list_start.astype(np.uint32),
        "posting": posting.astype(np.uint32),
        "residual": rank[np.flatnonzero(best[0] < 0)].astype(np.uint32),
        "hull": _hulled(units, best, chosen, clauses.dimensions),
        "layout": np.array(
            [*records.bits(), chosen.zones, chosen.width, levels.singles, levels.most()], np.uint32
        ),
        "inline": records.pack(units, inline[0][owner]),
        "second": records.pack(units, inline[1][owner]),
        "until": (arranged.start[:-1] + left).astype(np.uint32),
    }
    return arranged, arrays


def _looked_at(units: Units, best: Ints, pairs: Pairs) -> npt.NDArray[np.uint8]:
    """1 for the conditions that access and inline records have looked at."""
    late = np.zeros(len(units.share), np.uint8)
    late[best[:3][best[:3] >= 0]] = 1
    late[best[3][pairs.chosen & (best[3] >= 0)]] = 1
    return late


def check_order(
    clauses: Clauses, units: Units, late: npt.NDArray[Any], clause_order: Ints
) -> npt.NDArray[np.uint32]:
    """All literals in their new order: per clause those of ``late`` conditions last, else by share."""
    start = clauses.start.astype(np.int64)
    size = start[1:] - start[:-1]
    place = np.empty(clauses.count, np.int64)
    place[clause_order] = np.cumsum(size[clause_order]) - size[clause_order]
    order = np.empty(len(clauses.literal), np.uint32)
    order_for_checks(start, place, units.of_literal, late, units.share, order)
    return order


def _inline(best: Ints, paired: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The two conditions a posting carries: those after access, else access itself.

    A list stands for a block or a zone of cells, so access, too, is worth checking.
    """
    none = np.full_like(best[0], NONE)
    ranked = np.where(
        paired, np.stack([best[2], best[3], best[0], best[1]]), np.stack([*best[1:3], best[0], none])
    )
    present = ranked != NONE
    first = np.argmax(present, axis=0)
    every = np.arange(ranked.shape[1])
    inline = ranked[first, every]
    present[first, every] = False
    return inline, ranked[np.argmax(present, axis=0), every]


def _hulled(units: Units, best: Ints, pairs: Pairs, dimensions: int) -> npt.NDArray[np.uint32]:
    """Dimensions on which joined conditions are posted."""
    used = np.concatenate([best[0], best[1][pairs.chosen]])
    used = used[used >= 0]
    hull = np.zeros(dimensions, np.uint32)
    hull[units.dimension[used[units.joined[used]]]] = 1
    return hull


def _empty(clauses: Clauses) -> Arrays:
    """Without a literal there is nothing to post: every clause is residual."""
    records = Records(clauses)
    return {
        "heads": np.zeros((clauses.dimensions, HEAD), np.uint32),
        "levels": np.zeros((0, 2), np.uint32),
        "list_start": np.zeros(1, np.uint32),
        "posting": np.zeros(0, np.uint32),
        "residual": np.arange(clauses.count, dtype=np.uint32),
        "hull": np.zeros(clauses.dimensions, np.uint32),
        "layout": np.array([*records.bits(), 0, 0, 0, 0], np.uint32),
        "inline": np.zeros(0, records.word),
        "second": np.zeros(0, records.word),
        "until": clauses.start[1:].astype(np.uint32),
    }
