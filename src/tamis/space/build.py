"""From the rows of all clauses to a space and clauses in integer form."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.lang.columns.codes import Kind, Op
from tamis.space._kernels import ALWAYS, NEVER, expand_comparisons, merge_ranges, pack_literals
from tamis.space.clauses import (
    ABSENT_OK,
    ALWAYS_REVISE,
    GROUP,
    MOST_GROUPS,
    NEGATIVE,
    REVISE_IF_MULTI,
    Clauses,
)
from tamis.space.dedupe import dedupe
from tamis.space.derived import Derived
from tamis.space.rows import ClauseRows, arg_places
from tamis.space.sections import Sections
from tamis.space.space import Space

Ints = npt.NDArray[np.int64]


def cut(rows: ClauseRows) -> tuple[Space, Clauses]:
    """Cut every attribute into cells and write the clauses as ranges of cells."""
    return _Cutter(rows).run()


class Entries:
    """Integer literals under construction: where they come from, their dimension and flags."""

    def __init__(self) -> None:
        self.literal: list[Ints] = []
        self.dimension: list[Ints] = []
        self.flags: list[npt.NDArray[np.uint8]] = []
        self.count = 0

    def add(self, literal: Any, dimension: Any, flags: Any) -> Ints:
        """Append entries; returns their numbers."""
        self.literal.append(np.asarray(literal, np.int64))
        self.dimension.append(np.asarray(dimension, np.int64))
        self.flags.append(np.asarray(flags, np.uint8))
        first, self.count = self.count, self.count + len(self.literal[-1])
        return np.arange(first, self.count)


class _Cutter:
    def __init__(self, rows: ClauseRows) -> None:
        self.rows = rows
        self.columns = rows.columns
        self.attribute = self.columns.attribute[rows.row].astype(np.int64)
        self.op = self.columns.op[rows.row].astype(np.int64)
        self.arg = arg_places(self.columns)[rows.row]
        self.arity = self.columns.arity[rows.row].astype(np.int64)
        self.entries = Entries()
        self.sections = Sections(self.columns.names, self.columns.literals)
        self.revise = np.where(rows.exact, 0, ALWAYS_REVISE).astype(np.uint8)
        self.clause_of = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))

    def run(self) -> tuple[Space, Clauses]:
        plain = self._plain_mask()
        self._comparisons(np.flatnonzero(plain & (self.op < Op.EXISTS)))
        presence = self._presence(np.flatnonzero(self.op >= Op.EXISTS))
        derived = Derived(self.columns.literals, len(self.columns.names))
        present_too = self._derived(derived, np.flatnonzero(~plain))
        space, ranges = self.sections.finish(derived.views, derived.flags)
        return space, self._clauses(space, ranges, np.concatenate([presence, present_too]))

    def _plain_mask(self) -> npt.NDArray[np.bool_]:
        """Comparisons, IN and presence tests; points compare by flags, so they are not plain."""
        plain = (self.op <= Op.NOT_IN) | (self.op >= Op.EXISTS)
        single = np.flatnonzero(self.op <= Op.NE)
        if len(single):
            kind = self.columns.literals.kind[self.columns.args[self.arg[single]]]
            plain[single[kind == Kind.POINT]] = False
        return plain

    def _flags(self, literal: Ints) -> npt.NDArray[np.uint8]:
        """Polarity on a main dimension of a predicate, negative or under NOT or both."""
        negative = (self.op[literal] & 1) == 1
        denied = self.rows.negated[literal]
        flags: npt.NDArray[np.uint8] = np.where(denied, ABSENT_OK, 0).astype(np.uint8)
        flags |= np.where(negative != denied, NEGATIVE, 0).astype(np.uint8)
        return flags

    def _comparisons(self, literal: Ints) -> None:
        """Ranges of comparisons and BETWEEN, one each, and of IN, one for each value."""
        entry = self.entries.add(literal, self.attribute[literal], self._flags(literal))
        several = (self.op[literal] & ~1) == Op.IN
        count = len(literal) + int((self.arity[literal[several]] - 1).sum())
        items = np.empty((4, count), np.int64)
        after = np.empty((2, count), np.int8)
        expand_comparisons(
            literal, entry, self.op, self.attribute, self.arg, self.arity, self.columns.args, items, after
        )
        self.sections.add(*items, low_after=after[0], high_after=after[1])

    def _presence(self, literal: Ints) -> Ints:
        """IS NOT NULL and IS NULL, under NOT or not: present, or absent."""
        absent = ((self.op[literal] & 1) == 1) != self.rows.negated[literal]
        flags = np.where(absent, NEGATIVE | ABSENT_OK, 0)
        return self.entries.add(literal, self.attribute[literal], flags)

    def _derived(self, derived: Derived, literal: Ints) -> Ints:
        """Predicates on views and flags; returns the entries that ask for presence of the attribute."""
        found = derived.run(
            self.attribute[literal],
            self.op[literal],
            self.rows.negated[literal],
            self.arg[literal],
            self.arity[literal],
            self.columns.args,
        )
        first = self.entries.count
        self.entries.add(literal[found.owner], found.dimension, found.flags)
        self.sections.add_strings(found.strings.moved(first))
        self.sections.add_flags(first + found.flag_entries)
        clause = self.clause_of[literal]
        self.revise[clause[found.undecided]] |= ALWAYS_REVISE
        self.revise[clause[found.split]] |= REVISE_IF_MULTI
        return first + found.present

    def _clauses(self, space: Space, ranges: tuple[Ints, Ints, Ints], whole: Ints) -> Clauses:
        entries = self.entries
        literal = _joined(entries.literal, np.int64)
        dimension = _joined(entries.dimension, np.int64)
        flags = _joined(entries.flags, np.uint8)
        cells = space.cells()
        entry, lo, hi = _merge(*_with_whole(ranges, whole, cells[dimension[whole]]))
        count = np.bincount(entry, minlength=len(literal))
        many = count > 1
        packed = np.empty((len(literal), 4), np.int32)
        fate = np.empty(len(literal), np.uint8)
        pack_literals(dimension, flags, count, lo, hi, cells, packed, fate)
        dead = np.zeros(len(self.rows.start) - 1, np.bool_)
        if self.rows.group.any():
            packed[:, 1] |= self.rows.group[literal].astype(np.int32) << GROUP
            dead[self._settle_groups(literal, fate)] = True
        dead[self.clause_of[literal[fate == NEVER]]] = True
        in_set = many[entry]
        order = np.arange(len(literal)) if _sorted(literal) else np.argsort(literal, kind="stable")
        clause = self.clause_of[literal[order]]
        if fate.any():
            keep = (fate[order] != ALWAYS) & ~dead[clause]
            order, clause = order[keep], clause[keep]
        start = np.zeros(len(dead) - np.count_nonzero(dead) + 1, np.int64)
        np.cumsum(np.bincount(clause, minlength=len(dead))[~dead], out=start[1:])
        return dedupe(
            start,
            packed[order],
            lo[in_set],
            hi[in_set],
            self.revise[~dead],
            self.rows.owner[~dead],
            cells,
        )

    def _settle_groups(self, literal: Ints, fate: npt.NDArray[np.uint8]) -> Ints:
        """Alternatives that never hold are dropped, and groups with one that always does.

        What is dropped is marked ALWAYS. Returns the clauses that have a group without alternatives left.
        """
        entry = np.flatnonzero(self.rows.group[literal])
        number = self.clause_of[literal[entry]] * (MOST_GROUPS + 1) + self.rows.group[literal[entry]]
        groups, group = np.unique(number, return_inverse=True)
        satisfied = np.bincount(group, fate[entry] == ALWAYS, len(groups)) > 0
        left = np.bincount(group, fate[entry] != NEVER, len(groups)) > 0
        fate[entry[(fate[entry] == NEVER) | satisfied[group]]] = ALWAYS
        return np.asarray(groups[~left] // (MOST_GROUPS + 1))


def _joined(parts: list[Any], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts])


def _sorted(numbers: Ints) -> bool:
    return bool(np.all(numbers[1:] >= numbers[:-1]))


def _with_whole(ranges: tuple[Ints, Ints, Ints], whole: Ints, cells: Ints) -> tuple[Ints, Ints, Ints]:
    """Add the range of all present cells for the given entries."""
    entry, lo, hi = ranges
    return (
        np.concatenate([entry, whole]),
        np.concatenate([lo, np.ones(len(whole), np.int64)]),
        np.concatenate([hi, cells]),
    )


def _merge(entry: Ints, lo: Ints, hi: Ints) -> tuple[Ints, Ints, Ints]:
    """Non-empty ranges sorted by (entry, lo), touching ones joined."""
    keep = lo <= hi
    if not keep.all():
        entry, lo, hi = entry[keep], lo[keep], hi[keep]
    if not len(entry):
        return entry, lo, hi
    start = np.zeros(int(entry.max()) + 2, np.int64)
    np.cumsum(np.bincount(entry), out=start[1:])
    out = np.empty((3, len(entry)), np.int64)
    count = merge_ranges(entry, lo, hi, start, out[0], out[1], out[2])
    return out[0, :count], out[1, :count], out[2, :count]
