"""Define views and flags, by which an index finds predicates that are not plain comparisons.

A *view* orders the strings of an attribute by another key: a prefix, a suffix or a network is a range in it.
A *flag* is set by a property of the value, such as a term that it holds.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from tamis.values.address import address_of
from tamis.values.pattern import LikePattern
from tamis.values.text import fold
from tamis.values.version import Scheme, version_key

USING = "\x1f"  # stands behind the name of an analyser, before the term or text of a flag
END = 1  # the side of a cut that lies just after its string


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
    SEMVER = 6
    PEP440 = 7
    DEBIAN = 8


_SCHEMES: dict[View, Scheme] = {View.SEMVER: "semver", View.PEP440: "pep440", View.DEBIAN: "debian"}


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
    LIKES = 8


class StringRange(NamedTuple):
    """A range of strings between two cuts (string, side); ``None`` is unbounded."""

    low: tuple[bytes, int] | None
    high: tuple[bytes, int] | None


class OnView(NamedTuple):
    """An atom: the value seen through ``view`` lies in one of the ranges."""

    view: View
    ranges: tuple[StringRange, ...]


class OnFlag(NamedTuple):
    """An atom: the flag of ``pattern`` is set."""

    flag: Flag
    pattern: str


Atom = OnView | OnFlag


def view_key(view: View, text: str) -> bytes | None:
    """Return the bytes that ``text`` is ordered by in ``view``; ``None`` if the view excludes it."""
    if view in (View.MAIN, View.PATTERN):
        return text.encode()
    if view == View.REVERSED:
        return text[::-1].encode()
    if view == View.FOLDED:
        return fold(text).encode()
    if view == View.FOLDED_REVERSED:
        return fold(text)[::-1].encode()
    if view in _SCHEMES:
        return version_key(_SCHEMES[view], text)
    address = address_of(text)
    return None if address is None else address_key(*address)


def address_key(version: int, number: int) -> bytes:
    """Return an IP address as bytes in numeric order, v4 before v6."""
    return bytes([version]) + number.to_bytes(16, "big")


def after_prefix(prefix: str) -> bytes | None:
    """Return the least UTF-8 string above all strings with the prefix; ``None`` if there is none."""
    for at in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[at])
        if code < 0x10FFFF:
            # U+E000 follows U+D7FF: the surrogates between them are no characters.
            following = 0xE000 if code == 0xD7FF else code + 1
            return (prefix[:at] + chr(following)).encode()
    return None


def prefix_range(prefix: str) -> StringRange:
    """Return the range of the strings that start with ``prefix``."""
    after = after_prefix(prefix)
    return StringRange((prefix.encode(), 0), None if after is None else (after, 0))


def address_range(low: tuple[int, int], high: tuple[int, int]) -> StringRange:
    """Return the range of the addresses from ``low`` to ``high``."""
    return StringRange((address_key(*low), 0), (address_key(*high), END))


def on_pattern(like: LikePattern, folded: bool) -> Atom:
    """Return the atom of a pattern: a range if it is anchored at an end, else a flag."""
    if like.shape == "contains":
        return OnFlag(Flag.FOLDED_CONTAINS if folded else Flag.CONTAINS, like.literal)
    if like.shape == "general":
        return OnFlag(Flag.FOLDED_REGEX if folded else Flag.REGEX, like.regex)
    if like.shape == "present":
        return OnView(View.PATTERN, (StringRange(None, None),))
    if like.shape == "suffix":
        view = View.FOLDED_REVERSED if folded else View.REVERSED
        return OnView(view, (prefix_range(like.literal[::-1]),))
    view = View.FOLDED if folded else View.PATTERN
    if like.shape == "prefix":
        return OnView(view, (prefix_range(like.literal),))
    key = like.literal.encode()
    return OnView(view, (StringRange((key, 0), (key, END)),))
