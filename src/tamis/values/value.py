"""Define values: the only things that an event attribute or an operand may hold.

A value is a boolean, a 64-bit integer, a finite float, a string (NFC, no lone surrogates), a time (an aware
``datetime`` in UTC, microsecond precision), an :class:`Interval` or a :class:`Point`. The tree evaluator and
the encoder both get their values from here, so they cannot disagree. The module :mod:`tamis.values.foreign`
reads values of other types; docs/values.md lists them all.
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
_FIRST_TIME, _LAST_TIME = (end.replace(tzinfo=UTC) for end in (datetime.min, datetime.max))


class Point(msgspec.Struct, frozen=True, order=True):
    """A place: longitude and latitude in degrees."""

    lon: float
    lat: float

    def __post_init__(self) -> None:
        if type(self.lon) is not float or type(self.lat) is not float:
            msgspec.structs.force_setattr(self, "lon", _degrees(self.lon))
            msgspec.structs.force_setattr(self, "lat", _degrees(self.lat))
        if not (-180.0 <= self.lon <= 180.0 and -90.0 <= self.lat <= 90.0):
            raise EventValue(f"a point needs longitude in [-180, 180] and latitude in [-90, 90], not {self}")


def _degrees(number: Any) -> float:
    """Return a coordinate as a float; raise an error for booleans, text and all other objects."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        foreign = number if isinstance(number, bool) else _clean_foreign(number)
        if type(foreign) not in (int, float):
            raise EventValue(f"a point is made of two numbers, not {short(number)}")
        number = foreign
    try:
        return float(number)
    except OverflowError:
        raise EventValue(f"a point is made of two numbers of degrees, not {short(number)}") from None


class Interval(msgspec.Struct, frozen=True):
    """A range that an event carries as a value; ``None`` means no bound on that side."""

    low: Scalar | None = None
    high: Scalar | None = None
    low_open: bool = False
    high_open: bool = False


Scalar = bool | int | float | str | datetime
Value = Scalar | Interval | Point


def short(value: Any, most: int = 80) -> str:
    """Return the beginning of ``repr(value)`` for a message; never raise."""
    if isinstance(value, int) and value.bit_length() > 128:  # Python may refuse to write longer integers
        return f"{'-' if value < 0 else ''}10**{round(value.bit_length() * 0.30103)} or so"
    try:
        text = repr(value)
    except Exception:  # a foreign object may refuse to describe itself
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}…"


def family(value: Value) -> str:
    """Return the group of types that ``value`` is comparable with."""
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
    """Return the family of operands that ``value`` may satisfy: for an interval, that of its ends."""
    if not isinstance(value, Interval):
        return family(value)
    end = value.low if value.low is not None else value.high
    assert end is not None  # clean_interval refuses the interval of everything
    return family(end)


def clean_string(text: str) -> str:
    """Return ``text`` in NFC; raise :class:`EventValue` if it holds a lone surrogate."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as bad:
        raise EventValue(f"a string holds a lone surrogate at character {bad.start}") from None
    return unicodedata.normalize("NFC", text)


def clean_number(number: float) -> int | float:
    """Return ``number`` if it is finite and fits 64 bits; negative zero becomes zero."""
    if type(number) is int:
        if not INT_MIN <= number <= INT_MAX:
            raise EventValue(f"the integer {short(number)} does not fit 64 bits")
        return number
    if not math.isfinite(number):
        raise EventValue(f"{number} is not a finite number")
    return number + 0.0


def clean_time(moment: date) -> datetime:
    """Return ``moment`` as an aware UTC time; a naive time is taken as UTC, a date as its midnight.

    The result is a plain ``datetime`` even if ``moment`` is of a subclass, such as ``pandas.Timestamp``;
    digits beyond microseconds are dropped.
    """
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if type(moment) is not datetime:
        moment = _plain_datetime(moment)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC, fold=0)
    try:
        return moment.astimezone(UTC).replace(fold=0)
    except OverflowError:
        raise EventValue(f"the time {moment} lies outside the years 1 to 9999 in UTC") from None


def _plain_datetime(moment: datetime) -> datetime:
    try:
        return datetime(
            *(moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second),
            moment.microsecond,
            tzinfo=moment.tzinfo,
            fold=moment.fold,
        )
    except (TypeError, ValueError):
        raise EventValue(f"the time {short(moment)} lies outside the years 1 to 9999") from None


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 date or time; raise ``ValueError``, or ``EventValue`` if UTC cannot express it."""
    return clean_time(datetime.fromisoformat(text))


def format_time(moment: datetime) -> str:
    """Return the shortest ISO 8601 form of a UTC time, read back by :func:`parse_time`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def micros_of(moment: datetime) -> int:
    """Return the whole microseconds since 1970 in UTC."""
    return (moment - EPOCH) // _MICROSECOND


def moment_of(micros: int) -> datetime:
    """Return the time that lies ``micros`` microseconds after 1970."""
    return EPOCH + micros * _MICROSECOND


def successor(value: Any) -> Any:
    """Return the least value above ``value`` that its type can hold; ``None`` if there is none."""
    if isinstance(value, str):
        return value + "\0"
    if isinstance(value, datetime):
        return value + _MICROSECOND if value < _LAST_TIME else None
    whole = int(value)
    if abs(whole) >= 2**53 and INT_MIN <= whole <= INT_MAX:
        # Beyond 2**53 integers are denser than floats; a float follows the last of them.
        return whole + 1 if whole < INT_MAX else 2.0**63
    following = math.nextafter(float(value), math.inf)
    return following if math.isfinite(following) else None


def predecessor(value: Any) -> Any:
    """Return the greatest value below a number or time; ``None`` if there is none."""
    if isinstance(value, datetime):
        return value - _MICROSECOND if value > _FIRST_TIME else None
    above = successor(-value)
    return None if above is None else -above


def clean_interval(interval: Interval) -> Interval:
    """Return ``interval`` with clean, comparable and ordered ends, the lower one closed."""
    for name in ("low_open", "high_open"):
        if type(is_open := getattr(interval, name)) is not bool:
            raise EventValue(f"{name} of an interval is true or false, not {short(is_open)}")
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
    """Return ``value`` as a member of the value model; raise :class:`EventValue` if it is none."""
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
    """Read values of other types: subclasses, dates, NumPy and pandas scalars, decimals, enumerations."""
    if isinstance(value, datetime):
        return clean_time(value)
    from tamis.values.foreign import plain_of  # it needs the names above

    try:
        plain = plain_of(value)
    except EventValue:
        raise
    except Exception as bad:  # an object of a foreign class can raise anything, and affects only its event
        raise EventValue(f"a {type(value).__qualname__} cannot be read as a value: {bad}") from None
    if plain is None:
        raise EventValue(f"{short(value)} means that there is no value; leave the attribute out")
    return clean_value(plain)
