"""Moments as the store writes them: whole microseconds since 1970 in UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> int:
    """This moment."""
    return time.time_ns() // 1_000


def moment_of(micros: int) -> datetime:
    """The moment of so many microseconds since 1970."""
    return _EPOCH + micros * _MICROSECOND


def micros_of(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def iso(moment: int) -> str:
    """A moment as people and programs read it."""
    return moment_of(moment).isoformat().replace("+00:00", "Z")
