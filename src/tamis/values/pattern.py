"""Read LIKE patterns once, and classify them.

A pattern is a list of literal pieces and wildcards. The common shapes (no wildcard, prefix, suffix, contains)
are recognised by name, so that the locators can treat them as ranges and substrings; the rest becomes a
regular expression for RE2.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from tamis.errors import PatternError
from tamis.values.text import fold

LikeShape = Literal["equals", "prefix", "suffix", "contains", "present", "general"]


class LikePattern(NamedTuple):
    """A classified LIKE pattern: its shape, the literal of simple shapes, the RE2 text of general ones."""

    shape: LikeShape
    literal: str
    regex: str


class Wild(Enum):
    """The wildcards of LIKE."""

    ANY = "%"
    ONE = "_"


@lru_cache(maxsize=65_536)
def read_like(pattern: str, folded: bool) -> LikePattern:
    """Classify ``pattern``; with ``folded`` its literals are case-folded first."""
    parts = list(parts_of_like(pattern))
    if folded:
        parts = [part if isinstance(part, Wild) else fold(part) for part in parts]
    return LikePattern(*_shape(parts), _regex(parts))


def parts_of_like(pattern: str) -> Iterator[str | Wild]:
    """Yield the literal pieces and wildcards of a pattern in order; runs of ``%`` count once."""
    literal: list[str] = []
    previous: str | Wild | None = None
    chars = iter(pattern)
    for char in chars:
        if char not in "%_":
            literal.append(_unescape(chars) if char == "\\" else char)
            previous = None
            continue
        if literal:
            yield "".join(literal)
            literal.clear()
        wild = Wild(char)
        if not (wild is Wild.ANY and previous is Wild.ANY):
            yield wild
        previous = wild
    if literal:
        yield "".join(literal)


def _unescape(chars: Iterator[str]) -> str:
    for char in chars:
        return char
    raise PatternError("a LIKE pattern cannot end in a lone backslash; write two for a literal one")


def _shape(parts: list[str | Wild]) -> tuple[LikeShape, str]:
    match parts:
        case []:
            return "equals", ""
        case [str(literal)]:
            return "equals", literal
        case [Wild.ANY]:
            return "present", ""
        case [str(literal), Wild.ANY]:
            return "prefix", literal
        case [Wild.ANY, str(literal)]:
            return "suffix", literal
        case [Wild.ANY, str(literal), Wild.ANY]:
            return "contains", literal
    return "general", ""


def _regex(parts: list[str | Wild]) -> str:
    wild = {Wild.ANY: ".*", Wild.ONE: "."}
    return f"(?s)^{''.join(wild[p] if isinstance(p, Wild) else quote(p) for p in parts)}$"


def like_matches(like: LikePattern, subject: str) -> bool:
    """Return whether all of ``subject`` satisfies a LIKE pattern; simple shapes need no automaton."""
    match like.shape:
        case "contains":
            return like.literal in subject
        case "prefix":
            return subject.startswith(like.literal)
        case "suffix":
            return subject.endswith(like.literal)
        case "equals":
            return subject == like.literal
        case "present":
            return True
    return compiled(like.regex).search(subject) is not None


def quote(literal: str) -> str:
    """Return ``literal`` as RE2 text that matches just itself."""
    import re2

    return str(re2.escape(literal))


@lru_cache(maxsize=8192)
def compiled(pattern: str) -> Any:
    """Return the RE2 program of ``pattern``; raise :class:`PatternError` if RE2 refuses it."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as bad:
        reason = bad.args[0].decode() if isinstance(bad.args[0], bytes) else bad.args[0]
        raise PatternError(f"RE2 refuses the pattern {pattern[:80]!r}: {reason}") from None
