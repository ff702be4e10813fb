"""Times in the store's form: whole microseconds since 1970 in UTC."""

from __future__ import annotations

import time
from datetime import datetime

from tamis.values.value import format_time, moment_of


def now() -> int:
    """Return the current time."""
    return time.time_ns() // 1_000


def calendar_moment(micros: int) -> datetime | None:
    """Return a stored time as a datetime, or ``None`` outside the years 1 to 9999."""
    try:
        return moment_of(micros)
    except OverflowError:
        return None


def iso(micros: int) -> str | None:
    """Return a stored time in ISO format, or ``None`` outside the years 1 to 9999."""
    moment = calendar_moment(micros)
    return None if moment is None else format_time(moment)
