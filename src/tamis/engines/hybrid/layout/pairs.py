"""Which clauses ``hybrid`` posts under pairs of conditions: see ``tamis.engines.postings.layout.pairs``."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout.pairs import Pairs
from tamis.engines.units import Ints, Units
from tamis.space.clauses import Clauses

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
