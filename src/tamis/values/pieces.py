"""Find the literal pieces of patterns: every string that a pattern matches holds all of them.

A table that looks for pieces tries few patterns on a string. :func:`like_parts` reads the RE2 text of a LIKE
pattern back. :func:`required_pieces` reads any expression, and gives up where it is not sure.
"""

from __future__ import annotations

import re
from itertools import groupby

from tamis.values.pattern import Wild

_HEAD, _TAIL = "(?s)^", "$"
# RE2 escapes all ASCII characters but for letters, digits and "_". NUL becomes \x00.
_PART = re.compile(
    r"(?P<any>\.\*)|(?P<one>\.)|(?P<nul>\\x00)|\\(?P<sign>[^A-Za-z0-9])|(?P<plain>[A-Za-z0-9_]|[^\0-\x7f])",
    re.DOTALL,
)
_CLASSES = frozenset("dDwWsSbBAz")  # escapes that stand for one of several characters, or for a place
_OPTIONAL = frozenset("*?{")


def like_parts(regex: str) -> list[str | Wild] | None:
    """Return literals and wildcards of a LIKE pattern from its RE2 text; ``None`` for other expressions."""
    if not (regex.startswith(_HEAD) and regex.endswith(_TAIL)):
        return None
    at, end, parts = len(_HEAD), len(regex) - len(_TAIL), []
    while at < end:
        found = _PART.match(regex, at, end)
        if found is None:
            return None
        kind = found.lastgroup
        wild = {"any": Wild.ANY, "one": Wild.ONE}.get(kind or "")
        parts.append(wild or ("\0" if kind == "nul" else found[kind or 0]))
        at = found.end()
    return _joined(parts)


def _joined(parts: list[str | Wild]) -> list[str | Wild]:
    """Return the parts with neighbouring literals joined."""
    found: list[str | Wild] = []
    for literal, group in groupby(parts, lambda part: isinstance(part, str)):
        own = list(group)
        found += ["".join(own)] if literal else own  # type: ignore[arg-type]
    return found


def in_order(parts: list[str | Wild], subject: str) -> bool:
    """Return whether literals with ``%`` between them are all of ``subject``; the time is linear."""
    at, end = 0, len(subject)
    if isinstance(parts[0], str):
        if not subject.startswith(parts[0]):
            return False
        at = len(parts[0])
    last = parts[-1] if isinstance(parts[-1], str) and len(parts) > 1 else ""
    for piece in parts[1 if at else 0 : -1 if last else None]:
        if isinstance(piece, str):
            at = subject.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
    if parts[-1] is Wild.ANY:
        return True
    return at == end if not last else at + len(last) <= end and subject.endswith(last)


def required_pieces(regex: str) -> list[str]:
    """Return literals that every string in which an expression is found holds; none if that is not sure.

    Groups, alternatives and flags are not read.
    """
    if any(sign in regex for sign in "()|"):
        return []
    pieces, run, at = [], "", 0
    while at < len(regex):
        sign, following = regex[at], regex[at + 1 : at + 2]
        at += 1
        if sign == "[":
            at = _after_class(regex, at)
            literal = ""
        elif sign == "\\":
            if following.isalnum() and following not in _CLASSES:
                return []  # an escape of several characters
            literal = "" if following in _CLASSES else following
            at += 1
        elif sign == "{":
            at = regex.find("}", at) + 1
            if not at:
                return []
            literal = ""
        else:
            literal = "" if sign in "^$.*+?}]" else sign
        if literal and regex[at : at + 1] not in _OPTIONAL:
            run += literal
            continue
        pieces.append(run)
        run = ""
    return [piece for piece in [*pieces, run] if piece]


def _after_class(regex: str, at: int) -> int:
    """Return the place behind a class of characters, whose ``[`` stands before ``at``."""
    at += regex[at : at + 1] == "^"
    at += regex[at : at + 1] == "]"
    while at < len(regex) and regex[at] != "]":
        if regex.startswith("[:", at) and (end := regex.find(":]", at)) >= 0:
            at = end + 1
        at += 2 if regex[at] == "\\" else 1
    return at + 1
