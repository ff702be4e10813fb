"""Encodes the end of a page as an opaque cursor, and decodes it."""

from __future__ import annotations

import base64
import binascii

from tamis.errors import RequestInvalid


def encode(place: str | int | None) -> str | None:
    """Return the cursor of the next page, or ``None`` after the last page."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(str(place).encode()).decode().rstrip("=")


def decode_name(text: str | None) -> str:
    """Return the name after which a page begins, or an empty string for the first page."""
    try:
        given = text or ""
        found = base64.b64decode(given + "=" * (-len(given) % 4), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise _refusal() from None
    if "\0" in found:
        raise _refusal()
    return found


def decode_number(text: str | None) -> int | None:
    """Return the number before or after which a page begins; ``None`` for the first page."""
    if text is None:
        return None
    found = decode_name(text)
    if not found.isascii() or not found.isdecimal() or len(found) > 18:
        raise _refusal()
    return int(found)


def _refusal() -> RequestInvalid:
    return RequestInvalid("the cursor is not one that a page gave as next", field="cursor")
