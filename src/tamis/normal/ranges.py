"""Comparisons, sets and BETWEEN as points and ranges, to find what implies or extends what.

All of this is about one value at a time. A positive predicate asks for *some* value, so two of them
may be united under OR and one may imply another, but under AND they must never be intersected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.expression.tree import Between, Compare, In, Predicate
from tamis.values.value import Point, Scalar, family


class Range(NamedTuple):
    """Values of one family from ``low`` to ``high``; ``None`` is no bound."""

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
            and not _lower(self, other)
            and _higher_end(self, other) == (other.high, other.high_open)
        )


class Values(NamedTuple):
    """What a positive predicate accepts: single values by (family, value), and at most one range."""

    points: dict[tuple[str, Scalar], Scalar]
    range: Range | None


def values_of(predicate: Predicate) -> Values | None:
    """Return the accepted values of a positive comparison, set or BETWEEN; ``None`` for other predicates."""
    match predicate:
        case Compare(value=Point()):
            return None
        case Compare(op="=", value=value):
            return Values({point(value): value}, None)  # type: ignore[arg-type, dict-item]
        case Compare(op=op, value=value):
            low, high = (value, None) if op in (">", ">=") else (None, value)
            return Values({}, Range(family(value), low, op == ">", high, op == "<"))
        case In(values=values):
            return Values({point(value): value for value in values}, None)
        case Between(low=low, high=high):
            if family(low) == family(high) and low == high:
                return Values({point(low): low}, None)
            return Values({}, Range(family(low), low, False, high, False))
    return None


def point(value: Scalar) -> tuple[str, Scalar]:
    """Return a key under which equal numbers meet and a boolean is no number."""
    return family(value), value


def is_empty(predicate: Predicate) -> bool:
    """Return whether no value at all can satisfy the positive form."""
    if isinstance(predicate, In):
        return not predicate.values
    return isinstance(predicate, Between) and bool(predicate.low > predicate.high)  # type: ignore[operator]


def united(ranges: list[Range]) -> list[Range]:
    """Return the fewest ranges that accept the same values and can still be written as predicates."""
    merged: list[Range] = []
    for following in sorted(
        ranges, key=lambda r: (r.family, r.low is not None, _orderable(r.low), r.low_open)
    ):
        last = merged[-1] if merged else None
        if last is None or last.family != following.family or not _meets(last, following):
            merged.append(following)
            continue
        high, high_open = _higher_end(last, following)
        if last.low is None and high is None:
            merged.append(following)  # every value of the family: no predicate says that
        else:
            merged[-1] = Range(last.family, last.low, last.low_open, high, high_open)
    return merged


def _orderable(low: Any) -> Any:
    return 0 if low is None else low


def _lower(a: Range, b: Range) -> bool:
    """Return whether ``a`` begins before ``b``."""
    if b.low is None:
        return False
    return a.low is None or bool(a.low < b.low or (a.low == b.low and b.low_open and not a.low_open))


def _higher_end(a: Range, b: Range) -> tuple[Any, bool]:
    if a.high is None or b.high is None:
        return None, False
    if a.high == b.high:
        return b.high, a.high_open and b.high_open
    return (a.high, a.high_open) if a.high > b.high else (b.high, b.high_open)


def _meets(first: Range, second: Range) -> bool:
    """Return whether ``second``, which begins no earlier, overlaps or touches ``first`` without a gap."""
    if first.high is None or second.low is None:
        return True
    return bool(
        second.low < first.high or (second.low == first.high and not (second.low_open and first.high_open))
    )


def as_predicate(attribute: str, found: Range) -> Predicate:
    """Return the range as a comparison or BETWEEN."""
    if found.low is None:
        return Compare(attribute, "<" if found.high_open else "<=", found.high)
    if found.high is None:
        return Compare(attribute, ">" if found.low_open else ">=", found.low)
    return Between(attribute, found.low, found.high)
