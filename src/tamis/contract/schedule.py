"""Schedules: when the matches of a subscription are delivered, in the form that people write.

::

    at once                                  every match separately, as soon as it is known
    every 5 minutes, every two hours         one digest for each such interval, counted from 1970
    daily at 9 in Europe/Berlin              from nine to nine by that clock, summer and winter
    daily at 9:30 and 17 in Europe/Berlin    two a day
    weekly on Monday and Friday at 8 in UTC
    at most 10 per hour                      at once, but the tenth of an hour carries all the rest

A schedule divides time into periods, from one delivery time to the next. A time of day that the clock skips
in spring is counted from midnight as on other days. A time that occurs twice in autumn counts the first time.
"""

from __future__ import annotations

import difflib
import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import msgspec

from tamis.errors import InputError, ScheduleError
from tamis.values.value import EPOCH

UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_SECONDS = 366 * UNITS["day"]  # the longest period
MOST_DIGESTS = 1_000_000  # per period
MOST_TEXT = 500  # characters of a schedule
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60,
}  # fmt: skip
_SAYABLE = (
    "say 'at once', 'every 5 minutes', 'daily at 9 in Europe/Berlin', 'daily at 9:30 and 17 in UTC', "
    "'weekly on Monday at 8 in Europe/Berlin' or 'at most 10 per hour'"
)


class AtOnce(msgspec.Struct, frozen=True):
    """A schedule that delivers every match immediately."""

    def __str__(self) -> str:
        return "at once"


class Every(msgspec.Struct, frozen=True):
    """A schedule with a digest for each interval, counted from 1970."""

    amount: int
    unit: str

    def __str__(self) -> str:
        return f"every {self.unit}" if self.amount == 1 else f"every {self.amount} {self.unit}s"


class Calendar(msgspec.Struct, frozen=True):
    """A schedule with digests at times of the day, on all or some days of the week, in a time zone."""

    days: tuple[int, ...]  # 0 is Monday; empty means daily
    times: tuple[int, ...]  # minutes after midnight
    zone: str

    def __str__(self) -> str:
        times = _listed(
            [f"{time // 60}:{time % 60:02}" if time % 60 else str(time // 60) for time in self.times]
        )
        often = f"weekly on {_listed([DAYS[day] for day in self.days])}" if self.days else "daily"
        return f"{often} at {times} in {self.zone}"


class AtMost(msgspec.Struct, frozen=True):
    """A schedule that delivers at once, but at most a given number of times per minute, hour or day."""

    number: int
    unit: str

    def __str__(self) -> str:
        return f"at most {self.number} per {self.unit}"


Schedule = AtOnce | Every | Calendar | AtMost
AT_ONCE = AtOnce()

_AMOUNT = rf"(\d{{1,8}}|{'|'.join(_NUMBERS)})"
_UNIT = rf"({'|'.join(UNITS)})"
_TIME = r"\d{1,2}(?::\d{2})?(?: ?[ap]m)?"
_AND = r"(?:, | and |, and )"
# ASCII: otherwise a long s (U+017F) counts as s, a Kelvin sign as k, and digits of other scripts as digits.
_FLAGS = re.IGNORECASE | re.ASCII
_EVERY = re.compile(rf"every (?:{_AMOUNT} )?{_UNIT}s?", _FLAGS)
_AT_MOST = re.compile(rf"at most {_AMOUNT} (?:per|an?|each|every) {_UNIT}", _FLAGS)
_CALENDAR = re.compile(
    rf"(?:daily|weekly on (?P<days>[a-z]+(?:{_AND}[a-z]+)*)) at (?P<times>{_TIME}(?:{_AND}{_TIME})*)"
    r"(?: in (?P<zone>[A-Za-z0-9_+/-]{1,64}))?",
    _FLAGS,
)


@lru_cache(maxsize=10_000)
def parse_schedule(text: str | None) -> Schedule:
    """Return the schedule in a text; ``None`` means ``at once``."""
    if not text:
        return AT_ONCE
    if len(text) > MOST_TEXT:
        raise ScheduleError(f"{text[:80]!r}… has more than {MOST_TEXT} characters; {_SAYABLE}")
    said = " ".join(text.split())
    if said.lower() == "at once":
        return AT_ONCE
    if found := _EVERY.fullmatch(said):
        return _every(_number(found[1] or "1"), found[2].lower(), said)
    if found := _AT_MOST.fullmatch(said):
        return _at_most(_number(found[1]), found[2].lower(), said)
    if found := _CALENDAR.fullmatch(said):
        return _calendar(found, said)
    raise ScheduleError(f"{said[:80]!r} is no schedule; {_SAYABLE}")


def period(schedule: Schedule, moment: datetime) -> tuple[datetime, datetime]:
    """Return the start and end in UTC of the period around ``moment``; the digest is due at its end."""
    if moment.tzinfo is None or not 2 <= moment.year <= 9_997:
        raise InputError(f"a moment has a time zone and a year between 2 and 9997, unlike {moment!r}")
    return _period(schedule, moment.astimezone(UTC))


@lru_cache(maxsize=10_000)  # keyed by UTC, because in other zones an hour that occurs twice equals itself
def _period(schedule: Schedule, moment: datetime) -> tuple[datetime, datetime]:
    if isinstance(schedule, AtOnce):
        return moment, moment
    if isinstance(schedule, Calendar):
        return _between_times(schedule, moment)
    seconds = UNITS[schedule.unit] * (schedule.amount if isinstance(schedule, Every) else 1)
    length = timedelta(seconds=seconds)
    start = EPOCH + (moment - EPOCH) // length * length
    return start, start + length


def _between_times(schedule: Calendar, moment: datetime) -> tuple[datetime, datetime]:
    zone = ZoneInfo(schedule.zone)
    today = moment.astimezone(zone).date()
    around = [today + timedelta(days=days) for days in range(-8, 9)]
    times = {_instant(day, time, zone) for day in around for time in schedule.times if _is_on(schedule, day)}
    return max(at for at in times if at <= moment), min(at for at in times if at > moment)


def _instant(day: date, time: int, zone: ZoneInfo) -> datetime:
    """Return a time of a day in UTC; Python interprets a skipped time by the clock before the change."""
    return datetime(day.year, day.month, day.day, time // 60, time % 60, tzinfo=zone).astimezone(UTC)


def _is_on(schedule: Calendar, day: date) -> bool:
    return not schedule.days or day.weekday() in schedule.days


def _every(amount: int, unit: str, said: str) -> Every:
    if not 1 <= amount * UNITS[unit] <= MOST_SECONDS:
        raise ScheduleError(f"{said[:80]!r}: the time between digests is one second to 366 days")
    return Every(amount, unit)


def _at_most(number: int, unit: str, said: str) -> AtMost:
    if unit == "second" or not 1 <= number <= MOST_DIGESTS:
        raise ScheduleError(f"{said[:80]!r}: at most 1 to {MOST_DIGESTS:,} per minute, hour or day")
    return AtMost(number, unit)


def _calendar(found: re.Match[str], said: str) -> Calendar:
    days = {_day(name, said) for name in _parts(found["days"])} if found["days"] else set()
    times = {_time(time, said) for time in _parts(found["times"])}
    return Calendar(tuple(sorted(days)), tuple(sorted(times)), _zone(found["zone"] or "UTC"))


def _day(name: str, said: str) -> int:
    for number, day in enumerate(DAYS):
        if name.capitalize() in (day, day[:3]):
            return number
    raise ScheduleError(f"{said[:80]!r}: {name} is no day of the week; the days are {', '.join(DAYS)}")


def _time(text: str, said: str) -> int:
    clock, half = re.fullmatch(r"([0-9:]+) ?([ap]m)?", text.lower()).groups()  # type: ignore[union-attr]
    hour, minute = (int(part) for part in f"{clock}:0".split(":")[:2])
    if half and 1 <= hour <= 12:
        hour, half = hour % 12 + (12 if half == "pm" else 0), None
    if half or hour > 23 or minute > 59:
        raise ScheduleError(
            f"{said[:80]!r}: {text} is no time of the day; times are 0 to 23:59, or 9 am, 9:30 pm"
        )
    return hour * 60 + minute


def _zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = {zone.lower(): zone for zone in available_timezones()}
    if name.lower() in known:
        return known[name.lower()]
    near = [known[zone] for zone in difflib.get_close_matches(name.lower(), known, 3, 0.85)]
    meant = f"did you mean {' or '.join(near)}?" if near else "say a name such as Europe/Berlin"
    raise ScheduleError(f"the time zone {name} is not known; {meant}")


def _number(word: str) -> int:
    return _NUMBERS.get(word.lower()) or int(word)


def _parts(text: str) -> list[str]:
    return re.split(r", and | and |, ", text, flags=_FLAGS)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
