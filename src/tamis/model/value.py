"""Values: the only things an event attribute or an operand may hold.

A value is a boolean, a 64-bit integer, a finite float, a string (NFC, no lone surrogates), a time
(an aware ``datetime`` in UTC, microsecond precision), an :class:`Interval` or a :class:`Point`.
The oracle and the encoder both get their values from here, so they cannot disagree.
"""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec

from tamis.errors import EventValue

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST_TIME = datetime.max.replace(tzinfo=UTC)


class Point(msgspec.Struct, frozen=True, order=True):
    """A place: longitude and latitude in degrees."""

    lon: float
    lat: float

    def __post_init__(self) -> None:
        if not (-180.0 <= self.lon <= 180.0 and -90.0 <= self.lat <= 90.0):
            raise EventValue(f"a point needs longitude in [-180, 180] and latitude in [-90, 90], not {self}")


class Interval(msgspec.Struct, frozen=True):
    """A range an event carries as a value; ``None`` means no bound on that side."""

    low: Scalar | None = None
    high: Scalar | None = None
    low_open: bool = False
    high_open: bool = False


Scalar = bool | int | float | str | datetime
Value = Scalar | Interval | Point


def family(value: Value) -> str:
    """The group of types that ``value`` is comparable with."""
    return _FAMILY[type(value)]


_FAMILY: dict[type, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    datetime: "time",
    Point: "point",
    Interval: "interval",
}


def comparable_family(value: Value) -> str:
    """The family of operands that ``value`` may satisfy: for an interval, that of its ends."""
    if not isinstance(value, Interval):
        return family(value)
    end = value.low if value.low is not None else value.high
    assert end is not None  # clean_interval refuses the interval of everything
    return family(end)


def clean_string(text: str) -> str:
    """``text`` in NFC; lone surrogates are refused."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as bad:
        raise EventValue(f"a string holds a lone surrogate at character {bad.start}") from None
    return unicodedata.normalize("NFC", text)


def clean_number(number: float) -> int | float:
    """``number`` if it is finite and fits 64 bits; negative zero becomes zero."""
    if type(number) is int:
        if not INT_MIN <= number <= INT_MAX:
            raise EventValue(f"the integer {str(number)[:40]} does not fit 64 bits")
        return number
    if not math.isfinite(number):
        raise EventValue(f"{number} is not a finite number")
    return number + 0.0


def clean_time(moment: date) -> datetime:
    """``moment`` as an aware UTC time; a naive time is taken as UTC, a date as its midnight."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC, fold=0)
    try:
        return moment.astimezone(UTC).replace(fold=0)
    except OverflowError:
        raise EventValue(f"the time {moment} lies outside the years 1 to 9999 in UTC") from None


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 date or time; raises ``ValueError``, or ``EventValue`` for one that UTC cannot say."""
    return clean_time(datetime.fromisoformat(text))


def format_time(moment: datetime) -> str:
    """The shortest ISO 8601 form of a UTC time, read back by :func:`parse_time`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def micros_of(moment: datetime) -> int:
    """Whole microseconds since 1970 in UTC."""
    return (moment - EPOCH) // _MICROSECOND


def moment_of(micros: int) -> datetime:
    """The time so many microseconds after 1970."""
    return EPOCH + micros * _MICROSECOND


def successor(value: Any) -> Any:
    """The least value above ``value`` that its type can hold; ``None`` if there is none."""
    if isinstance(value, str):
        return value + "\0"
    if isinstance(value, datetime):
        return value + _MICROSECOND if value < _LAST_TIME else None
    whole = int(value)
    if abs(whole) >= 2**53 and INT_MIN <= whole <= INT_MAX:
        # Beyond 2**53 integers are denser than floats; the last of them is followed by a float.
        return whole + 1 if whole < INT_MAX else 2.0**63
    following = math.nextafter(float(value), math.inf)
    return following if math.isfinite(following) else None


def predecessor(number: float) -> Any:
    """The greatest number below ``number`` that can be held; ``None`` if there is none."""
    above = successor(-number)
    return None if above is None else -above


def clean_interval(interval: Interval) -> Interval:
    """``interval`` with clean, comparable and ordered ends, the lower one closed."""
    low = None if interval.low is None else clean_value(interval.low)
    high = None if interval.high is None else clean_value(interval.high)
    if low is None and high is None:
        raise EventValue("an interval needs at least one end")
    for end in (low, high):
        if isinstance(end, bool | Interval | Point):
            raise EventValue(f"an interval cannot end at {end!r}")
    if low is not None and high is not None and family(low) != family(high):
        raise EventValue(f"the ends of an interval have different types: {low!r} and {high!r}")
    first: Any = successor(low) if low is not None and interval.low_open else low
    empty = low is not None and (
        first is None or (high is not None and (first > high or (first == high and interval.high_open)))
    )
    if empty:
        raise EventValue(f"the interval from {low!r} to {high!r} is empty")
    return Interval(first, high, False, interval.high_open)  # type: ignore[arg-type]


def clean_value(value: Any) -> Value:
    """``value`` as a member of the value model, or :class:`EventValue`."""
    kind = type(value)
    if kind is str:
        return clean_string(value)
    if kind is int or kind is float:
        return clean_number(value)
    if kind is bool or kind is Point:
        return value  # type: ignore[no-any-return]
    if kind is Interval:
        return clean_interval(value)
    return _clean_foreign(value)


def _clean_foreign(value: Any) -> Value:
    """Subclasses, dates, NumPy scalars and other values that can say what they are."""
    if isinstance(value, date):
        return clean_time(value)
    if isinstance(value, bool | int | float | str):
        for base in (bool, int, float, str):
            if isinstance(value, base):
                return clean_value(base(value))
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return clean_value(value.item())
    raise EventValue(f"a {type(value).__name__} is not a value; see docs/language.md for what is")
