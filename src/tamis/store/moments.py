"""Moments as the store writes them: whole microseconds since 1970 in UTC."""

from __future__ import annotations

import time
from datetime import datetime

from tamis.values.value import format_time, moment_of


def now() -> int:
    """This moment."""
    return time.time_ns() // 1_000


def calendar_moment(micros: int) -> datetime | None:
    """Return a moment that was kept; none if it lies outside the years 1 to 9999, as a stream's clock may
    say."""
    try:
        return moment_of(micros)
    except OverflowError:
        return None


def iso(micros: int) -> str | None:
    """Return a moment as people and programs read it; none if no calendar has it."""
    moment = calendar_moment(micros)
    return None if moment is None else format_time(moment)
