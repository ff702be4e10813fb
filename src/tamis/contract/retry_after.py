"""How long another asks us to wait: the header ``Retry-After``."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DIGITS = 12  # more would be no time anybody waits


def retry_after(said: str | None) -> float | None:
    """Seconds from now, which are told as such or as a date; none if it cannot be read."""
    said = (said or "").strip()
    if said.isascii() and said.isdecimal():
        return float(said[:DIGITS])
    try:
        moment = parsedate_to_datetime(said)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000": in UTC, from nowhere in particular
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
