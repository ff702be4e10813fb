"""Turn the rows of all clauses into a space and clauses in integer form; equal clauses are kept once."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import IS_COMPARISON, IS_PRESENCE, NOT_EQUAL, Kind
from tamis.columns.rows import MOST_GROUPS, ClauseRows
from tamis.space.cutting._kernels import (
    ALWAYS,
    NEVER,
    collect_owners,
    copy_clauses,
    hash_clauses,
    merge_ranges,
    number_groups,
    pack_comparisons,
    pack_literals,
    same_as_previous,
)
from tamis.space.cutting.sections import Below, Ranges, Sections
from tamis.space.derived import NO_ENTRIES, Derived, DerivedEntries, Flags, Views
from tamis.space.space import (
    ABSENT_OK,
    ALWAYS_REVISE,
    GROUP,
    MANY,
    NEGATIVE,
    REVISE_IF_MULTI,
    Clauses,
    Comparisons,
    Space,
    arg_places,
)

Ints = npt.NDArray[np.int64]


def dedupe(
    start: Ints,
    literal: npt.NDArray[np.int32],
    set_lo: npt.NDArray[np.int32],
    set_hi: npt.NDArray[np.int32],
    revise: npt.NDArray[np.uint8],
    owner: Ints,
    cells: Ints,
) -> Clauses:
    """Return the distinct clauses with the owners of each, in the narrowest integers that hold them.

    ``literal`` is overwritten: the result may use its memory.
    """
    digest = np.empty(len(start) - 1, np.uint64)
    hash_clauses(start, literal, set_lo, set_hi, revise, digest)
    order = np.argsort(digest)
    same = np.zeros(len(order), np.bool_)
    same_as_previous(order, digest, start, literal, set_lo, set_hi, revise, same)
    word = _word(set_lo, cells)
    if same.any():
        start, literal, revise, owner_start, owner = _without_copies(
            order, same, start, literal, revise, owner, word
        )
    else:
        owner_start = np.arange(len(owner) + 1)
    return Clauses(
        start.astype(np.uint32),
        _narrow(literal, word),
        _narrow(set_lo, word),
        _narrow(set_hi, word),
        revise,
        owner_start.astype(np.uint32),
        owner.astype(np.uint32),
        cells.astype(np.uint32),
    )


def _without_copies(
    order: Ints, same: Any, start: Ints, literal: Any, revise: Any, owner: Ints, word: Any
) -> tuple[Ints, Any, Any, Ints, Ints]:
    """Return the first clause of every group of equal clauses, with the owners of the group.

    The clauses keep their order. It matters for speed: ranges of sets stand in the order of the clauses, too.
    """
    group = np.empty(len(order), np.int64)
    count = number_groups(order, same, group)
    leads, new_start = np.empty(count, np.int64), np.empty(count + 1, np.int64)
    # Clauses only move forward, so they can be copied within their own memory.
    kept = np.empty((len(literal), 4), word) if word is np.uint16 else literal
    kept = kept[: copy_clauses(group, start, literal, leads, new_start, kept)]
    size = np.bincount(group, minlength=count)
    first = np.cumsum(size) - size
    owner_start, owners = np.append(first, len(owner)), np.empty_like(owner)
    collect_owners(group, owner, first, owners)
    return new_start, kept, revise[leads], owner_start, owners


def _word(sets: npt.NDArray[Any], cells: Ints) -> type[np.unsignedinteger[Any]]:
    """Return the narrowest word for dimensions, cells and places in sets."""
    largest = max(len(sets), len(cells), int(cells.max(initial=0)))
    return np.uint16 if largest < 0xFFFF else np.uint32


def _narrow(numbers: npt.NDArray[Any], word: Any) -> npt.NDArray[Any]:
    """Return non-negative 32-bit numbers in a word, without a copy if the word has 32 bits, too."""
    return numbers.view(word) if word is np.uint32 else numbers.astype(word, copy=False)


def cut(rows: ClauseRows) -> tuple[Space, Clauses]:
    """Cut every attribute into cells and write the clauses as ranges of cells."""
    return _Cutter(rows).run()


class _Cutter:
    def __init__(self, rows: ClauseRows) -> None:
        self.rows = rows
        self.columns = rows.columns
        self.arg = arg_places(self.columns)
        self.revise = np.where(rows.exact, 0, ALWAYS_REVISE).astype(np.uint8)

    @cached_property
    def clause_of(self) -> Ints:
        """The clause of each literal."""
        return np.repeat(np.arange(len(self.rows.start) - 1), np.diff(self.rows.start))

    def run(self) -> tuple[Space, Clauses]:
        op = self.columns.op[self.rows.row]
        plain = self._plain_mask(op)
        compared = np.flatnonzero(plain & IS_COMPARISON[op])
        others = Others(self._presence(np.flatnonzero(IS_PRESENCE[op])))
        views, flags, found = self._derived(np.flatnonzero(~plain), others)
        comparisons = self._comparisons(compared)
        names, literals = self.columns.names, self.columns.literals
        sections = Sections(names, literals, comparisons, found.strings, len(views))
        space, below = sections.finish(views, flags)
        cells = space.cells()
        first = self._pack_comparisons(compared, comparisons, sections, below, cells)
        if not others.count:
            return space, self._clauses(compared, first, cells)
        second = others.pack(sections.string_ranges(below), cells)
        return space, self._clauses(
            np.concatenate([compared, others.literal]), first.followed_by(second), cells
        )

    def _plain_mask(self, op: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Return which literals are comparisons, IN or presence tests; points compare by flags instead."""
        plain: npt.NDArray[np.bool_] = IS_COMPARISON[op] | IS_PRESENCE[op]
        points = self.columns.literals.kind == Kind.POINT
        if points.any():
            single = np.flatnonzero(op <= NOT_EQUAL)
            plain[single[points[self.columns.args[self.arg[self.rows.row[single]]]]]] = False
        return plain

    def _comparisons(self, literal: Ints) -> Comparisons:
        columns = self.columns
        row = _chosen(self.rows.row, literal)
        return Comparisons(row, columns.op, columns.attribute, self.arg, columns.arity, columns.args)

    def _pack_comparisons(
        self, literal: Ints, comparisons: Comparisons, sections: Sections, below: Below, cells: Ints
    ) -> Packed:
        """Return the cells of comparisons and BETWEEN (one range each) and of IN (one for each value)."""
        packed = np.empty((len(literal), 4), np.int32)
        fate = np.empty(len(literal), np.uint8)
        set_lo, set_hi = np.empty((2, sections.cuts.members + 1), np.int32)
        keys, negated = sections.keys, _chosen(self.rows.negated, literal)
        count = pack_comparisons(
            *comparisons, keys.of_literal, keys.total, *below, negated, cells, packed, fate, set_lo, set_hi
        )
        return Packed(packed, fate, set_lo[:count], set_hi[:count])

    def _presence(self, literal: Ints) -> tuple[Ints, Ints, Ints]:
        """Return IS NOT NULL and IS NULL, under NOT or not, as tests for present or absent."""
        row = self.rows.row[literal]
        absent = ((self.columns.op[row] & 1) == 1) != self.rows.negated[literal]
        return literal, self.columns.attribute[row], np.where(absent, NEGATIVE | ABSENT_OK, 0)

    def _derived(self, literal: Ints, others: Others) -> tuple[Views, Flags, DerivedEntries]:
        """Find the views and flags that predicates need, and add the entries on them to ``others``."""
        if not len(literal):
            return {}, {}, NO_ENTRIES
        derived = Derived(self.columns.literals, len(self.columns.names))
        row = self.rows.row[literal]
        found = derived.run(
            self.columns.attribute[row].astype(np.int64),
            self.columns.op[row].astype(np.int64),
            self.rows.negated[literal],
            self.arg[row],
            self.columns.arity[row].astype(np.int64),
            self.columns.args,
        )
        others.add(literal, found)
        clause = self.clause_of[literal]
        self.revise[clause[found.undecided]] |= ALWAYS_REVISE
        self.revise[clause[found.split]] |= REVISE_IF_MULTI
        return derived.views, derived.flags, found

    def _clauses(self, literal: Ints, entries: Packed, cells: Ints) -> Clauses:
        packed, fate, set_lo, set_hi = entries
        rows, start = self.rows, self.rows.start
        dead = np.zeros(len(start) - 1, np.bool_)
        if rows.group.any():
            packed[:, 1] |= rows.group[literal].astype(np.int32) << GROUP
            dead[self._settle_groups(literal, fate)] = True
        if fate.any() or len(literal) != start[-1] or not _rising(literal):
            dead[self.clause_of[literal[fate == NEVER]]] = True
            order = np.argsort(literal, kind="stable")
            clause = self.clause_of[literal[order]]
            keep = (fate[order] != ALWAYS) & ~dead[clause]
            packed, clause = packed[order[keep]], clause[keep]
            start = np.zeros(len(dead) - np.count_nonzero(dead) + 1, np.int64)
            np.cumsum(np.bincount(clause, minlength=len(dead))[~dead], out=start[1:])
        return dedupe(start, packed, set_lo, set_hi, self.revise[~dead], rows.owner[~dead], cells)

    def _settle_groups(self, literal: Ints, fate: npt.NDArray[np.uint8]) -> Ints:
        """Drop alternatives that never hold, and groups with an alternative that always holds.

        Dropped literals are marked ALWAYS. Return the clauses that have a group without alternatives left.
        """
        entry = np.flatnonzero(self.rows.group[literal])
        number = self.clause_of[literal[entry]] * (MOST_GROUPS + 1) + self.rows.group[literal[entry]]
        groups, group = np.unique(number, return_inverse=True)
        satisfied = np.bincount(group, fate[entry] == ALWAYS, len(groups)) > 0
        left = np.bincount(group, fate[entry] != NEVER, len(groups)) > 0
        fate[entry[(fate[entry] == NEVER) | satisfied[group]]] = ALWAYS
        return np.asarray(groups[~left] // (MOST_GROUPS + 1))


class Packed(NamedTuple):
    """Integer literals (see ``Clauses``), the fate of each, and the ranges of their sets."""

    literal: npt.NDArray[np.int32]
    fate: npt.NDArray[np.uint8]
    set_lo: npt.NDArray[np.int32]
    set_hi: npt.NDArray[np.int32]

    def followed_by(self, more: Packed) -> Packed:
        """Return both packs, one after the other."""
        more.literal[(more.literal[:, 1] & MANY) != 0, 2] += len(self.set_lo)
        pairs: Any = zip(self, more, strict=True)
        return Packed(*map(np.concatenate, pairs))


class Others:
    """Integer literals that are not comparisons: their origin, dimension and flags."""

    def __init__(self, presence: tuple[Ints, Ints, Ints]) -> None:
        self.literal, self._dimension, self._flags = presence
        self._first = len(self.literal)  # the number of literals before those on views and flags
        self._whole = np.arange(self._first)  # literals that test the presence of the attribute
        self._flagged = np.zeros(0, np.int64)

    @property
    def count(self) -> int:
        """The number of literals."""
        return len(self.literal)

    def add(self, literal: Ints, found: DerivedEntries) -> None:
        """Add entries on views and flags, whose owners are places in ``literal``."""
        self.literal = np.concatenate([self.literal, literal[found.owner]])
        self._dimension = np.concatenate([self._dimension, found.dimension])
        self._flags = np.concatenate([self._flags, found.flags])
        self._whole = np.concatenate([self._whole, self._first + found.present])
        self._flagged = self._first + found.flag_entries

    def pack(self, strings: Ranges, cells: Ints) -> Packed:
        """Return all literals as integers; ``strings`` are the ranges of the literals on views."""
        dimension, ones = self._dimension.astype(np.int64), np.ones(self.count, np.int64)
        entry = np.concatenate([strings[0] + self._first, self._flagged, self._whole])
        lo = np.concatenate([strings[1], ones[: len(self._flagged) + len(self._whole)]])
        hi = np.concatenate([strings[2], ones[: len(self._flagged)], cells[dimension[self._whole]]])
        entry, lo, hi = _merge(entry, lo, hi)
        count = np.bincount(entry, minlength=self.count)
        packed, fate = np.empty((self.count, 4), np.int32), np.empty(self.count, np.uint8)
        pack_literals(dimension, self._flags.astype(np.uint8), count, lo, hi, cells, packed, fate)
        in_set = (count > 1)[entry]
        return Packed(packed, fate, lo[in_set].astype(np.int32), hi[in_set].astype(np.int32))


def _chosen(values: npt.NDArray[Any], places: Ints) -> npt.NDArray[Any]:
    """Return ``values`` at rising places, without a copy if the places are all of them."""
    return values if len(places) == len(values) else values[places]


def _rising(numbers: Ints) -> bool:
    return bool(np.all(numbers[1:] > numbers[:-1]))


def _merge(entry: Ints, lo: Ints, hi: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the non-empty ranges sorted by (entry, lo), touching ranges joined."""
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
