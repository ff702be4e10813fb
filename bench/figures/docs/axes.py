"""Place values on an axis of a picture, and choose its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

DECADE = 10.0


class Axis(NamedTuple):
    """A range of values, the pixels of its ends, and whether it is logarithmic."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool

    def at(self, value: float) -> float:
        """Return the pixel of ``value``."""
        low, high, here = (math.log(x) if self.is_log else x for x in (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the values that get a line and a label, three to about seven."""
        return _log_ticks(self.low, self.high) if self.is_log else _even_ticks(self.low, self.high)


def axis_of(values: Iterable[float], start: float, end: float, *, is_log: bool, from_zero: bool) -> Axis:
    """Return an axis with a little room around ``values``; zeros and negatives make it linear."""
    known = list(values)
    low, high = min(known), max(known)
    if is_log and low > 0:
        room = max(1.15, math.sqrt(DECADE * low / high) if high < DECADE * low else 1.15)
        return Axis(low / room, high * room, start, end, True)
    if from_zero:
        low = min(0.0, low)
        return Axis(low, high * 1.08 if high > low else low + 1.0, start, end, False)
    room = 0.04 * (high - low) or 1.0
    return Axis(low - room, high + room, start, end, False)


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    wide = high / low > 1_000
    step = max(1, round(math.log10(high / low) / 6))
    factors = (1.0,) if wide else (1.0, 3.0)
    every = (factor * DECADE**power for power in powers for factor in factors if not power % step)
    return [value for value in every if low <= value <= high]


def _even_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 4
    power = DECADE ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]
