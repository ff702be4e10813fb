"""Order the clauses, so that the clauses of a slab ask for nearly the same cells.

Each clause has two leading conditions. The clauses with one first leading dimension are cut into strips by
the middle of their range there. Within a strip they are sorted by their second leading dimension and the
middle of their range on it. This is sort-tile-recursive packing, as for the leaves of an R-tree.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines.units import Ints, Units
from tamis.space.space import Clauses

Floats = npt.NDArray[np.float64]

SELECTIVE = 4.0  # a condition may lead if its share is at most this many times that of the clause's best
LEAST_SHARE = 1e-9
NONE = -1


def order_of(clauses: Clauses, units: Units, size: int) -> Ints:
    """Return the clauses in the order of slabs of ``size`` clauses."""
    owner = np.repeat(np.arange(clauses.count), np.diff(units.start))
    share = np.where(units.usable, np.maximum(units.share, LEAST_SHARE), np.inf)
    first = _leading(clauses, units, owner, share)
    share[first[first >= 0]] = np.inf
    second = _leading(clauses, units, owner, share)
    strip = _strips(units, first, second, size)
    return np.lexsort((_middle(units, second), _dimension(units, second), strip, _dimension(units, first)))


def _leading(clauses: Clauses, units: Units, owner: Ints, share: Floats) -> Ints:
    """Return the leading condition of each clause, ``NONE`` if it has none.

    If several conditions of a clause are about as selective, the dimension that leads more clauses is taken:
    many clauses on one dimension can be divided more finely.
    """
    best = np.full(clauses.count, np.inf)
    np.minimum.at(best, owner, share)
    able = np.flatnonzero((share < np.inf) & (share <= SELECTIVE * best[owner]))
    leading = np.full(clauses.count, NONE, np.int64)
    if not len(able):
        return leading
    gain = np.bincount(units.dimension[able], -np.log(share[able]), clauses.dimensions)
    rank = np.empty(clauses.dimensions, np.int64)
    rank[np.argsort(-gain, kind="stable")] = np.arange(clauses.dimensions)
    able = able[np.argsort(-rank[units.dimension[able]], kind="stable")]
    leading[owner[able]] = able  # the last one written is the dimension of the highest rank
    return leading


def _strips(units: Units, first: Ints, second: Ints, size: int) -> Ints:
    """Return the strip of each clause within its first leading dimension."""
    strip = np.zeros(len(first), np.int64)
    led = np.flatnonzero(first >= 0)
    if not len(led):
        return strip
    led = led[np.lexsort((_middle(units, first)[led], units.dimension[first[led]]))]
    dimension = units.dimension[first[led]]
    begins = np.flatnonzero(np.diff(dimension, prepend=-1))
    for group in np.split(led, begins[1:]):
        count = _strip_count(units, first[group], second[group], size)
        strip[group] = np.arange(len(group)) * count // len(group)
    return strip


def _strip_count(units: Units, first: Ints, second: Ints, size: int) -> int:
    """Return the number of strips with which an event should meet the fewest slabs of a group."""
    slabs = max(len(first) // size, 1)
    one = float(units.share[first].mean())
    also = second[second >= 0]
    if slabs == 1 or not len(also):
        return slabs
    two = float(units.share[also].mean())
    part = np.bincount(units.dimension[also]) / len(first)
    pairs = 1.0 / float((part**2).sum())  # the number of second dimensions, if they were equally frequent
    strips = np.unique(np.geomspace(1, slabs, 32).astype(np.int64))
    tiles = slabs / (strips * pairs)
    met = np.where(tiles > 1, two + (1 - two) / np.maximum(tiles, 1), 1.0)
    return int(strips[np.argmin((one + (1 - one) / strips) * met)])


def _dimension(units: Units, chosen: Ints) -> Ints:
    return np.where(chosen >= 0, units.dimension[np.maximum(chosen, 0)], -1)


def _middle(units: Units, chosen: Ints) -> Ints:
    at = np.maximum(chosen, 0)
    return np.where(chosen >= 0, units.lo[at] + units.hi[at], -1)
