"""Laying out ``hybrid``: the conditions that a clause is posted under, the records beside it, the arrays.

A list and the inline records *decide* a clause if a plain event that passes them needs no check of its
literals. A record decides a condition if it holds exactly the cells of all its literals. A list decides one
if it stands for one cell. The literals that are left to check stand first.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import NONE, rank_units
from tamis.engines.postings.layout.lists import HEAD, Levels, Pairs, Records, check_order
from tamis.engines.units import Ints, Statistics, Units, arrange, posting_order, units_of
from tamis.space.space import Clauses

Bools = npt.NDArray[np.bool_]

NEVER, WHERE_IT_PAYS, ALWAYS = 0, 1, 2
LEAST_SAVING = 500.0  # postings an event must be spared on average to be worth visiting pairs at all
LEAST_ZONES, MOST_ZONES = 4, 64
MOST_POSTINGS = 16  # pairs of zones per clause


def choose_pairs(clauses: Clauses, units: Units, access: Ints, second: Ints, crowd: int, mode: int) -> Pairs:
    """Find the clauses for which two conditions beat one (or, with ``ALWAYS``, for which there are two)."""
    none = Pairs(np.zeros(clauses.count, np.bool_), np.full(clauses.dimensions, -1), 0, 0)
    able = _able(clauses, units, access, second)
    crowded = np.bincount(units.dimension[access[able]], minlength=clauses.dimensions) > crowd
    able &= crowded[units.dimension[np.maximum(access, 0)]]
    if mode == NEVER or not able.any():
        return none
    if mode == WHERE_IT_PAYS and units.share[access[able]].sum() < LEAST_SAVING:
        return none
    slot, count = _slots(units, access[able], second[able], clauses.dimensions)
    # About as many lists as clauses. More zones spare candidates but cost more in cache misses.
    most = min(int(math.sqrt(2.0 * np.count_nonzero(able)) / count), MOST_ZONES)
    if mode == ALWAYS:
        most = max(most, LEAST_ZONES)
    if most < LEAST_ZONES:
        return none
    paired, zones = _divided(clauses, units, able, access, second, most)
    return Pairs(paired, slot, zones, zones * count) if paired.any() else none


def _divided(
    clauses: Clauses, units: Units, able: Bools, access: Ints, second: Ints, most: int
) -> tuple[Bools, int]:
    """Return the clauses to post under pairs of zones, and how many zones a dimension should have.

    Fewer zones are coarser, but wide ranges touch fewer of them: a clause that would need too many postings
    is left under its best condition alone, which costs more than coarse zones do.
    """
    alone = units.share[np.maximum(access, 0)]
    both = (
        alone
        * units.share[np.maximum(second, 0)]
        / _part(clauses, units, access)
        / _part(clauses, units, second)
    )
    best, found = np.inf, (able, most)
    for zones in sorted({max(most * part // 4, LEAST_ZONES) for part in (4, 3, 2, 1)}, reverse=True):
        touched = _zones_touched(clauses, units, access, zones) * _zones_touched(
            clauses, units, second, zones
        )
        chosen = able & (touched <= MOST_POSTINGS)
        met = float(np.where(chosen, both * touched / zones**2, alone)[able].sum())
        if met < best:
            best, found = met, (chosen, zones)
    return found


def _part(clauses: Clauses, units: Units, chosen: Ints) -> npt.NDArray[np.float64]:
    """Return the part of its dimension that each condition covers."""
    at = np.maximum(chosen, 0)
    return np.asarray((units.hi[at] - units.lo[at] + 1) / clauses.cells[units.dimension[at]])


def _able(clauses: Clauses, units: Units, access: Ints, second: Ints) -> Bools:
    """Clauses whose two best conditions are proper ranges, and whose best is not a single cell."""
    one, two = np.maximum(access, 0), np.maximum(second, 0)
    proper = (units.set_count == 0) & (units.hi - units.lo + 1 < clauses.cells[units.dimension])
    wide = units.lo[one] < units.hi[one]
    return np.asarray((access >= 0) & (second >= 0) & proper[one] & proper[two] & wide)


def _slots(units: Units, access: Ints, second: Ints, dimensions: int) -> tuple[Ints, int]:
    used = np.zeros(dimensions, np.bool_)
    used[units.dimension[access]] = True
    used[units.dimension[second]] = True
    return np.where(used, np.cumsum(used) - 1, -1), int(np.count_nonzero(used))


def _zones_touched(clauses: Clauses, units: Units, chosen: Ints, zones: int) -> Ints:
    at = np.maximum(chosen, 0)
    cells = clauses.cells[units.dimension[at]].astype(np.int64) + 1
    return np.asarray(units.hi[at] * zones // cells - units.lo[at] * zones // cells + 1)


FLAG = 1 << 31  # of a posting: its clause is decided
MORE = 3  # records in a row where they pay
LEAST_MET = 500.0  # postings that an event must meet under single conditions for that to be so,
LEAST_PART = 0.001  # or the part of all clauses that these are,
LEAST_SETTLED = 0.25  # and the part of all survivors that the longer rows must settle


def choose_records(
    clauses: Clauses, units: Units, best: Ints, paired: Bools, level: Ints, records: Records, beside: int
) -> tuple[list[Ints], Bools]:
    """Return the conditions of each clause that become records, inline and in its row; those that are
    decided.

    Memory is spent on longer rows only if there is much to filter, and they settle a good part of what
    survives the first two records.
    """
    exact = (level == 0) & ~paired

    def tried(count: int) -> tuple[list[Ints], Bools]:
        inline = ranked_conditions(best, paired, count + 1)
        return inline, decided_units(clauses, units, records.rounding, best[0], exact, inline)

    short = tried(beside or 1)
    met = units.share[best[0][best[0] >= 0]].sum()
    if beside or (met < LEAST_MET and met < LEAST_PART * clauses.count):
        return short
    expected = survivors(units, best, paired)
    open_ones = undecided_literals(clauses, units, short[1]) > 0
    least = LEAST_SETTLED * expected.sum()
    if expected[open_ones].sum() < least:
        return short
    long = tried(MORE)
    settled = open_ones & (undecided_literals(clauses, units, long[1]) == 0)
    return long if expected[settled].sum() >= least else short


def survivors(units: Units, best: Ints, paired: Bools) -> npt.NDArray[np.float64]:
    """Per clause the estimated share of events for which access and two records hold."""
    share = np.append(units.share, 1.0)  # at NONE, the last: no condition
    product = share[best[0]] * share[best[1]] * share[best[2]]
    return np.asarray(np.where(paired, product * share[best[3]], product))


def ranked_conditions(best: Ints, paired: Bools, count: int) -> list[Ints]:
    """Return the ``count`` conditions that a posting carries: those after access, then access itself.

    A list may stand for a block or a zone of cells, so access, too, is worth checking.
    """
    ranked = np.where(paired, np.roll(best, -2, axis=0), np.roll(best, -1, axis=0))
    every = np.arange(best.shape[1])
    chosen = []
    for _ in range(count):
        first = np.argmax(ranked != NONE, axis=0)
        chosen.append(ranked[first, every])
        ranked[first, every] = NONE
    return chosen


def decided_units(
    clauses: Clauses, units: Units, rounding: Ints, access: Ints, exact: Bools, inline: list[Ints]
) -> Bools:
    """Return the conditions that need no check: ``access`` of clauses in ``exact`` lists, and ``inline``
    ones."""
    plain = plain_units(clauses, units)
    decided = np.zeros(len(units.share), np.bool_)
    listed = access[exact & (access >= 0)]
    decided[listed] = plain[listed] | (units.set_count[listed] > 0)
    recorded = plain & (rounding[units.dimension] == 0)
    for chosen in inline:
        at = chosen[chosen >= 0]
        decided[at] |= recorded[at]
    return decided


def plain_units(clauses: Clauses, units: Units) -> Bools:
    """Conditions that hold for a plain event just if its cell lies between their ends."""
    plain = np.ones(len(units.share), np.bool_)
    plain[units.of_literal[clauses.literal[:, 1] != 0]] = False
    several = np.bincount(units.of_literal, minlength=len(plain)) > 1
    return np.asarray(plain & (units.joined | ~several))


def undecided_literals(clauses: Clauses, units: Units, decided: Bools) -> Ints:
    """Per clause how many literals are left to check."""
    before = np.zeros(len(clauses.literal) + 1, np.int64)
    np.cumsum(~decided[units.of_literal], out=before[1:])
    return np.diff(before[clauses.start])


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
