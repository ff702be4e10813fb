"""Views and flags: the kinds of derived dimensions, and the keys that views are ordered by."""

from __future__ import annotations

from enum import IntEnum

from tamis.expression.truth import address_of
from tamis.values.text import fold


class View(IntEnum):
    """Ordered string dimensions derived from an attribute; MAIN is the value itself.

    PATTERN is the value, too, but intervals of strings have no place in it: they satisfy no LIKE.
    """

    MAIN = 0
    REVERSED = 1
    FOLDED = 2
    FOLDED_REVERSED = 3
    ADDRESS = 4
    PATTERN = 5


class Flag(IntEnum):
    """Dimensions with the single cell 1, set by a property of the value."""

    TERM = 0
    CONTAINS = 1
    FOLDED_CONTAINS = 2
    REGEX = 3
    FOLDED_REGEX = 4
    TEXT = 5
    SHAPE = 6
    POINT = 7


def view_key(view: View, text: str) -> bytes | None:
    """Return the bytes that ``text`` is ordered by in ``view``; ``None`` if the view has no place for it."""
    if view in (View.MAIN, View.PATTERN):
        return text.encode()
    if view == View.REVERSED:
        return text[::-1].encode()
    if view == View.FOLDED:
        return fold(text).encode()
    if view == View.FOLDED_REVERSED:
        return fold(text)[::-1].encode()
    address = address_of(text)
    return None if address is None else address_key(*address)


def address_key(version: int, number: int) -> bytes:
    """Return an IP address as bytes in numeric order, v4 before v6."""
    return bytes([version]) + number.to_bytes(16, "big")


def after_prefix(prefix: str) -> bytes | None:
    """Return the least UTF-8 string above everything that starts with ``prefix``; ``None`` if there is
    none."""
    for at in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[at])
        if code < 0x10FFFF:
            # The surrogates are no characters: what follows U+D7FF is U+E000.
            following = 0xE000 if code == 0xD7FF else code + 1
            return (prefix[:at] + chr(following)).encode()
    return None
