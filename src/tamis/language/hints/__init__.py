"""Suggest a correction after an error in a text; nothing is computed before there is an error."""

from __future__ import annotations

import re
from difflib import get_close_matches

from tamis.errors import ExpressionError, ParseError, TypeMismatch
from tamis.language.hints import places, signs, values, words
from tamis.language.hints.rule import quoted
from tamis.language.spellings import WORDS

RULES = (*signs.RULES, *words.RULES, *values.RULES, *places.RULES)  # the first rule that fits gives the hint
BEFORE, AFTER = 120, 120  # characters around the error that rules look at

_READ, _TIME = "expected ", " is not a time"  # the beginnings of the grammar's messages
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPENERS = re.compile(r"'[^']*+(?:''[^']*+)*+'|\"[^\"]*+\"|[()]")
_CONNECTIVES = ("AND", "OR")
_VERBS = (*WORDS.following, "NOT")
_OPERANDS = ("NULL", "TRUE", "FALSE", "TIMESTAMP", "DATE", "POINT", "POLYGON", "MULTIPOLYGON", "BOX")


def hinted(error: ExpressionError, text: str) -> ExpressionError:
    """Return ``error`` with a hint behind its message, if there is one."""
    hint = _hint_of(error, text)
    if hint is not None:
        error.message = f"{error.message}. {hint[:1].upper()}{hint[1:]}"
        error.args = (error.message,)
    return error


def _hint_of(error: ExpressionError, text: str) -> str | None:
    """Return a hint, unless the message itself names the remedy."""
    if error.position is None:
        return None
    if isinstance(error, TypeMismatch):
        return places.swapped(text[: error.position], text[error.position :])
    if not isinstance(error, ParseError) or (
        not error.message.startswith(_READ) and _TIME not in error.message
    ):
        return None
    return hint_at(text, error.position, error.message)


def hint_at(text: str, position: int, message: str) -> str | None:
    """Return the correction for the text at ``position``."""
    begin = max(0, position - BEFORE)
    before, rest = "…" * (begin > 0) + text[begin:position], text[position : position + AFTER]
    for rule in RULES:
        found = rule.rest.match(rest)
        if found is None:
            continue
        ending = rule.before.search(before)
        if ending is not None:
            return rule.hint if isinstance(rule.hint, str) else rule.hint(ending, found)
    return _by_message(text, before, rest, message)


def _by_message(text: str, before: str, rest: str, message: str) -> str | None:
    """Return the hint that follows from the place where the grammar stopped."""
    word = _WORD.match(rest)
    if message.startswith("expected an attribute"):
        return _no_condition(text, before, word)
    if message.startswith("expected AND, OR or the end"):
        return _no_connective(rest, word)
    if message.startswith("expected ')' to close"):
        opened = _open_parenthesis(text)
        return None if opened is None else f"the parenthesis at {opened} is never closed"
    if message.startswith("expected a value"):
        return _no_value(word) if rest else "the value is missing"
    near = _near(word, (*_VERBS, *_OPERANDS))
    if near is not None:
        return f"did you mean {near}?"
    if "after the attribute" in message and (not rest or rest[0] in ")" or _near_connective(word)):
        name = before.split()[-1] if before.split() else "a"
        return f"to test for presence write {name} IS NOT NULL, for a boolean {name} = TRUE"
    return None


def _no_condition(text: str, before: str, word: re.Match[str] | None) -> str | None:
    if not text.strip():
        return "an expression is empty; TRUE matches every event"
    last = before.split()[-1].upper() if before.split() else ""
    if last in ("AND", "OR", "NOT"):
        return f"a condition is missing after {last}"
    if word is not None and word[0].upper() in (*_CONNECTIVES, *_VERBS):
        return f"a condition is missing before {word[0].upper()}; in double quotes it would be a name"
    return None


def _no_connective(rest: str, word: re.Match[str] | None) -> str | None:
    if rest.startswith(")"):
        return "there is a closing parenthesis too many"
    if rest.startswith(("]", "}")):
        return f"there is a {rest[0]} too many"
    if rest.startswith(","):
        return "join conditions with AND or OR, not with a comma"
    if word is None:
        return "AND or OR is missing" if rest[:1] in "('\"" else None
    near = _near(word, _CONNECTIVES)
    if near is not None:
        return f"did you mean {near}?"
    return "AND or OR is missing before it"


def _no_value(word: re.Match[str] | None) -> str | None:
    if word is None:
        return None
    written = word[0]
    if written.upper() in ("YES", "ON", "Y", "T"):
        return "a boolean is TRUE or FALSE"
    if written.upper() in ("NO", "OFF", "N", "F"):
        return "a boolean is TRUE or FALSE"
    near = _near(word, _OPERANDS)
    suggestion = f", or did you mean {near}?" if near is not None else ""
    return None if written.upper() in _OPERANDS else f"write {quoted(written)}{suggestion}"


def _near_connective(word: re.Match[str] | None) -> bool:
    return word is not None and word[0].upper() in _CONNECTIVES


def _near(word: re.Match[str] | None, known: tuple[str, ...]) -> str | None:
    """Return the keyword that a word is a misspelling of: similar, or the same letters in another order."""
    if word is None or len(word[0]) > 20 or word[0].upper() in known:
        return None
    written = word[0].upper()
    for one in known:
        if sorted(one) == sorted(written):
            return one
    found = get_close_matches(written, known, 1, 0.7)
    return found[0] if found else None


def _open_parenthesis(text: str) -> int | None:
    opened: list[int] = []
    for piece in _OPENERS.finditer(text):
        if piece[0] == "(":
            opened.append(piece.start())
        elif piece[0] == ")" and opened:
            opened.pop()
    return opened[-1] if opened else None
