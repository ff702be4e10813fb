"""Sections: the cells of each type of value, cut for all dimensions at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.lang.columns.codes import Kind
from tamis.lang.columns.literals import Literals, StringColumn, from_arrow, string_column, to_arrow
from tamis.space.cuts import CutSet
from tamis.space.numbers import just_after, split_integers
from tamis.space.space import Space
from tamis.space.views import Flag, View

Ints = npt.NDArray[np.int64]
Ranges = tuple[Ints, Ints, Ints]


class StringCuts:
    """Ranges of byte strings collected one by one, from patterns, prefixes and networks."""

    def __init__(self) -> None:
        self.entry: Any = []
        self.dimension: Any = []
        self.texts: list[bytes] = []
        self.low: Any = []  # 2 * place in texts + side, or -1
        self.high: Any = []

    def spread(self, entry: Ints, chosen: Ints) -> StringCuts:
        """The chosen ranges, in any number, for other entries."""
        cuts = StringCuts()
        cuts.texts, cuts.entry = self.texts, entry
        cuts.dimension, cuts.low, cuts.high = (
            np.array(column, np.int64)[chosen] for column in (self.dimension, self.low, self.high)
        )
        return cuts

    def moved(self, by: int) -> StringCuts:
        """The same ranges for entries numbered ``by`` higher."""
        return self.spread(np.asarray(self.entry, np.int64) + by, np.arange(len(self.entry)))

    def add(self, entry: int, dimension: int, low: Any, high: Any) -> None:
        """A range between two cuts (string, side); ``None`` is unbounded."""
        self.entry.append(entry)
        self.dimension.append(dimension)
        self.low.append(self._cut(low))
        self.high.append(self._cut(high))

    def _cut(self, end: tuple[bytes, int] | None) -> int:
        if end is None:
            return -1
        self.texts.append(end[0])
        return 2 * (len(self.texts) - 1) + end[1]


class Sections:
    """Collects ranges by type of operand; ``finish`` cuts and numbers the cells."""

    def __init__(self, names: tuple[str, ...], literals: Literals) -> None:
        self.names = names
        self.attributes = len(names)
        self.literals = literals
        self.items: tuple[Any, ...] = ()
        self._kinds = np.zeros(0, np.uint8)  # of the items' operands
        self.strings = StringCuts()
        self.flags = np.zeros(0, np.int64)

    def add(
        self,
        entry: Ints,
        dimension: Ints,
        low: Ints,
        high: Ints,
        *,
        low_after: npt.NDArray[np.int8],
        high_after: npt.NDArray[np.int8],
    ) -> None:
        """Ranges between literals (-1: unbounded); ``*_after``: the cut lies just after the literal."""
        self.items = (entry, dimension, low, high, low_after, high_after)
        self._kinds = self.literals.kind[np.where(low >= 0, low, high)] if len(low) else self._kinds

    def add_strings(self, strings: StringCuts) -> None:
        """Ranges between byte strings, on attributes or views."""
        self.strings = strings

    def add_flags(self, entries: Ints) -> None:
        """Entries that ask for a flag."""
        self.flags = entries

    def finish(
        self, views: dict[tuple[int, View], int], flags: dict[tuple[int, Flag, str], int]
    ) -> tuple[Space, Ranges]:
        """The space, and every range as (entry, lowest cell, highest cell)."""
        dimensions = self.attributes + len(views)
        number = _cut_keys(self._select(Kind.INT, Kind.FLOAT), *_number_keys(self.literals), dimensions)
        time = _cut_keys(self._select(Kind.TIME), *_time_keys(self.literals), dimensions)
        text = _TextSection(self, dimensions)
        boolean = self._select(Kind.BOOLEAN)
        is_view = np.arange(dimensions) >= self.attributes
        bases, cells = _layout(
            [number.width, time.width, text.section.width, _width(boolean[1], dimensions, 2)], is_view
        )
        space = Space(
            string_column(list(self.names)),
            cells,
            *_number_cuts(number),
            bases[0],
            time.cuts.start,
            time.values[0][time.cuts.key] if len(time.cuts.key) else np.zeros(0, np.int64),
            bases[1],
            *text.columns(),
            bases[2],
            bases[3],
            np.array([attribute for attribute, _ in views], np.int64),
            np.array([view for _, view in views], np.uint8),
            np.array([attribute for attribute, _, _ in flags], np.int64),
            np.array([flag for _, flag, _ in flags], np.uint8),
            string_column([pattern for _, _, pattern in flags]),
        )
        ones = np.ones(len(self.flags), np.int64)
        parts = [
            number.ranges(bases[0]),
            time.ranges(bases[1]),
            text.section.ranges(bases[2]),
            _boolean_ranges(boolean, self.literals, bases[3]),
            (self.flags, ones, ones),
        ]
        return space, tuple(np.concatenate([part[i] for part in parts]) for i in range(3))  # type: ignore[return-value]

    def _select(self, *kinds: Kind) -> tuple[Any, ...]:
        """The items whose operands are of the given kinds."""
        if not self.items:
            return tuple(np.zeros(0, np.int64) for _ in range(6))
        chosen = np.flatnonzero(np.isin(np.arange(256), kinds)[self._kinds])
        if len(chosen) == len(self._kinds):
            return self.items
        return tuple(column[chosen] for column in self.items)


class _Section:
    """One type of value: its cuts, its width per dimension, and its ranges."""

    def __init__(
        self, entry: Ints, dimension: Ints, low: Ints, high: Ints, values: Any, keys: int, dimensions: int
    ) -> None:
        self.entry, self.dimension, self.low, self.high, self.values = entry, dimension, low, high, values
        self.cuts = CutSet(dimension, low, high, dimensions, keys)
        self.width = _width(dimension, dimensions, np.diff(self.cuts.start) + 1)

    def ranges(self, base: Ints) -> Ranges:
        """Cells of every range, numbered from each dimension's ``base``."""
        has_low, has_high = self.low >= 0, self.high >= 0
        lo = np.zeros(len(self.entry), np.int64)
        hi = np.diff(self.cuts.start)[self.dimension]
        lo[has_low] = self.cuts.place(self.dimension[has_low], self.low[has_low]) + 1
        hi[has_high] = self.cuts.place(self.dimension[has_high], self.high[has_high])
        first = base[self.dimension]
        return self.entry, first + lo, first + hi


def _width(dimension: Ints, dimensions: int, width: Any) -> Ints:
    """``width`` for the dimensions that occur, 0 for the others."""
    used = np.bincount(dimension, minlength=dimensions) > 0
    return np.where(used, width, 0)


def _layout(widths: list[Ints], is_view: npt.NDArray[np.bool_]) -> tuple[list[Ints], Ints]:
    """Where each section begins (0: none) and how many cells each dimension has."""
    bases, following = [], np.ones(len(is_view), np.int64)
    for width in widths:
        bases.append(np.where(width > 0, following, 0))
        following = following + width
    return bases, following - is_view  # an attribute ends with the cell of other types


def _cut_keys(items: tuple[Ints, ...], before: Ints, after: Ints, values: Any, dimensions: int) -> _Section:
    """A section from literals: their cuts are ranks in a list of sorted values."""
    entry, dimension, low, high, low_after, high_after = items
    low_key = np.where(low < 0, -1, np.where(low_after == 1, after[low], before[low])) if len(low) else low
    high_key = (
        np.where(high < 0, -1, np.where(high_after == 1, after[high], before[high])) if len(low) else high
    )
    return _Section(entry, dimension, low_key, high_key, values, len(values[0]), dimensions)


def _number_keys(literals: Literals) -> tuple[Ints, Ints, Any]:
    """For every literal the ranks of its number and of the next number, and the sorted numbers."""
    ints, floats = literals.kind == Kind.INT, literals.kind == Kind.FLOAT
    floor, rest = np.zeros(len(literals.kind)), np.zeros(len(literals.kind), np.int64)
    floor[ints], rest[ints] = split_integers(literals.bits[ints])
    floor[floats] = literals.bits[floats].view(np.float64)
    chosen = np.flatnonzero(ints | floats)
    next_floor, next_rest = just_after(floor[chosen], rest[chosen])
    all_floor = np.concatenate([floor[chosen], next_floor])
    all_rest = np.concatenate([rest[chosen], next_rest])
    order = np.lexsort((all_rest, all_floor)) if all_rest.any() else np.argsort(all_floor, kind="stable")
    all_floor, all_rest = all_floor[order], all_rest[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (all_floor[1:] != all_floor[:-1]) | (all_rest[1:] != all_rest[:-1])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(fresh) - 1
    before, after = np.zeros(len(literals.kind), np.int64), np.zeros(len(literals.kind), np.int64)
    before[chosen], after[chosen] = rank[: len(chosen)], rank[len(chosen) :]
    return before, after, (all_floor[fresh], all_rest[fresh])


def _number_cuts(section: _Section) -> tuple[npt.NDArray[np.float64], Ints, Ints, Any]:
    """The numbers that some dimension is cut at, and the cuts of each dimension as places there."""
    floor, rest = section.values
    used = np.zeros(len(floor), np.bool_)
    used[section.cuts.key] = True
    rests = rest[used]
    place = np.cumsum(used) - 1
    word = np.uint16 if len(rests) < 1 << 16 else np.uint32
    cuts = place[section.cuts.key].astype(word)
    return floor[used], (rests if rests.any() else rests[:0]), section.cuts.start, cuts


def _time_keys(literals: Literals) -> tuple[Ints, Ints, Any]:
    chosen = np.flatnonzero(literals.kind == Kind.TIME)
    moments = literals.bits[chosen]
    values, rank = np.unique(np.concatenate([moments, moments + 1]), return_inverse=True)
    before, after = np.zeros(len(literals.kind), np.int64), np.zeros(len(literals.kind), np.int64)
    before[chosen], after[chosen] = rank[: len(chosen)], rank[len(chosen) :]
    return before, after, (values,)


def _boolean_ranges(items: tuple[Ints, ...], literals: Literals, base: Ints) -> Ranges:
    """False is the first cell of its section, true the second."""
    entry, dimension, low, _, _, _ = items
    cell = base[dimension] + (literals.bits[low] if len(low) else low)
    return entry, cell, cell


class _TextSection:
    """Strings of all ordered dimensions: literals of comparisons and the strings of patterns."""

    def __init__(self, sections: Sections, dimensions: int) -> None:
        entry, dimension, low, high, low_after, high_after = sections._select(Kind.STRING)
        extra = sections.strings
        mentioned = np.zeros(len(sections.literals.kind) + 1, np.bool_)
        mentioned[low] = mentioned[high] = True
        used = np.flatnonzero(mentioned[:-1])  # the last place stands for -1, no bound
        texts = _binary(sections.literals, used, extra.texts)
        self.sorted = pc.unique(texts)
        self.sorted = self.sorted.take(pc.sort_indices(self.sorted))
        rank = pc.index_in(texts, value_set=self.sorted).to_numpy(zero_copy_only=False).astype(np.int64)
        literal_rank = np.zeros(len(sections.literals.kind) + 1, np.int64)
        literal_rank[used] = rank[: len(used)]
        extra_rank = np.append(rank[len(used) :], 0)
        extra_low, extra_high = np.array(extra.low, np.int64), np.array(extra.high, np.int64)
        self.section = _Section(
            np.concatenate([entry, np.array(extra.entry, np.int64)]),
            np.concatenate([dimension, np.array(extra.dimension, np.int64)]),
            np.concatenate(
                [_keys(low, literal_rank, low_after), _keys(extra_low >> 1, extra_rank, extra_low & 1)]
            ),
            np.concatenate(
                [_keys(high, literal_rank, high_after), _keys(extra_high >> 1, extra_rank, extra_high & 1)]
            ),
            None,
            2 * len(self.sorted),
            dimensions,
        )

    def columns(self) -> tuple[Ints, StringColumn, Ints, npt.NDArray[np.uint8]]:
        """Per dimension the sorted strings, the cuts before each, and the sides it is cut at."""
        cuts = self.section.cuts
        rank, side = cuts.key >> 1, cuts.key & 1
        fresh = np.ones(len(rank), np.bool_)
        fresh[1:] = (np.diff(rank) != 0) | (np.diff(cuts.dimension) != 0)
        group = np.cumsum(fresh) - 1
        first = np.flatnonzero(fresh)
        dimension = cuts.dimension[first]
        sides = np.zeros(len(first), np.uint8)
        np.bitwise_or.at(sides, group, (1 << side).astype(np.uint8))
        start = np.searchsorted(dimension, np.arange(len(cuts.start))).astype(np.int64)
        return (
            start,
            from_arrow(self.sorted.take(pa.array(rank[first]))),
            first - cuts.start[dimension],
            sides,
        )


def _keys(place: Ints, rank: Ints, side: Ints) -> Ints:
    return np.where(place < 0, -1, 2 * rank[place] + side)


def _binary(literals: Literals, used: Ints, extra: list[bytes]) -> pa.Array:
    """The used string literals followed by the extra ones, as one binary array."""
    chosen = to_arrow(literals.strings).take(pa.array(literals.bits[used]))
    return pa.concat_arrays([chosen, pa.array(extra, pa.large_binary())])
