"""Encode events of any form as located events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.errors import EventError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.space._kernels import locate_event
from tamis.space.locate import Entry, Locators
from tamis.space.located import Located, join
from tamis.space.plain import PlainEvents, harmless, has_null, names_fit, point_in
from tamis.space.space import Space
from tamis.values.event import NULLS, Event, EventLike, event_from
from tamis.values.value import INT_MAX, INT_MIN, clean_string

Refused = list[tuple[int, EventError]]
_INFINITY = float("inf")

MEMO_SHAPES = 1_024  # sets of attribute names remembered


class Encoder:
    """An encoder, which locates events in one space."""

    def __init__(self, space: Space, limits: Limits = DEFAULT_LIMITS) -> None:
        self.locators = Locators(space)
        self.limits = limits
        self._nulls = NULLS in self.locators.places  # whether a predicate tests for null attributes
        self._shapes: dict[tuple[str, ...], npt.NDArray[np.int64]] = {}

    def entries(self, event: EventLike) -> tuple[list[int], list[int], list[int], bool]:
        """Return dimensions, lowest and highest cells of one event, and whether it is multi-valued.

        A flat dictionary of plain values, the common event, takes one pass. Any other event is flattened and
        cleaned first.
        """
        dimensions: list[int] = []
        cells: list[int] = []
        if type(event) is not dict or not self.plain(event, dimensions, cells):
            return self._careful(event_from(event, self.limits))
        return dimensions, cells, cells, False

    def plain(self, event: dict[str, Any], dimensions: list[int], cells: list[int]) -> bool:
        """Append dimension and cell of each value of a plain event; return false if it needs more care."""
        if len(event) > self.limits.event_attributes or (self._nulls and has_null(event)):
            return False
        made = self.locators.made
        for name, value in event.items():
            kind = type(value)
            locator = made.get(name) or self.locators.get(name)
            if locator is None:
                if not harmless(name, value, kind, self.limits.attribute_name_bytes):
                    return False
                continue
            if kind is int:
                if not INT_MIN <= value <= INT_MAX:
                    return False
                cells.append(locator.number_base + bisect_right(locator.number_cuts, value))
            elif kind is str:
                found = locator.memo.get(value)
                if found is None:
                    try:
                        found = locator.string(clean_string(value))
                    except EventError:  # the careful path names the attribute
                        return False
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
                point = point_in(value, kind)
                if point is None:
                    return False
                dimension_list, cell_list = locator.point(point)
                dimensions += dimension_list
                cells += cell_list
                continue
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
        """Locate an event of numbers only by one kernel; return ``None`` if it needs more care."""
        if len(event) > self.limits.event_attributes:
            return None
        space = self.locators.space
        try:
            dimension = self._dimensions_of(tuple(event))
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
        if count < 0 or (count < len(value) and not names_fit(event, self.limits)):
            return None
        cells = out[1, :count]
        return Located(np.array((0, count), np.int64), out[0, :count], cells, cells, SINGLE)

    def _dimensions_of(self, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
        """Return the dimensions of attributes (-1: not mentioned), remembered by the set of names."""
        known = self._shapes.get(names)
        if known is None:
            if len(self._shapes) >= MEMO_SHAPES:
                self._shapes.clear()
            known = np.array(list(map(self.locators.places.__getitem__, names)), np.int64)
            self._shapes[names] = known
        return known

    def one(self, event: EventLike) -> Located:
        """Return one located event; raise :class:`EventError` if it is refused."""
        if type(event) is dict and _NUMBERS.issuperset(map(type, event.values())):
            located = self._numeric(event)
            if located is not None:
                return located
        dimensions, low, high, multi = self.entries(event)
        word = self.locators.word
        if not multi:
            both = np.array((dimensions, low), word)
            return Located(np.array((0, len(low)), np.int64), both[0], both[1], both[1], SINGLE)
        parts = np.array(([0] * len(low), dimensions, low, high), np.int64)
        return join(1, [tuple(parts)], np.ones(1, np.uint8), word)

    def many(self, events: Sequence[EventLike | EventError]) -> tuple[Located, Refused]:
        """Return the located events, and the refused ones, which have no entries."""
        plain = PlainEvents(self.locators, self.limits)
        others: list[int] = []
        for row, event in enumerate(events):
            if type(event) is not dict or not plain.take(event, row):
                others.append(row)
        parts, doubtful = plain.parts()
        refused: Refused = []
        multi = np.zeros(len(events), np.uint8)
        found: list[tuple[int, int, int, int]] = []
        for row in sorted(others + doubtful):
            try:
                event = events[row]
                if isinstance(event, EventError):
                    raise event
                d, low, high, many = self._careful(event_from(event, self.limits))
            except EventError as bad:
                refused.append((row, bad))
                continue
            found.extend(zip([row] * len(d), d, low, high, strict=True))
            multi[row] = many
        flat = np.array(found, np.int64).reshape(-1, 4)
        return join(len(events), [*parts, tuple(flat.T)], multi, self.locators.word), refused


_NUMBERS = frozenset((int, float))
SINGLE = np.zeros(1, np.uint8)
