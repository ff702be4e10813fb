"""Moments as the store writes them: whole microseconds since 1970 in UTC."""

from __future__ import annotations

import time


def now() -> int:
    """This moment."""
    return time.time_ns() // 1_000
