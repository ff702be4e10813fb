"""Read the dates of Elasticsearch: ISO 8601, milliseconds, and date math such as ``2026-01-31||+1M/d``."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from tamis.errors import EventValue
from tamis.values.value import EPOCH, clean_time

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_STEP = re.compile(r"([+-])([0-9]{1,6})?([yMwdhHms])|/([yMwdhHms])")
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "H": "hours", "m": "minutes", "s": "seconds"}
_MICROSECOND = timedelta(microseconds=1)


def time_of(value: Any, up: bool = False) -> datetime:
    """Return the time that a value says; raise ``ValueError`` if it says none.

    ``up`` rounds to the end: a date to the last moment of its day, ``/M`` to the last moment of the month.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_milliseconds(value)
    if not isinstance(value, str):
        raise ValueError("expected a date")
    if value.startswith("now"):
        raise ValueError(
            f"{value[:40]!r} is relative to the time of the search, and an expression has no current time"
        )
    text, _, math = value.partition("||")
    try:
        return _moved(_anchor(text, up and not math), math, up)
    except (OverflowError, EventValue):
        raise ValueError(f"{value[:40]!r} lies outside the years 1 to 9999") from None


def _from_milliseconds(value: float) -> datetime:
    try:
        return EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        raise ValueError("the date lies outside the years 1 to 9999") from None


def _anchor(text: str, up: bool) -> datetime:
    if text.isdigit() and len(text) > 4:
        return _from_milliseconds(int(text[:18]))
    found = _DATE.fullmatch(text)
    if found is None:
        try:
            return clean_time(datetime.fromisoformat(text))
        except ValueError:
            raise ValueError(f"{text[:40]!r} is no ISO 8601 date; other formats are not read") from None
    year, month, day = (int(part) if part else 1 for part in found.groups())
    try:
        start = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        raise ValueError(f"there is no date {text[:40]!r}") from None
    return start + timedelta(days=1) - _MICROSECOND if up else start


def _moved(moment: datetime, math: str, up: bool) -> datetime:
    at = 0
    while at < len(math):
        step = _STEP.match(math, at)
        if step is None:
            raise ValueError(f"{math[at : at + 20]!r} is no date math such as +1M/d")
        sign, count, unit, rounding = step.groups()
        if rounding:
            moment = _rounded(moment, rounding, up)
        else:
            moment = _plus(moment, (-1 if sign == "-" else 1) * int(count or 1), unit)
        at = step.end()
    return moment


def _plus(moment: datetime, count: int, unit: str) -> datetime:
    if unit in _UNITS:
        return moment + timedelta(**{_UNITS[unit]: count})
    months = moment.month - 1 + count * (12 if unit == "y" else 1)
    year, month = moment.year + months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        raise OverflowError
    return moment.replace(year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1]))


def _rounded(moment: datetime, unit: str, up: bool) -> datetime:
    start = moment.replace(microsecond=0)
    smaller = {"s": 0, "m": 1, "h": 2, "H": 2, "d": 3, "w": 3, "M": 4, "y": 5}[unit]
    for name, value in (("second", 0), ("minute", 0), ("hour", 0), ("day", 1), ("month", 1))[:smaller]:
        start = start.replace(**{name: value})  # type: ignore[arg-type]
    if unit == "w":
        start -= timedelta(days=start.weekday())
    return _plus(start, 1, unit) - _MICROSECOND if up else start
