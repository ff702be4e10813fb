"""Locate the values of each attribute as (dimension, lowest cell, highest cell)."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.expression.views import Flag, View, view_key
from tamis.space._kernels import locate_numbers, locate_strings
from tamis.space.flags import StringTable, shape_table, string_tables
from tamis.space.located import Part
from tamis.space.names import NameTable, string_buffers
from tamis.space.numbers import split_integers
from tamis.space.shapes import Shapes
from tamis.space.space import Space
from tamis.space.terms import Terms
from tamis.values.value import Interval, Point, Value, family, micros_of

Entry = tuple[int, int, int]
Ints = npt.NDArray[np.int64]
Locate = Callable[[str], tuple[Entry, ...]]  # the entries of a string

MEMO_STRINGS = 16_384  # strings remembered per attribute
MEMO_LENGTH = 256  # longer strings are located anew each time
_LARGEST = sys.float_info.max
_LATEST = micros_of(datetime.max.replace(tzinfo=UTC))


class AttributeLocator:
    """A locator of the values of one attribute."""

    def __init__(self, space: Space, attribute: int, flags: list[tuple[Flag, str, int]]) -> None:
        self.dimension = attribute
        self.other = int(space.ordered_cells[attribute])
        self.time_base = int(space.time_base[attribute])
        self.boolean_base = int(space.boolean_base[attribute])
        self._space = space
        self._flags = flags
        chosen = np.flatnonzero(space.view_attribute == attribute)
        self._views = [(View.MAIN, attribute)] if space.string_base[attribute] else []
        self._views += [(View(space.view_kind[at]), space.attributes + int(at)) for at in chosen]
        # Without a section for numbers there are no cuts, and every number lies in the last cell.
        self.number_base = int(space.number_base[attribute]) or self.other
        self.number_cuts = self._read_number_cuts()
        self._times: list[int] | None = None
        self._tables: list[StringTable] | None = None
        self._shapes: Shapes | None = None
        self.has_terms = any(kind in (Flag.TERM, Flag.TEXT) for kind, _, _ in flags)
        self.memo: dict[str, tuple[Entry, ...]] = {}
        self._beside: dict[str, tuple[Entry, ...]] = {}  # without the flags of terms
        self.booleans = tuple(((attribute, cell, cell),) for cell in map(self.boolean, (False, True)))

    def _read_number_cuts(self) -> list[Any]:
        """Return the cuts as Python numbers, which compare exactly across int and float."""
        low, high = self._space.number_start[self.dimension : self.dimension + 2]
        places = self._space.number_cut[low:high]
        cuts: list[Any] = self._space.number_values[places].tolist()
        if len(self._space.number_rest):
            rests = self._space.number_rest[places].tolist()
            cuts = [int(cut) + rest if rest else cut for cut, rest in zip(cuts, rests, strict=True)]
        return cuts

    def _time_cuts(self) -> list[int]:
        if self._times is None:
            low, high = self._space.time_start[self.dimension : self.dimension + 2]
            self._times = self._space.time_cut[low:high].tolist()
        return self._times

    def number(self, value: float) -> int:
        """Return the cell of a number."""
        return self.number_base + bisect_right(self.number_cuts, value)

    def numbers(self, floor: npt.NDArray[np.float64], rest: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the cells of numbers given as (floor, rest)."""
        return locate_all(self._space, np.full(len(floor), self.dimension), floor, rest)

    def integers(self, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the cells of integers; if they lie close together, each value is searched only once."""
        least, span = _span(values)
        if span >= len(values):
            return self.numbers(*split_integers(values))
        table = self.numbers(*split_integers(least + np.arange(span + 1)))
        return table[values - least]

    def number_parts(self, owner: Ints, floor: npt.NDArray[np.float64], rest: Ints) -> list[Part]:
        """Return the entries of numbers given as (floor, rest)."""
        return self._parts(owner, self.numbers(floor, rest))

    def integer_parts(self, owner: Ints, values: Ints) -> list[Part]:
        """Return the entries of integers."""
        return self._parts(owner, self.integers(values))

    def _parts(self, owner: Ints, cells: npt.NDArray[np.int32]) -> list[Part]:
        return [(owner, np.full(len(owner), self.dimension, np.int32), cells, cells)]

    def time(self, value: datetime) -> int:
        """Return the cell of a time."""
        if not self.time_base:
            return self.other
        return self.time_base + bisect_right(self._time_cuts(), micros_of(value))

    def boolean(self, value: bool) -> int:
        """Return the cell of a boolean."""
        return self.boolean_base + value if self.boolean_base else self.other

    def string(self, text: str) -> tuple[Entry, ...]:
        """Return all entries of a string, on the main dimension, views and flags."""
        found = self.memo.get(text)
        if found is None:
            found = _remembered(self.memo, text, self._locate_string(text, self.tables()))
        return found

    def _locate_string(self, text: str, tables: list[StringTable]) -> list[Entry]:
        entries = self._ordered_entries(text)
        for table in tables:
            entries.extend((dimension, 1, 1) for dimension in table.find(text))
        return entries

    def texts(self, owner: Ints, strings: Any) -> tuple[list[Part], Locate | None]:
        """Return the entries of Arrow strings that are found at once, and a function for all other entries.

        Instead of a function return ``None`` if there are no others.
        """
        tables = self.tables()
        terms = tables[-1].texts() if tables and isinstance(tables[-1], Terms) else None
        if terms is None:
            return [], self.string
        count, dimension = terms.find(*string_buffers(strings))
        ones = np.ones(len(dimension), np.int32)
        parts: list[Part] = [(np.repeat(owner, count), dimension, ones, ones)]
        if self._views or len(tables) > 1:
            return parts, self._beside_terms
        other = np.full(len(owner), self.other, np.int32)
        return [(owner, np.full(len(owner), self.dimension, np.int32), other, other), *parts], None

    def _beside_terms(self, text: str) -> tuple[Entry, ...]:
        """Return all entries of a string but for the flags of its terms."""
        found = self._beside.get(text)
        if found is None:
            found = _remembered(self._beside, text, self._locate_string(text, self.tables()[:-1]))
        return found

    def _ordered_entries(self, text: str) -> list[Entry]:
        entries: list[Entry] = []
        if not self._space.string_base[self.dimension]:
            entries.append((self.dimension, self.other, self.other))
        for view, dimension in self._views:
            key = view_key(view, text)
            if key is not None:
                cell = self.string_cell(dimension, key)
                entries.append((dimension, cell, cell))
        return entries

    def tables(self) -> list[StringTable]:
        """Return the flag tables for strings, made on first use."""
        if self._tables is None:
            self._tables = string_tables(self._flags) if self._flags else []
        return self._tables

    def string_cell(self, dimension: int, key: bytes) -> int:
        """Return the cell of a string (given as its view's key) in an ordered dimension."""
        space = self._space
        out = np.empty(1, np.int64)
        start = np.array([0, len(key)], np.int64)
        body = np.frombuffer(key, np.uint8)
        locate_strings(
            space.string_start[dimension],
            space.string_start[dimension + 1],
            start,
            body,
            space.strings.start,
            space.strings.data,
            space.string_before,
            space.string_sides,
            out,
        )
        return int(space.string_base[dimension]) + int(out[0])

    def shapes(self) -> Shapes:
        """Return the flag table for points, made on first use."""
        if self._shapes is None:
            self._shapes = shape_table(self._flags)
        return self._shapes

    def points(self, owner: Ints, lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64]) -> list[Part]:
        """Return the entries of points, which have no place on the main dimension but may set flags."""
        other = np.full(len(owner), self.other, np.int32)
        which, dimension = self.shapes().find(lon, lat)
        ones = np.ones(len(which), np.int32)
        return [
            (owner, np.full(len(owner), self.dimension, np.int32), other, other),
            (owner[which], dimension.astype(np.int32), ones, ones),
        ]

    def point(self, value: Point) -> tuple[list[int], list[int]]:
        """Return the dimensions and cells of one point."""
        _, found = self.shapes().find(np.array([value.lon]), np.array([value.lat]))
        flags = found.tolist()
        return [self.dimension, *flags], [self.other, *[1] * len(flags)]

    def value(self, value: Value) -> list[Entry] | tuple[Entry, ...]:
        """Return the entries of any clean value."""
        kind = type(value)
        if kind is str:
            return self.string(value)  # type: ignore[arg-type]
        if kind is Point:
            return [(d, cell, cell) for d, cell in zip(*self.point(value), strict=True)]  # type: ignore[arg-type]
        if kind is Interval:
            return [self.interval(value)]  # type: ignore[arg-type]
        if kind is bool:
            cell = self.boolean(value)  # type: ignore[arg-type]
        elif kind is datetime:
            cell = self.time(value)  # type: ignore[arg-type]
        else:
            cell = self.number(value)  # type: ignore[arg-type]
        return [(self.dimension, cell, cell)]

    def interval(self, value: Interval) -> Entry:
        """Return the range of cells that a (clean) interval touches on the main dimension."""
        end: Any = value.low if value.low is not None else value.high
        base, width, low, high = {
            "number": self._number_interval,
            "time": self._time_interval,
            "string": self._string_interval,
        }[family(end)](value)
        if not base:
            return self.dimension, self.other, self.other
        first = base + (0 if value.low is None else low)
        last = base + (width if value.high is None else high)
        return self.dimension, first, last

    def _number_interval(self, value: Interval) -> tuple[int, int, int, int]:
        cuts = self.number_cuts
        return self._ordered(self.number_base, cuts, value, value.low, value.high, _LARGEST)

    def _time_interval(self, value: Interval) -> tuple[int, int, int, int]:
        low = None if value.low is None else micros_of(value.low)  # type: ignore[arg-type]
        high = None if value.high is None else micros_of(value.high)  # type: ignore[arg-type]
        return self._ordered(self.time_base, self._time_cuts(), value, low, high, _LATEST)

    @staticmethod
    def _ordered(
        base: int, cuts: list[Any], value: Interval, low: Any, high: Any, greatest: Any
    ) -> tuple[int, int, int, int]:
        """Return the base, the last cell and the cells of the two ends.

        Without a bound an interval ends at the ``greatest`` value; a cut above it has nothing beyond.
        """
        first = 0 if low is None else bisect_right(cuts, low)
        last = 0 if high is None else (bisect_left if value.high_open else bisect_right)(cuts, high)
        return base, bisect_right(cuts, greatest), first, last

    def _string_interval(self, value: Interval) -> tuple[int, int, int, int]:
        base = int(self._space.string_base[self.dimension])
        if not base:
            return 0, 0, 0, 0
        low = 0 if value.low is None else self.string_cell(self.dimension, value.low.encode()) - base  # type: ignore[union-attr]
        high = 0
        if value.high is not None:
            key = value.high.encode()  # type: ignore[union-attr]
            if value.high_open and key.endswith(b"\0"):
                # The greatest string below 'a\0' is 'a', and a cut may stand between the two.
                high = self.string_cell(self.dimension, key[:-1]) - base
            else:
                high = self.string_cell(self.dimension, key) - base
                high -= self._cut_before(key) if value.high_open else 0
        return base, self._string_cut_count(), low, high

    def _cut_before(self, key: bytes) -> int:
        """Return 1 if the dimension is cut just before exactly this string, else 0."""
        space = self._space
        low, high = (int(x) for x in space.string_start[self.dimension : self.dimension + 2])
        strings = space.strings
        at = bisect_left(range(low, high), key, key=lambda i: strings.raw(i)) + low
        return int(at < high and strings.raw(at) == key and space.string_sides[at] & 1)

    def _string_cut_count(self) -> int:
        space = self._space
        low, high = (int(x) for x in space.string_start[self.dimension : self.dimension + 2])
        if low == high:
            return 0
        sides = int(space.string_sides[high - 1])
        return int(space.string_before[high - 1]) + (sides & 1) + (sides >> 1)


def locate_all(
    space: Space,
    dimension: npt.NDArray[np.int64],
    floor: npt.NDArray[np.float64],
    rest: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]:
    """Return the cells of numbers, each given by its dimension and as (floor, rest)."""
    cells = np.empty(len(floor), np.int32)
    locate_numbers(
        dimension,
        floor,
        rest,
        space.number_values,
        space.number_rest,
        space.number_start,
        space.number_cut,
        space.number_base,
        space.ordered_cells,
        cells,
    )
    return cells


class Places(dict[str, int]):
    """The numbers of attributes by name; -1 for any other name."""

    def __missing__(self, name: object) -> int:
        return -1


class Locators:
    """The locators of a space by attribute name, each made when first needed."""

    word: type[np.signedinteger[Any]] = np.int32  # of dimensions and cells
    age: ClassVar[int] = 0  # the number of times that ``places`` has changed: a space has all attributes

    def __init__(self, space: Space) -> None:
        self.space = space
        self.places = Places({name: at for at, name in enumerate(space.names.to_list())})
        self.made: dict[str, AttributeLocator] = {}
        self._flag_rows: dict[int, list[int]] | None = None
        self._table: NameTable | None = None

    def dimensions(self, keys: Any, longest: int) -> Ints | None:
        """Return the attributes that Arrow strings name, -1 for other names; see ``NameTable.find``."""
        return self.names().find(keys, longest)

    def names(self) -> NameTable:
        """Return the hash table of names, made on first use."""
        if self._table is None:
            self._table = NameTable(self.space.names)
        return self._table

    def number_parts(
        self, owner: Ints, dimension: Ints, floor: npt.NDArray[np.float64], rest: Ints
    ) -> list[Part]:
        """Return the entries of numbers of many attributes, each given as (floor, rest)."""
        cells = locate_all(self.space, dimension, floor, rest)
        return [(owner, dimension, cells, cells)]

    def get(self, name: str) -> AttributeLocator | None:
        """Return the locator of ``name``; ``None`` if no predicate mentions it."""
        locator = self.made.get(name)
        if locator is None:
            place = self.places.get(name)
            if place is None:
                return None
            locator = self.made[name] = AttributeLocator(self.space, place, self._flags(place))
        return locator

    def at(self, place: int) -> AttributeLocator:
        """Return the locator of an attribute by number."""
        locator = self.get(self.space.names.text(place))
        assert locator is not None
        return locator

    def _flags(self, place: int) -> list[tuple[Flag, str, int]]:
        space = self.space
        if self._flag_rows is None:
            self._flag_rows = {}
            for row, attribute in enumerate(space.flag_attribute.tolist()):
                self._flag_rows.setdefault(attribute, []).append(row)
        return [
            (Flag(space.flag_kind[row]), space.flag_pattern.text(row), space.ordered + row)
            for row in self._flag_rows.get(place, ())
        ]


def _remembered(memo: dict[str, tuple[Entry, ...]], text: str, entries: list[Entry]) -> tuple[Entry, ...]:
    """Return the entries of a string, and remember them if the string is short."""
    found = tuple(entries)
    if len(text) <= MEMO_LENGTH:
        if len(memo) >= MEMO_STRINGS:
            memo.clear()
        memo[text] = found
    return found


def _span(values: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the least value, and how far the greatest lies above it."""
    if not len(values):
        return 0, 0
    least = int(values.min())
    return least, int(values.max()) - least
