"""Which clauses ``hybrid`` posts under pairs of conditions: see ``tamis.index.postings.layout.pairs``."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tamis.index.postings.layout.pairs import Pairs
from tamis.index.units import Ints, Units
from tamis.space.clauses import Clauses

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
    zones = min(int(math.sqrt(2.0 * np.count_nonzero(able)) / count), MOST_ZONES)
    if mode == ALWAYS:
        zones = max(zones, LEAST_ZONES)
    if zones < LEAST_ZONES:
        return none
    touched = _zones_touched(clauses, units, access, zones) * _zones_touched(clauses, units, second, zones)
    able &= touched <= MOST_POSTINGS
    return Pairs(able, slot, zones, zones * count)


def _able(clauses: Clauses, units: Units, access: Ints, second: Ints) -> npt.NDArray[np.bool_]:
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
