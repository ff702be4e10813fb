"""Cut a text into tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

from tamis.errors import ParseError


class Token(NamedTuple):
    """A piece of a text: its kind, the text itself and its place. The kind of an operator is its text."""

    kind: str
    text: str
    start: int


def tokens_of(text: str, pattern: re.Pattern[str]) -> list[Token]:
    """Return the tokens of a text, and one for its end.

    The groups of ``pattern`` name the kinds. The group ``space`` is left out, and the group ``sign`` is an
    operator.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None or match.end() == at:
            raise ParseError(f"{text[at]!r} is not expected here", text=text, position=at)
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(match[0] if kind == "sign" else kind, match[0], at))
        at = match.end()
    return [*found, Token("end", "", len(text))]
