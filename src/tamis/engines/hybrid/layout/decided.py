"""What a list and the inline records decide about a clause, so that nobody need ask its literals.

This is about plain events. A record decides a condition if it holds exactly the cells of all its
literals; a list does if it stands for one cell. What a clause has beyond that is checked by its literals,
which stand first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import NONE
from tamis.engines.postings.layout.records import Records
from tamis.engines.units import Ints, Units
from tamis.space.clauses import Clauses

Bools = npt.NDArray[np.bool_]

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
