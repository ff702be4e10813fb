"""Work out each distinct predicate on views and flags once, then write it for all its literals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.groups import distinct_runs, places_of
from tamis.columns.literals import Literals, literal_at
from tamis.columns.rows import predicate_of
from tamis.expression.views import Flag, OnView, View
from tamis.space.cutting.sections import StringCuts
from tamis.space.space import ABSENT_OK, NEGATIVE

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Views = dict[tuple[int, View], int]
Flags = dict[tuple[int, Flag, str], int]


class DerivedEntries(NamedTuple):
    """Entries of literals: ``owner``, ``dimension`` and ``flags`` are parallel, the rest are places.

    ``present`` are the entries that test presence, and ``flag_entries`` the entries that test a flag.
    ``undecided`` literals are always decided by a tree, ``split`` literals only if there are several values.
    """

    owner: Ints
    dimension: Ints
    flags: npt.NDArray[np.uint8]
    strings: StringCuts
    present: Ints
    flag_entries: Ints
    undecided: Truths
    split: Truths


class Derived:
    """The views and flags of a space under construction."""

    def __init__(self, literals: Literals, names: int) -> None:
        self._literals = literals
        self._names = names
        self.views: Views = {}
        self.flags: Flags = {}

    def run(
        self, attribute: Ints, op: Ints, denied: Truths, arg: Ints, arity: Ints, args: npt.NDArray[Any]
    ) -> DerivedEntries:
        """Return the entries of literals; operands are the ``arity`` places in ``args`` from ``arg`` on."""
        number, first = distinct_runs((attribute * 256 + op) * 2 + denied, arg, arity, args)
        forms = _Forms()
        for at in first.tolist():
            operands = args[arg[at] : arg[at] + arity[at]].tolist()
            self._form(forms, int(attribute[at]), int(op[at]), bool(denied[at]), operands)
        return forms.spread(number, self._names + len(self.views))

    def _form(self, forms: _Forms, attribute: int, op: int, denied: bool, places: list[int]) -> None:
        if op & 1 and denied:  # NOT of a negative form on a derived dimension: the tree decides
            forms.end(undecided=True)
            return
        if op & 1:
            forms.add(attribute, 0, present=True)
        negative = (op & 1 == 1) != denied
        operands = [literal_at(self._literals, at) for at in places]
        atoms = predicate_of("", op, operands, 1.0).atoms(denied=negative)
        for atom in atoms:
            flags = NEGATIVE | ABSENT_OK if negative else 0
            if isinstance(atom, OnView):
                forms.add(self._view(attribute, atom.view), flags, ranges=atom.ranges)
            else:
                key = (attribute, atom.flag, atom.pattern)
                forms.add(-1 - self.flags.setdefault(key, len(self.flags)), flags)
        forms.end(split=len(atoms) > 1)

    def _view(self, attribute: int, view: View) -> int:
        if view == View.MAIN:
            return attribute
        return self._names + self.views.setdefault((attribute, view), len(self.views))


class _Forms:
    """The entries of each distinct predicate, one after the other; a dimension below 0 is a flag."""

    def __init__(self) -> None:
        self._dimension: list[int] = []
        self._flags: list[int] = []
        self._present: list[bool] = []
        self._strings = StringCuts()
        self._ends: list[int] = [0]
        self._range_ends: list[int] = [0]
        self._undecided: list[bool] = []
        self._split: list[bool] = []

    def add(self, dimension: int, flags: int, *, present: bool = False, ranges: tuple[Any, ...] = ()) -> None:
        """Add an entry to the current predicate."""
        for low, high in ranges:
            self._strings.add(len(self._dimension), dimension, low, high)
        self._dimension.append(dimension)
        self._flags.append(flags)
        self._present.append(present)
        self._range_ends.append(len(self._strings.entry))

    def end(self, *, undecided: bool = False, split: bool = False) -> None:
        """Complete the current predicate."""
        self._ends.append(len(self._dimension))
        self._undecided.append(undecided)
        self._split.append(split)

    def spread(self, number: Ints, first_flag: int) -> DerivedEntries:
        """Return the entries of literals, which are listed by the numbers of their predicates."""
        ends = np.array(self._ends, np.int64)
        count = np.diff(ends)[number]
        form = places_of(ends[number], count)
        dimension = np.array(self._dimension, np.int64)[form]
        is_flag = dimension < 0
        ranges = np.array(self._range_ends, np.int64)
        range_count = np.diff(ranges)[form]
        return DerivedEntries(
            np.repeat(np.arange(len(number)), count),
            np.where(is_flag, first_flag - 1 - dimension, dimension),
            np.array(self._flags, np.uint8)[form],
            self._strings.spread(
                np.repeat(np.arange(len(form)), range_count), places_of(ranges[form], range_count)
            ),
            np.flatnonzero(np.array(self._present, np.bool_)[form]),
            np.flatnonzero(is_flag),
            np.array(self._undecided, np.bool_)[number],
            np.array(self._split, np.bool_)[number],
        )


NO_ENTRIES = _Forms().spread(np.zeros(0, np.int64), 0)
"""The entries of no predicates at all."""
