"""Read the numbers, times and booleans of a Lucene query, and the ranges between them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tamis.errors import EventValue
from tamis.expression.predicates import Between, Compare, Predicate
from tamis.values.value import INT_MAX, INT_MIN, parse_time, predecessor, successor

_INTEGER = re.compile(r"-?+[0-9]{1,19}+")
_FLOAT = re.compile(r"-?+[0-9]{1,40}+(?:\.[0-9]{1,40}+)?+(?:[eE][+-]?+[0-9]{1,3}+)?+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BOOLEANS = {"true": True, "false": False}
_MICROSECOND = timedelta(microseconds=1)
_LAST_MOMENT = timedelta(days=1) - _MICROSECOND  # of a day, from its first one


class End(NamedTuple):
    """An end of a range: the value, and its last moment if it is a day."""

    value: Any
    last: Any


def value_of(text: str) -> int | float | bool | None:
    """Return the number or boolean that a term says, or ``None``."""
    return _BOOLEANS[text] if text in _BOOLEANS else _number(text)


def end_of(text: str) -> End | None:
    """Return the number, the time or the day that an end of a range says, or ``None``."""
    number = _number(text)
    if number is not None:
        return End(number, number)
    if _DATE.match(text) is None:
        return None
    try:
        time = parse_time(text)
        return End(time, time + _LAST_MOMENT if _DATE.fullmatch(text) else time)
    except (ValueError, OverflowError, EventValue):
        return None


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text) and INT_MIN <= int(text) <= INT_MAX:
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) != float("inf") else None
    return None


def compared(
    name: str, low: End | None, high: End | None, low_open: bool, high_open: bool
) -> Predicate | None:
    """Return the predicate that one value lies between the ends; ``None`` if they have different types.

    A day begins and ends a range as a whole. One value must lie between both ends, so an open end is written
    as the next value.
    """
    if low is None or high is None:
        if low is not None:
            return Compare(name, ">" if low_open else ">=", low.last if low_open else low.value)
        assert high is not None
        return Compare(name, "<" if high_open else "<=", high.value if high_open else high.last)
    if isinstance(low.value, datetime) != isinstance(high.value, datetime):
        return None
    first = successor(low.last) if low_open else low.value
    last = predecessor(high.value) if high_open else high.last
    if first is None or last is None:  # nothing lies beyond the end of all values
        first, last = 1, 0
    return Between(name, first, last)
