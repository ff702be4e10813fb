"""Number the dimensions of the head, and find the keys of an event's values on them.

Dimension 0 is set by events that keys cannot decide. An attribute has one dimension for the keys of its
values. Each term, and each other predicate that is no comparison, has a dimension of its own, a *flag*, which
has the key 1 if some value of the event satisfies the predicate.

A writer adds to these tables while readers use them. It makes every addition before it publishes the snapshot
that needs it. Anything beyond a reader's snapshot belongs to no clause that the reader can meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import string_column
from tamis.expression.predicates import Predicate
from tamis.expression.views import Flag, OnFlag
from tamis.head.keys import (
    FIRST_STRING,
    FIRST_TIME,
    LAST_STRING,
    LAST_TIME,
    OTHER,
    boolean_key,
    lower_number,
    number_key,
    number_keys,
    time_key,
    upper_number,
)
from tamis.head.terms import HeadTerms
from tamis.space.flags import shape_table
from tamis.space.locate import MEMO_LENGTH, MEMO_STRINGS, Entry, Locate, Places
from tamis.space.located import Part
from tamis.space.names import NameTable
from tamis.space.numbers import split_integers
from tamis.space.shapes import Shapes
from tamis.values.value import Interval, Point, Value, family, micros_of

UNSURE = 0  # the dimension of events that a tree must decide
SET = 1  # the key of a flag
_DOUBT: Entry = (UNSURE, SET, SET)
_DENSE = 2**53  # from here on there are integers between two floats

Ints = npt.NDArray[np.int64]
Accepts = Callable[[Value], bool]
_POINTS = frozenset(("point",))


class Attribute:
    """The keys of one attribute's values; it has the methods of ``AttributeLocator``."""

    memo: ClassVar[Mapping[str, tuple[Entry, ...]]] = MappingProxyType({})  # a new string changes keys
    has_terms: ClassVar[bool] = False  # that are found in many texts at once

    def __init__(self, dimension: int, strings: dict[str, int]) -> None:
        self.dimension = dimension
        self.booleans = tuple(((dimension, key, key),) for key in map(boolean_key, (False, True)))
        self._known: dict[str, tuple[Entry, ...]] = {}  # the flags of strings seen before
        self._strings = strings
        self._terms: dict[str, HeadTerms] = {}  # by analyser
        self._tests: tuple[tuple[Accepts, int], ...] = ()
        self._shapes: tuple[tuple[Flag, str, int], ...] = ()
        self._table: tuple[Any, Shapes] | None = None  # of these shapes, made when a point is located

    # -- written by one writer at a time ---------------------------------------------------------------

    def find_terms(self, terms: Iterable[str], analyser: str, dimension: int) -> int:
        """Set the flag ``dimension`` for each text that holds one of the terms of an analyser.

        Return how many of them are new and tried on every word.
        """
        known = self._terms.get(analyser)
        if known is None:
            known = HeadTerms(analyser)
            self._terms = {**self._terms, analyser: known}
        tried = known.add(terms, dimension)
        self._known = {}
        return tried

    def find_shape(self, atom: OnFlag, dimension: int) -> None:
        """Set the flag ``dimension`` for each point that lies in a shape, or is the point."""
        self._shapes = (*self._shapes, (atom.flag, atom.pattern, dimension))

    def test(self, accepts: Accepts, dimension: int) -> None:
        """Set the flag ``dimension`` for each value that ``accepts`` returns true for."""
        self._tests = (*self._tests, (accepts, dimension))
        self._known = {}

    # -- read by many readers ----------------------------------------------------------------------------

    def string(self, text: str) -> tuple[Entry, ...]:
        """Return all entries of a string: its key and the flags that it sets."""
        number = self._strings.get(text)
        key = OTHER if number is None else FIRST_STRING + number
        entry = (self.dimension, key, key)
        return (entry, *self._flags_of(text)) if self._tests or self._terms else (entry,)

    def _flags_of(self, text: str) -> tuple[Entry, ...]:
        known = self._known  # a writer may put another in its place while this thread looks at the tests
        found = known.get(text)
        if found is None:
            found = tuple(self._flags(text))
            if len(text) <= MEMO_LENGTH:
                if len(known) >= MEMO_STRINGS:
                    known.clear()
                known[text] = found
        return found

    def _flags(self, value: Value) -> list[Entry]:
        found = {dimension for accepts, dimension in self._tests if accepts(value)}
        if type(value) is str:
            for terms in self._terms.values():
                found |= terms.find(value)
        return [(dimension, SET, SET) for dimension in found]

    def time(self, value: datetime) -> int:
        """Return the key of a time."""
        return time_key(micros_of(value))

    def boolean(self, value: bool) -> int:
        """Return the key of a boolean."""
        return boolean_key(value)

    def number_parts(self, owner: Ints, floor: npt.NDArray[np.float64], rest: Ints) -> list[Part]:
        """Return the entries of numbers given as (floor, rest)."""
        return placed_numbers(owner, np.full(len(owner), self.dimension), floor, rest)

    def integer_parts(self, owner: Ints, values: Ints) -> list[Part]:
        """Return the entries of integers."""
        return self.number_parts(owner, *split_integers(values))

    def texts(self, owner: Ints, strings: Any) -> tuple[list[Part], Locate]:
        """Return no entries and :meth:`string`: each distinct string is located once."""
        return [], self.string

    def points(self, owner: Ints, lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64]) -> list[Part]:
        """Return the entries of points, which have no order but may set flags."""
        key = np.full(len(owner), OTHER)
        parts: list[Part] = [(owner, np.full(len(owner), self.dimension), key, key)]
        if self._shapes:
            which, dimension = self._shape_table().find(lon, lat)
            ones = np.full(len(which), SET)
            parts.append((owner[which], dimension, ones, ones))
        return parts

    def _shape_table(self) -> Shapes:
        shapes, table = self._shapes, self._table
        if table is None or table[0] is not shapes:
            table = self._table = (shapes, shape_table(list(shapes)))
        return table[1]

    def value(self, value: Value) -> list[Entry] | tuple[Entry, ...]:
        """Return the entries of any clean value."""
        kind = type(value)
        if kind is str:
            return self.string(value)  # type: ignore[arg-type]
        if kind is Point:
            place = np.array([value.lon]), np.array([value.lat])  # type: ignore[union-attr]
            found = self._shape_table().find(*place)[1].tolist() if self._shapes else ()
            return [(self.dimension, OTHER, OTHER), *((flag, SET, SET) for flag in found)]
        if kind is Interval:
            return self._interval(value)  # type: ignore[arg-type]
        if kind is bool:
            return self.booleans[value]  # type: ignore[index]
        if kind is datetime:
            key = self.time(value)  # type: ignore[arg-type]
            return [(self.dimension, key, key)]
        low, high = number_key(value)  # type: ignore[arg-type]
        entry = (self.dimension, low, high)
        return [entry] if low == high else [entry, _DOUBT]

    def _interval(self, value: Interval) -> list[Entry]:
        kind = family(value.low if value.low is not None else value.high)  # type: ignore[arg-type]
        if kind == "string":  # known strings are numbered, not ordered
            return [(self.dimension, FIRST_STRING, LAST_STRING), _DOUBT, *self._flags(value)]
        if kind == "time":
            low = FIRST_TIME if value.low is None else time_key(micros_of(value.low))  # type: ignore[arg-type]
            high = LAST_TIME if value.high is None else time_key(micros_of(value.high)) - value.high_open  # type: ignore[arg-type]
            return [(self.dimension, low, high)]
        # Integers may lie between an open end beyond 2**53 and the float below it.
        dense = value.high is not None and value.high_open and abs(value.high) >= _DENSE  # type: ignore[arg-type]
        low, one = lower_number(value.low, False)
        high, two = upper_number(value.high, value.high_open and not dense)
        entry = (self.dimension, low, high)
        return [entry, _DOUBT] if one or two or dense else [entry]


def placed_numbers(owner: Ints, dimension: Ints, floor: npt.NDArray[np.float64], rest: Ints) -> list[Part]:
    """Return the entries of numbers, each given by its dimension and as (floor, rest)."""
    low, high = number_keys(floor, rest)
    if low is high:
        return [(owner, dimension, low, high)]
    doubtful = owner[low != high]
    ones = np.full(len(doubtful), SET)
    return [(owner, dimension, low, high), (doubtful, np.full(len(doubtful), UNSURE), ones, ones)]


class Attributes:
    """The attributes by name; it has the methods of ``Locators``."""

    word = np.int64

    def __init__(self, strings: dict[str, int]) -> None:
        self.places = Places()
        self.made: dict[str, Attribute] = {}
        self.strings = strings  # the numbers of strings that predicates compare with
        self.tests = self.shapes = 0
        self.count = 1  # dimensions; the first is UNSURE
        self._flags: dict[tuple[str, str], int] = {}
        self._table: tuple[int, NameTable, Ints] | None = None

    # -- written by one writer at a time ---------------------------------------------------------------

    def attribute(self, name: str) -> Attribute:
        """Return the attribute called ``name``; add it if it is new."""
        found = self.made.get(name)
        if found is None:
            found = Attribute(self._next(), self.strings)
            self.places[name] = found.dimension  # first: readers count what is made
            self.made[name] = found
        return found

    def terms_flag(self, name: str, terms: Iterable[str], analyser: str) -> int:
        """Return the flag of texts of an attribute that hold one of the terms of an analyser."""
        chosen = sorted(set(terms))
        key = (name, f"terms {analyser} {chosen!r}")
        if key not in self._flags:
            flag = self._next()
            self.tests += self.attribute(name).find_terms(chosen, analyser, flag)
            self._flags[key] = flag
        return self._flags[key]

    def test_flag(self, predicate: Predicate) -> int:
        """Return the flag of values that a predicate, in its positive form, accepts."""
        key = (predicate.attribute, repr(predicate))
        if key not in self._flags:
            flag, attribute = self._next(), self.attribute(predicate.attribute)
            if predicate.families == _POINTS:
                (atom,) = predicate.atoms(denied=True)
                assert isinstance(atom, OnFlag)
                attribute.find_shape(atom, flag)
                self.shapes += 1
            else:
                attribute.test(predicate.accepts, flag)
                self.tests += 1
            self._flags[key] = flag
        return self._flags[key]

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    # -- read by many readers ----------------------------------------------------------------------------

    @property
    def age(self) -> int:
        """The number of times that ``places`` has changed."""
        return len(self.made)

    def get(self, name: str) -> Attribute | None:
        """Return the attribute; ``None`` if no predicate mentions it."""
        return self.made.get(name)

    def dimensions(self, keys: Any, longest: int) -> Ints | None:
        """Return the dimensions that Arrow strings name, -1 for other names; see ``NameTable.find``."""
        table = self._table
        if table is None or table[0] != len(self.made):
            names = list(self.places)
            dimension = np.array([self.places[name] for name in names] + [-1], np.int64)
            table = self._table = (len(names), NameTable(string_column(names)), dimension)
        found = table[1].find(keys, longest)
        return None if found is None else table[2][found]

    def number_parts(
        self, owner: Ints, dimension: Ints, floor: npt.NDArray[np.float64], rest: Ints
    ) -> list[Part]:
        """Return the entries of numbers of many attributes."""
        return placed_numbers(owner, dimension, floor, rest)
