"""Encode events as keys on the dimensions of the head."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.errors import EventError
from tamis.head._kernels import keys_of_numbers
from tamis.head.attributes import Attributes
from tamis.head.keys import Keys
from tamis.limits import Limits
from tamis.space.encode import MEMO_SHAPES, SINGLE, Encoder
from tamis.space.located import Located
from tamis.space.plain import harmless, has_null, names_fit, point_in
from tamis.values.event import NULLS
from tamis.values.value import INT_MAX, INT_MIN, clean_string

_INFINITY = float("inf")


class KeyEncoder(Encoder):
    """An encoder that finds keys instead of cells."""

    def __init__(self, attributes: Attributes, limits: Limits) -> None:
        self.locators: Any = attributes
        self.limits = limits
        self._shapes = {}
        self._known = 0  # attributes when the shapes were remembered

    @property
    def _nulls(self) -> bool:  # type: ignore[override]
        return NULLS in self.locators.places

    def plain(self, event: dict[str, Any], dimensions: list[int], cells: list[int]) -> bool:
        """Append dimension and key of each value of a plain event; return false if it needs more care."""
        if len(event) > self.limits.event_attributes or (self._nulls and has_null(event)):
            return False
        made = self.locators.made
        numbers: list[tuple[int, float]] = []
        for name, value in event.items():
            kind, locator = type(value), made.get(name)
            if locator is None:
                if not harmless(name, value, kind, self.limits.attribute_name_bytes):
                    return False
            elif kind is str:
                try:
                    found = locator.string(clean_string(value))
                except EventError:  # the careful path names the attribute
                    return False
                for dimension, key, _ in found:
                    dimensions.append(dimension)
                    cells.append(key)
            elif (kind is int and INT_MIN <= value <= INT_MAX) or (
                kind is float and -_INFINITY < value < _INFINITY
            ):
                numbers.append((locator.dimension, value))
            elif kind is bool:
                dimensions.append(locator.dimension)
                cells.append(locator.boolean(value))
            else:
                point = point_in(value, kind)
                if point is None:
                    return False
                for dimension, key, _ in locator.value(point):
                    dimensions.append(dimension)
                    cells.append(key)
        return self._numbers(numbers, dimensions, cells)

    @staticmethod
    def _numbers(numbers: list[tuple[int, float]], dimensions: list[int], cells: list[int]) -> bool:
        """Add numbers; return whether all of them have a key."""
        if not numbers:
            return True
        dimension = np.array([dimension for dimension, _ in numbers], np.int64)
        found, keys, count = _keys_of(dimension, [number for _, number in numbers])
        if count < 0:
            return False
        dimensions += found.tolist()
        cells += keys.tolist()
        return True

    def _numeric(self, event: dict[str, Any]) -> Located | None:
        """Return an event of numbers only; ``None`` if it needs more care."""
        if len(event) > self.limits.event_attributes:
            return None
        try:
            dimension, keys, count = _keys_of(self._dimensions_of(tuple(event)), list(event.values()))
        except OverflowError:
            return None
        if count < 0 or (count < len(event) and not names_fit(event, self.limits)):
            return None
        return Located(np.array((0, count), np.int64), dimension, keys, keys, SINGLE)

    def _dimensions_of(self, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
        if self._known != len(self.locators.made):
            self._shapes, self._known = {}, len(self.locators.made)
        shapes = self._shapes
        known = shapes.get(names)
        if known is None:
            if len(shapes) >= MEMO_SHAPES:
                shapes.clear()
            known = shapes[names] = np.array([self.locators.places[name] for name in names], np.int64)
        return known


def _keys_of(dimension: Keys, numbers: list[float]) -> tuple[Keys, Keys, int]:
    """Return the known dimensions, the keys of their numbers, and how many; -1 if they need more care."""
    found = np.empty((2, len(numbers)), np.int64)
    count: int = keys_of_numbers(dimension, np.array(numbers, np.float64).view(np.int64), *found)
    return found[0, :count], found[1, :count], count
