"""Parses the header ``Retry-After``."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DIGITS = 12  # a longer number would be no realistic delay


def retry_after(header: str | None) -> float | None:
    """Return the delay in seconds, given as a number or a date, or ``None`` if it cannot be read."""
    header = (header or "").strip()
    if header.isascii() and header.isdecimal():
        return float(header[:DIGITS])
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:  # "-0000" means UTC without a known zone
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
