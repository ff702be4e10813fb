"""Groups of clauses that different engines may serve best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.units import Statistics, units_of
from tamis.space.space import Clauses

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
RARE = 1e-3  # a clause is sparse if its best condition is met by fewer events than this
LEAST_SHARE = 0.02  # a group smaller than this is not worth a structure of its own


class Group(NamedTuple):
    """Some clauses and what they have in common."""

    name: str
    clauses: Ints


def groups_of(clauses: Clauses, statistics: Statistics, least: int) -> list[list[Group]]:
    """Ways to divide the clauses: not at all, by kind, by kind and density. Small groups join the rest."""
    whole = [Group("all", np.arange(clauses.count))]
    if not len(clauses.literal):
        return [whole]
    negative, text, sparse = _kinds(clauses, statistics)
    coarse = {"not-only": negative, "text": text, "other": ~(negative | text)}
    other = coarse["other"]
    fine = {"not-only": negative, "text": text, "sparse": other & sparse, "dense": other & ~sparse}
    floor = max(least, int(LEAST_SHARE * clauses.count), 1)
    ways = [whole]
    for division in (coarse, fine):
        way = _division(division, floor)
        if len(way) > 1 and [len(group.clauses) for group in way] not in [list(map(_size, w)) for w in ways]:
            ways.append(way)
    return ways


def _size(group: Group) -> int:
    return len(group.clauses)


def _kinds(clauses: Clauses, statistics: Statistics) -> tuple[Mask, Mask, Mask]:
    """Clauses without a usable condition, those of at least two terms only, those with a rare condition."""
    units = units_of(clauses, statistics)
    owner = np.repeat(np.arange(clauses.count), np.diff(units.start))
    owner, usable = owner[units.usable], units.usable
    count = np.bincount(owner, minlength=clauses.count)
    term = clauses.cells[units.dimension[usable]] == 1
    terms = np.bincount(owner[term], minlength=clauses.count)
    best = np.full(clauses.count, np.inf)
    np.minimum.at(best, owner, units.share[usable])
    return count == 0, (terms > 1) & (terms == count), best <= RARE


def _division(kinds: dict[str, Mask], floor: int) -> list[Group]:
    """Return a group for each kind with enough clauses; the others join the largest."""
    found = [Group(name, np.flatnonzero(mask)) for name, mask in kinds.items() if mask.any()]
    found.sort(key=lambda group: -len(group.clauses))
    kept = [group for group in found if len(group.clauses) >= floor] or found[:1]
    small = [group.clauses for group in found if len(group.clauses) < floor and group is not kept[0]]
    joined = np.sort(np.concatenate([kept[0].clauses, *small]))
    return [Group(kept[0].name, joined), *kept[1:]]
