"""Moments as the store writes them: whole microseconds since 1970 in UTC."""

from __future__ import annotations

import time

from tamis.model.value import format_time, moment_of


def now() -> int:
    """This moment."""
    return time.time_ns() // 1_000


def iso(moment: int) -> str:
    """A moment as people and programs read it."""
    return format_time(moment_of(moment))
