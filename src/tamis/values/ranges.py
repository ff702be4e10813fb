"""Compare values with ranges, and describe the values that a predicate accepts."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.values.value import Interval, Scalar, Value, family, successor


def in_range(
    value: Value, low: Scalar | None, high: Scalar | None, low_open: bool = False, high_open: bool = False
) -> bool:
    """Return whether ``value`` lies in the range or, being an interval, shares some value with it."""
    if not isinstance(value, Interval):
        return reaches(low, low_open, value, False) and reaches(value, False, high, high_open)
    operand = low if low is not None else high
    end = value.low if value.low is not None else value.high
    if operand is None or end is None or family(operand) != family(end):
        return False
    first = successor(low) if low_open else low
    if low is not None and first is None:
        return False
    # Three lower ends stand before three upper ends; as lower ends are closed, the greatest lies in both.
    return (
        reaches(first, False, high, high_open)
        and reaches(value.low, False, high, high_open)
        and reaches(first, False, value.high, value.high_open)
    )


def reaches(low: Any, low_open: bool, high: Any, high_open: bool) -> bool:
    """Return whether a lower end stands at or before an upper end (``None``: unbounded)."""
    if low is None or high is None:
        return True
    if family(low) != family(high):
        return False
    return bool(low < high or (low == high and not low_open and not high_open))


class Range(NamedTuple):
    """The values of one family from ``low`` to ``high``; ``None`` is no bound."""

    family: str
    low: Any
    low_open: bool
    high: Any
    high_open: bool

    def holds(self, value: Scalar) -> bool:
        """Return whether ``value`` lies in the range."""
        if family(value) != self.family:
            return False
        after = self.low is None or value > self.low or (value == self.low and not self.low_open)
        before = self.high is None or value < self.high or (value == self.high and not self.high_open)
        return bool(after and before)

    def inside(self, other: Range) -> bool:
        """Return whether every value of this range is one of ``other``."""
        return (
            self.family == other.family
            and not self._begins_before(other)
            and self.higher_end(other) == (other.high, other.high_open)
        )

    def _begins_before(self, other: Range) -> bool:
        if other.low is None:
            return False
        if self.low is None:
            return True
        return bool(self.low < other.low or (self.low == other.low and other.low_open and not self.low_open))

    def higher_end(self, other: Range) -> tuple[Any, bool]:
        """Return the higher of the two upper ends, and whether it is open."""
        if self.high is None or other.high is None:
            return None, False
        if self.high == other.high:
            return other.high, self.high_open and other.high_open
        return (self.high, self.high_open) if self.high > other.high else (other.high, other.high_open)

    def meets(self, other: Range) -> bool:
        """Return whether ``other``, which begins no earlier, overlaps or touches this range without a gap."""
        if self.high is None or other.low is None:
            return True
        return bool(
            other.low < self.high or (other.low == self.high and not (other.low_open and self.high_open))
        )


class Accepted(NamedTuple):
    """The values that a positive predicate accepts: single ones by (family, value), and at most one range."""

    points: dict[tuple[str, Scalar], Scalar]
    range: Range | None

    def within(self, other: Accepted) -> bool:
        """Return whether ``other`` accepts every value that this one accepts."""
        if self.range is not None and (other.range is None or not self.range.inside(other.range)):
            return False
        return all(
            point(value) in other.points or (other.range is not None and other.range.holds(value))
            for value in self.points.values()
        )


def point(value: Scalar) -> tuple[str, Scalar]:
    """Return a key that equal numbers share; a boolean never equals a number."""
    return family(value), value
