"""The encoder: events in any form become located events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.errors import EventError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.model.event import Event, EventLike, event_from
from tamis.model.value import INT_MAX, INT_MIN, clean_string
from tamis.space._kernels import gather, locate_event
from tamis.space.locate import AttributeLocator, Entry, Locators
from tamis.space.located import Located
from tamis.space.space import Space

Refused = list[tuple[int, EventError]]
Part = tuple[npt.NDArray[Any], ...]  # owner, dimension, lowest and highest cell of some entries
_INFINITY = float("inf")


class Encoder:
    """Locates events in one space."""

    def __init__(self, space: Space, limits: Limits = DEFAULT_LIMITS) -> None:
        self.locators = Locators(space)
        self.limits = limits

    def entries(self, event: EventLike) -> tuple[list[int], list[int], list[int], bool]:
        """Dimensions, lowest and highest cells of one event, and whether it is multi-valued.

        The common event, a flat dictionary of plain values, takes one pass; anything else is
        flattened and cleaned first.
        """
        dimensions: list[int] = []
        cells: list[int] = []
        if type(event) is not dict or not self._plain(event, dimensions, cells):
            return self._careful(event_from(event, self.limits))
        return dimensions, cells, cells, False

    def _plain(self, event: dict[str, Any], dimensions: list[int], cells: list[int]) -> bool:
        if len(event) > self.limits.event_attributes:
            return False
        made = self.locators.made
        for name, value in event.items():
            kind = type(value)
            locator = made.get(name) or self.locators.get(name)
            if locator is None:
                if not _harmless(name, value, kind, self.limits.attribute_name_bytes):
                    return False
                continue
            if kind is int:
                if not INT_MIN <= value <= INT_MAX:
                    return False
                cells.append(locator.number_base + bisect_right(locator.number_cuts, value))
            elif kind is str:
                found = locator.memo.get(value)
                if found is None:
                    found = locator.string(clean_string(value))
                if len(found) != 1:
                    for dimension, cell, _ in found:
                        dimensions.append(dimension)
                        cells.append(cell)
                    continue
                cells.append(found[0][1])
            elif kind is float:
                if not -_INFINITY < value < _INFINITY:
                    return False
                cells.append(locator.number_base + bisect_right(locator.number_cuts, value))
            elif kind is bool:
                cells.append(locator.boolean(value))
            else:
                return False
            dimensions.append(locator.dimension)
        return True

    def _careful(self, event: Event) -> tuple[list[int], list[int], list[int], bool]:
        found: set[Entry] = set()
        multi = False
        for name, values in event.attributes.items():
            locator = self.locators.get(name)
            if locator is not None:
                for value in values:
                    found.update(locator.value(value))
                multi = multi or len(values) > 1
        entries = sorted(found)
        multi = multi or any(low != high for _, low, high in entries)
        return [e[0] for e in entries], [e[1] for e in entries], [e[2] for e in entries], multi

    def _numeric(self, event: dict[str, Any]) -> Located | None:
        """An event of numbers only, located by one kernel; ``None`` if it needs more care."""
        if len(event) > self.limits.event_attributes:
            return None
        space, place = self.locators.space, self.locators.places.get
        try:
            dimension = np.array([place(name, -1) for name in event], np.int64)
            value = np.array(list(event.values()), np.float64)
        except OverflowError:
            return None
        out = np.empty((2, len(value)), np.int32)
        count = locate_event(
            dimension,
            value,
            space.number_values,
            space.number_rest,
            space.number_start,
            space.number_cut,
            space.number_base,
            space.ordered_cells,
            out,
        )
        if count < 0 or (count < len(value) and not self._names_fit(event)):
            return None
        cells = out[1, :count]
        return Located(np.array((0, count), np.int64), out[0, :count], cells, cells, _SINGLE)

    def _names_fit(self, event: dict[str, Any]) -> bool:
        longest = self.limits.attribute_name_bytes
        return all(_harmless(name, value, type(value), longest) for name, value in event.items())

    def one(self, event: EventLike) -> Located:
        """One event, located; raises :class:`EventError` if it is refused."""
        if type(event) is dict and _NUMBERS.issuperset(map(type, event.values())):
            located = self._numeric(event)
            if located is not None:
                return located
        dimensions, low, high, multi = self.entries(event)
        if not multi:
            both = np.array((dimensions, low), np.int32)
            return Located(np.array((0, len(low)), np.int64), both[0], both[1], both[1], _SINGLE)
        return assemble(1, [0] * len(low), dimensions, low, high, np.ones(1, np.uint8))

    def many(self, events: Sequence[EventLike | EventError]) -> tuple[Located, Refused]:
        """A list of events, located; a refused event has no entries and is reported."""
        columns = _NumberColumns()
        owner: list[int] = []
        dimensions: list[int] = []
        low: list[int] = []
        high: list[int] = []
        refused: Refused = []
        multi = np.zeros(len(events), np.uint8)
        for row, event in enumerate(events):
            try:
                if isinstance(event, EventError):
                    raise event
                if type(event) is dict and columns.try_plain(self, event, row, owner, dimensions, low, high):
                    continue
                d, lo, hi, many = self._careful(event_from(event, self.limits))
            except EventError as bad:
                refused.append((row, bad))
                continue
            owner.extend([row] * len(d))
            dimensions.extend(d)
            low.extend(lo)
            high.extend(hi)
            multi[row] = many
        columns_of = zip((owner, dimensions, low, high), _WORDS, strict=True)
        parts: list[Part] = [tuple(np.array(values, word) for values, word in columns_of)]
        parts.extend(columns.located())
        return join(len(events), parts, multi), refused


class _NumberColumns:
    """Numbers of many events, kept by attribute so that each attribute is searched at once."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[AttributeLocator, list[int], list[float]]] = {}

    def try_plain(
        self,
        encoder: Encoder,
        event: dict[str, Any],
        row: int,
        owner: list[int],
        dimensions: list[int],
        low: list[int],
        high: list[int],
    ) -> bool:
        """Take a flat event of plain values; ``False``, and nothing taken, if it is not one."""
        if len(event) > encoder.limits.event_attributes:
            return False
        get = encoder.locators.get
        numbers: list[tuple[str, AttributeLocator, float]] = []
        texts: list[Entry] = []
        for name, value in event.items():
            kind = type(value)
            locator = get(name)
            if locator is None:
                if not _harmless(name, value, kind, encoder.limits.attribute_name_bytes):
                    return False
            elif kind is str:
                found = locator.memo.get(value)
                texts.extend(locator.string(clean_string(value)) if found is None else found)
            elif (kind is int and -_EXACT < value < _EXACT) or (
                kind is float and -_INFINITY < value < _INFINITY
            ):
                numbers.append((name, locator, value))
            elif kind is bool:
                cell = locator.boolean(value)
                texts.append((locator.dimension, cell, cell))
            else:
                return False
        for name, locator, value in numbers:
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = (locator, [], [])
            column[1].append(row)
            column[2].append(value)
        for dimension, first, last in texts:
            owner.append(row)
            dimensions.append(dimension)
            low.append(first)
            high.append(last)
        return True

    def located(self) -> list[Part]:
        """Entries of all numbers taken."""
        parts: list[Part] = []
        for locator, rows, values in self._columns.values():
            cells = locator.numbers(np.array(values, np.float64), np.zeros(len(values), np.int64))
            parts.append(
                (np.array(rows, np.int64), np.full(len(rows), locator.dimension, np.int32), cells, cells)
            )
        return parts


_EXACT = 2**53
_WORDS = (np.int64, np.int32, np.int32, np.int32)
_NUMBERS = frozenset((int, float))
_SINGLE = np.zeros(1, np.uint8)


def _harmless(name: Any, value: Any, kind: type, longest: int) -> bool:
    """Whether an attribute that nobody asks for is at least well-formed."""
    if type(name) is not str or not (name.isascii() or clean_string(name) == name):
        return False
    if len(name) * 4 > longest and len(name.encode()) > longest:
        return False
    if kind is str:
        return bool(value.isascii()) or clean_string(value) is not None
    if kind is int:
        return bool(INT_MIN <= value <= INT_MAX)
    if kind is float:
        return bool(-_INFINITY < value < _INFINITY)
    return kind is bool or value is None


def assemble(
    count: int, owner: Any, dimension: Any, low: Any, high: Any, multi: npt.NDArray[np.uint8]
) -> Located:
    """Located events from entries in any order."""
    columns = zip((owner, dimension, low, high), _WORDS, strict=True)
    return join(count, [tuple(np.array(values, word) for values, word in columns)], multi)


def join(count: int, parts: list[Part], multi: npt.NDArray[np.uint8]) -> Located:
    """Located events from several groups of entries (owner, dimension, lowest, highest cell)."""
    owner, dimension, low, high = (np.concatenate([part[i] for part in parts]) for i in range(4))
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=start[1:])
    cells = np.empty((3, len(owner)), np.int32)
    gather(
        owner.astype(np.int64),
        dimension.astype(np.int32),
        low.astype(np.int32),
        high.astype(np.int32),
        start,
        cells[0],
        cells[1],
        cells[2],
        multi,
    )
    return Located(start, cells[0], cells[1], cells[2], multi)
