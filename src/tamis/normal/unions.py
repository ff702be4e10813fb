"""Ranges united under OR, and written as predicates again.

A positive predicate asks for *some* value. Two of them may be united under OR, and one may imply another, but
under AND they must never be intersected: two values may satisfy one each.
"""

from __future__ import annotations

from typing import Any

from tamis.expression.predicates import Between, Compare, Predicate
from tamis.values.ranges import Range


def united(ranges: list[Range]) -> list[Range]:
    """Return the fewest ranges that accept the same values and can still be written as predicates."""
    merged: list[Range] = []
    for following in sorted(
        ranges, key=lambda r: (r.family, r.low is not None, _orderable(r.low), r.low_open)
    ):
        last = merged[-1] if merged else None
        if last is None or last.family != following.family or not last.meets(following):
            merged.append(following)
            continue
        high, high_open = last.higher_end(following)
        if last.low is None and high is None:
            merged.append(following)  # every value of the family: no predicate says that
        else:
            merged[-1] = Range(last.family, last.low, last.low_open, high, high_open)
    return merged


def _orderable(low: Any) -> Any:
    return 0 if low is None else low


def as_predicate(attribute: str, found: Range) -> Predicate:
    """Return the range as a comparison or BETWEEN."""
    if found.low is None:
        return Compare(attribute, "<" if found.high_open else "<=", found.high)
    if found.high is None:
        return Compare(attribute, ">" if found.low_open else ">=", found.low)
    return Between(attribute, found.low, found.high)
