"""Split a Lucene query into tokens, by the rules of Lucene's classic query parser."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, NoReturn

from tamis.errors import ParseError

Kind = Literal[
    "and", "or", "not", "+", "-", "bare", "(", ")", ":", "star", "boost", "fuzzy",
    "quoted", "term", "prefix", "wildcard", "regex", "range", "end",
]  # fmt: skip

# Possessive quantifiers throughout: no input makes these patterns backtrack.
_SPACE = " \t\n\r\u3000"
_START = r"(?:[^ \t\n\r\u3000+\-!():^\[\]\"{}~*?\\/]|\\.)"
_RUN = re.compile(rf"(?:{_START}|[*?])(?:{_START}|[-+*?])*+", re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_REGEX = re.compile(r"/(?:\\/|[^/])*+/", re.DOTALL)
_BOOST = re.compile(r"\^[0-9]++(?:\.[0-9]++)?+")
_FUZZY = re.compile(rf"~(?:{_START}|[-+])*+", re.DOTALL)
_END = r'("(?:[^"\\]|\\.)++"|[^ \]}"][^ \]}]*+)'
_RANGE = re.compile(
    rf"([\[{{])[{_SPACE}]*+{_END}[{_SPACE}]++TO(?=[{_SPACE}])[{_SPACE}]*+{_END}[{_SPACE}]*+([\]}}])",
    re.DOTALL,
)
_WILD = re.compile(r"(\\.)|([*?])", re.DOTALL)
_KEYWORDS: dict[str, Kind] = {"AND": "and", "&&": "and", "OR": "or", "||": "or", "NOT": "not"}
_SIGNS: dict[str, Kind] = {"+": "+", "-": "-", "!": "not", "(": "(", ")": ")", ":": ":"}


class Token(NamedTuple):
    """A piece of the query as it is written."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place behind the token."""
        return self.start + len(self.text)

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return self.text if len(self.text) <= 40 else f"{self.text[:40]}…"


class Range(NamedTuple):
    """The parts of a range as they are written."""

    low: str
    high: str
    low_open: bool
    high_open: bool


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a query; the last one is its end."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at] in _SPACE:
            at += 1
            continue
        token = _token_at(text, at)
        found.append(token)
        at = token.end
    return [*found, Token("end", "", len(text))]


def range_of(token: Token) -> Range:
    """Return the parts of a range."""
    parts = _RANGE.match(token.text)
    assert parts is not None
    return Range(parts[2], parts[3], parts[1] == "{", parts[4] == "}")


def wildcards_of(text: str) -> list[str]:
    """Return the pieces between wildcards and the wildcards themselves; empty pieces are left out."""
    pieces: list[str] = []
    literal = 0
    for found in _WILD.finditer(text):
        if found[2]:
            pieces += [text[literal : found.start()], found[2]]
            literal = found.end()
    return [piece for piece in (*pieces, text[literal:]) if piece]


def unescaped(text: str, start: int, query: str) -> str:
    """Return a text without its backslashes; one before ``u0041`` makes the character of that number."""
    if "\\" not in text:
        return text
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\":
            found.append(text[at])
            at += 1
        elif text.startswith("u", at + 1):
            digits = text[at + 2 : at + 6]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                fail("four hexadecimal digits after \\u", query, start + at)
            found.append(chr(int(digits, 16)))
            at += 6
        else:
            found.append(text[at + 1 : at + 2])
            at += 2
    try:  # two halves of a character may be written one after the other
        return "".join(found).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        fail("a character, not half of one, in the numbers after \\u", query, start)


def fail(expected: str, query: str, start: int, found: object = None) -> NoReturn:
    """Raise the error that something else is expected at a place."""
    behind = "" if found is None else f", found {found}"
    raise ParseError(f"expected {expected}{behind}", text=query, position=start)


def _token_at(text: str, at: int) -> Token:
    sign = text[at]
    if sign in "+-!" and at + 1 < len(text) and text[at + 1] in _SPACE:
        return Token("bare", sign, at)
    if sign in _SIGNS:
        return Token(_SIGNS[sign], sign, at)
    if sign == '"':
        return _matched(_QUOTED, "quoted", text, at, "the closing quote of the phrase")
    if sign == "/":
        return _matched(_REGEX, "regex", text, at, "the closing / of the expression; escape a slash as \\/")
    if sign == "^":
        return _matched(_BOOST, "boost", text, at, "a number right behind ^, such as ^2 or ^0.5")
    if sign == "~":
        return _matched(_FUZZY, "fuzzy", text, at, "a number behind ~")
    if sign in "[{":
        return _matched(
            _RANGE, "range", text, at, "a range: [low TO high], {low TO high}, or * for an open end"
        )
    if sign in "]}":
        fail("a term; escape the bracket with a backslash if it is part of one", text, at, sign)
    return _run(text, at)


def _matched(pattern: re.Pattern[str], kind: Kind, text: str, at: int, expected: str) -> Token:
    found = pattern.match(text, at)
    if found is None:
        fail(expected, text, at)
    return Token(kind, found[0], at)


def _run(text: str, at: int) -> Token:
    found = _RUN.match(text, at)
    if found is None:
        fail("a character behind the backslash", text, at)
    run = found[0]
    signs = [piece for piece in wildcards_of(run) if piece in ("*", "?")]
    if not signs:
        return Token(_KEYWORDS.get(run, "term"), run, at)
    if run == "*":
        return Token("star", run, at)
    is_prefix = signs == ["*"] and wildcards_of(run)[-1] == "*"
    return Token("prefix" if is_prefix else "wildcard", run, at)
