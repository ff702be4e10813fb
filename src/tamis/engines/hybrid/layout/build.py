"""The layout as a whole: arranged clauses and the arrays of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.arrange import arrange, posting_order
from tamis.engines.hybrid.layout.decided import FLAG, MORE, choose_records, undecided_literals
from tamis.engines.hybrid.layout.pairs import choose_pairs
from tamis.engines.postings.layout._kernels import rank_units
from tamis.engines.postings.layout.levels import HEAD, Levels
from tamis.engines.postings.layout.order import check_order
from tamis.engines.postings.layout.pairs import Pairs
from tamis.engines.postings.layout.records import Records
from tamis.engines.statistics import Statistics
from tamis.engines.units import Ints, Units, units_of
from tamis.space.clauses import Clauses

Arrays = dict[str, npt.NDArray[Any]]


def build(
    clauses: Clauses, statistics: Statistics, most_blocks: int, crowd: int, pairs: int, beside: int
) -> tuple[Clauses, Arrays]:
    """Arranged clauses and the arrays of the engine."""
    if clauses.count == 0 or len(clauses.literal) == 0:
        return clauses, _empty(clauses)
    units = units_of(clauses, statistics)
    best = np.empty((max(beside, MORE) + 3, clauses.count), np.int64)
    rank_units(units.start, units.share, units.usable, best)
    chosen = choose_pairs(clauses, units, best[0], best[1], crowd, pairs)
    levels = Levels(clauses, units, best[0], best[1], chosen, most_blocks, crowd)
    list_start, owner = levels.sorted()
    clause_order, rank = posting_order(owner, clauses.count)
    records = Records(clauses)
    inline, decided = choose_records(clauses, units, best, chosen.chosen, levels.level, records, beside)
    seen = _looked_at(units, best[:2], chosen, inline) + decided.astype(np.uint8)
    arranged = arrange(clauses, clause_order, check_order(clauses, units, seen, clause_order))
    left = undecided_literals(clauses, units, decided)
    posting = rank | np.where(left == 0, FLAG, 0)
    columns = [posting.astype(records.word), *(records.pack(units, column) for column in inline[1:])]
    arrays = {
        "heads": levels.heads(records.rounding),
        "levels": levels.levels(),
        "list_start": list_start.astype(np.uint32),
        "residual": rank[np.flatnonzero(best[0] < 0)].astype(np.uint32),
        "hull": _hulled(units, best, chosen, clauses.dimensions),
        "layout": np.array(
            [*records.bits(), chosen.zones, chosen.width, levels.singles, levels.most(), len(columns)],
            np.uint32,
        ),
        "inline": records.pack(units, inline[0][owner]),
        "rows": np.stack(columns, axis=1)[owner],
        "until": (arranged.start[:-1] + left[clause_order]).astype(np.uint32),
    }
    return arranged, arrays


def _looked_at(units: Units, access: Ints, pairs: Pairs, inline: list[Ints]) -> npt.NDArray[np.uint8]:
    """1 for the conditions that access and inline records have looked at."""
    late = np.zeros(len(units.share), np.uint8)
    for column in (access[0], access[1][pairs.chosen], *inline):
        late[column[column >= 0]] = 1
    return late


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
        "residual": np.arange(clauses.count, dtype=np.uint32),
        "hull": np.zeros(clauses.dimensions, np.uint32),
        "layout": np.array([*records.bits(), 0, 0, 0, 0, 2], np.uint32),
        "inline": np.zeros(0, records.word),
        "rows": np.zeros((0, 2), records.word),
        "until": clauses.start[1:].astype(np.uint32),
    }
