"""Locate plain events together: flat dictionaries of numbers, strings, booleans and points.

Each event takes one pass over its attributes; numbers, points and long texts are only collected, and located
for all events at once. Events with any other value take the careful path.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.errors import EventError
from tamis.limits import Limits
from tamis.space.locate import MEMO_LENGTH, AttributeLocator, Entry, Locators
from tamis.space.located import Part
from tamis.values.event import NULLS, tagged_value
from tamis.values.value import INT_MAX, INT_MIN, Point, clean_string

_EXACT = 2**53  # up to here every integer is a float
_INFINITY = float("inf")
_NUMBERS = frozenset((int, float))
_SCALARS = frozenset((int, float, str, bool, type(None), Point))


class PlainEvents:
    """A collector of plain events, which it then locates together."""

    def __init__(self, locators: Locators, limits: Limits) -> None:
        self._locators, self._limits = locators, limits
        self._nulls = NULLS in locators.places
        # Events of numbers only: the events, their rows, the attributes and values of all end to end.
        self._events: list[dict[str, Any]] = []
        self._event_rows: list[int] = []
        self._event_places: list[int] = []
        self._event_values: list[float] = []
        # Numbers and known entries of the other events.
        self._numbers: list[tuple[int, int, float]] = []
        self._entries: list[tuple[Entry, ...]] = []
        self._entry_rows: list[int] = []
        self._texts: dict[str, tuple[AttributeLocator, list[tuple[int, str]]]] = {}
        self._points: dict[str, tuple[AttributeLocator, list[tuple[int, float, float]]]] = {}

    def take(self, event: dict[str, Any], row: int) -> bool:
        """Take an event and return ``True``; if it is not plain, take nothing and return ``False``."""
        if len(event) > self._limits.event_attributes:
            return False
        values = event.values()
        if not _NUMBERS.issuperset(map(type, values)):
            return self._take_mixed(event, row)
        self._events.append(event)
        self._event_rows.append(row)
        self._event_places.extend(map(self._locators.places.__getitem__, event))
        self._event_values.extend(values)
        return True

    def _take_mixed(self, event: dict[str, Any], row: int) -> bool:
        if self._nulls and has_null(event):
            return False
        known, longest = self._locators.made.get, self._limits.attribute_name_bytes
        numbers: list[tuple[int, int, float]] = []
        entries: list[tuple[Entry, ...]] = []
        points: list[tuple[str, AttributeLocator, Point]] = []
        texts: list[tuple[str, AttributeLocator, str]] = []
        for name, value in event.items():
            kind = type(value)
            locator = known(name) or self._locators.get(name)
            if locator is None:
                if not harmless(name, value, kind, longest):
                    return False
            elif kind is str:
                found = locator.memo.get(value)
                if found is None:
                    try:
                        text = clean_string(value)
                    except EventError:
                        return False
                    if locator.has_terms and len(text) > MEMO_LENGTH:
                        texts.append((name, locator, text))
                        continue
                    found = locator.string(text)
                entries.append(found)
            elif (kind is int and -_EXACT < value < _EXACT) or (
                kind is float and -_INFINITY < value < _INFINITY
            ):
                numbers.append((row, locator.dimension, value))
            elif kind is bool:
                entries.append(locator.booleans[value])
            else:
                point = point_in(value, kind)
                if point is None:
                    return False
                points.append((name, locator, point))
        self._numbers += numbers
        self._entries += entries
        self._entry_rows += [row] * len(entries)
        for name, locator, point in points:
            self._points.setdefault(name, (locator, []))[1].append((row, point.lon, point.lat))
        for name, locator, text in texts:
            self._texts.setdefault(name, (locator, []))[1].append((row, text))
        return True

    def parts(self) -> tuple[list[Part], list[int]]:
        """Return the entries of all events taken, and the rows of events that turned out not to be plain."""
        parts, doubtful = self._number_events()
        for locator, texts in self._texts.values():
            parts += self._text_parts(locator, texts)
        table = np.array(self._numbers, np.float64).reshape(-1, 3)
        owner, dimension = table[:, :2].astype(np.int64).T
        parts += self._located(owner, dimension.copy(), table[:, 2].copy())
        count, word = np.fromiter(map(len, self._entries), np.int64, len(self._entries)), self._locators.word
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(self._entries)), word, 3 * count.sum())
        flat = flat.reshape(-1, 3)
        owner = np.repeat(np.array(self._entry_rows, np.int64), count)
        parts.append((owner, flat[:, 0], flat[:, 1], flat[:, 2]))
        for locator, rows in self._points.values():
            place = np.array(rows, np.float64)
            parts += locator.points(place[:, 0].astype(np.int64), place[:, 1].copy(), place[:, 2].copy())
        return parts, doubtful

    def _text_parts(self, locator: AttributeLocator, texts: list[tuple[int, str]]) -> list[Part]:
        """Return the entries of long texts on terms; keep their other entries."""
        array = pa.array([text for _, text in texts], pa.large_string())
        parts, locate = locator.texts(np.array([row for row, _ in texts], np.int64), array)
        if locate is not None:
            self._entries += [locate(text) for _, text in texts]
            self._entry_rows += [row for row, _ in texts]
        return parts

    def _number_events(self) -> tuple[list[Part], list[int]]:
        try:
            value = np.array(self._event_values, np.float64)
        except OverflowError:  # an integer that no float comes near: rare enough to check all events
            return [], self._event_rows
        length = np.fromiter(map(len, self._events), np.int64, len(self._events))
        event = np.repeat(np.arange(len(length)), length)
        dimension = np.array(self._event_places, np.int64)
        bad = np.zeros(len(length), np.bool_)
        bad[event[~(np.abs(value) < _EXACT)]] = True
        mentioned = dimension >= 0
        if not mentioned.all():
            for at in np.unique(event[~mentioned]).tolist():
                bad[at] |= not names_fit(self._events[at], self._limits)
        rows = np.array(self._event_rows, np.int64)
        keep = mentioned & ~bad[event]
        return self._located(rows[event[keep]], dimension[keep], value[keep]), rows[bad].tolist()

    def _located(self, owner: Any, dimension: Any, value: Any) -> list[Part]:
        return self._locators.number_parts(owner, dimension, value, np.zeros(len(value), np.int64))


def point_in(value: Any, kind: type) -> Point | None:
    """Return the point that ``value`` is or stands for; ``None`` if it is anything else."""
    if kind is Point:
        return value  # type: ignore[no-any-return]
    if kind is not dict:
        return None
    try:
        found = tagged_value(value)
    except EventError:
        return None
    return found if type(found) is Point else None


def has_null(event: dict[str, Any]) -> bool:
    """Return whether some attribute is written as null."""
    return any(value is None for value in event.values())


def is_plain(event: dict[str, Any]) -> bool:
    """Return whether an event has no value that must be flattened."""
    return all(
        kind in _SCALARS or point_in(value, kind) is not None
        for value in event.values()
        for kind in (type(value),)
    )


def names_fit(event: dict[str, Any], limits: Limits) -> bool:
    """Return whether all attributes, mentioned in predicates or not, are well-formed."""
    longest = limits.attribute_name_bytes
    return all(harmless(name, value, type(value), longest) for name, value in event.items())


def harmless(name: Any, value: Any, kind: type, longest: int) -> bool:
    """Return whether an attribute that no predicate mentions is at least well-formed."""
    if type(name) is not str or not (name.isascii() or _is_clean(name)):
        return False
    if len(name) * 4 > longest and len(name.encode()) > longest:
        return False
    if kind is str:
        return bool(value.isascii()) or _is_clean(value) is not None
    if kind is int:
        return bool(INT_MIN <= value <= INT_MAX)
    if kind is float:
        return bool(-_INFINITY < value < _INFINITY)
    return kind is bool or value is None or point_in(value, kind) is not None


def _is_clean(text: str) -> bool | None:
    """Return whether ``text`` is in NFC; ``None`` if it is invalid."""
    try:
        return clean_string(text) == text
    except EventError:
        return None
