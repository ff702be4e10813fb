"""What a list and the inline records decide about a clause, so that nobody need ask its literals.

This is about plain events. A record decides a condition if it holds exactly the cells of all its
literals; a list does if it stands for one cell. What a clause has beyond that is checked by its literals,
which stand first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.index.units import Ints, Units
from tamis.space.clauses import Clauses

Bools = npt.NDArray[np.bool_]

UNSEEN, FILTERED, DECIDED = 0, 1, 2
FLAG = 1 << 31  # of a posting: its clause is decided


def decided_units(
    clauses: Clauses, units: Units, rounding: Ints, access: Ints, exact: Bools, inline: tuple[Ints, ...]
) -> Bools:
    """The conditions that need no check: ``access`` of clauses in ``exact`` lists, and ``inline`` ones."""
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
