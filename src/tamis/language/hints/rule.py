"""Define the rules for text from other query languages, and the hints that they give.

A rule looks at the text before the place of an error and at the text from there on. The first rule that fits
gives the hint, so special rules stand before general ones. Rules run only after an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

Hint = str | Callable[[re.Match[str], re.Match[str]], str]

NAME = r"(?P<name>[A-Za-z_][\w.]*)"
NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
VALUE = rf"(?P<value>'[^']*'|\"[^\"]*\"|{NUMBER}|[A-Za-z_]\w*)"
SIGN = r"(?P<sign><=|>=|<>|!=|==|=|<|>)"


class Rule(NamedTuple):
    """A rule: ``before`` must end the text before the error, ``rest`` must begin the text from it on."""

    before: re.Pattern[str]
    rest: re.Pattern[str]
    hint: Hint


def rule(before: str, rest: str, hint: Hint) -> Rule:
    """Return a rule of two patterns, which ignore case, and the hint if both fit."""
    return Rule(re.compile(f"(?:{before})\\Z", re.IGNORECASE), re.compile(rest, re.IGNORECASE), hint)


def quoted(text: str) -> str:
    """Return a text, with or without other quotes, as a string literal."""
    return "'" + text.strip("\"'“”‘’„‚«»`").replace("'", "''") + "'"


def literal(text: str) -> str:
    """Return a number as it is, any other text as a string literal."""
    return text if re.fullmatch(NUMBER, text) else quoted(text)


def iso(year: str, month: str, day: str) -> str:
    """Return a date with the year first."""
    return f"{year}-{int(month):02}-{int(day):02}"


def inner(text: str | None) -> str:
    """Return the content of a literal, or ``x`` if there is none."""
    return (text or "x").strip("\"'")


def contains(text: str | None, negation: str = "") -> str:
    """Return the hint for a search of a part of a string."""
    part = inner(text)
    return f"write {negation}CONTAINS '{part}' for a part of a string, {negation}HAS '{part}' for a word"


def on_the_left(name: str, value: str) -> str:
    """Return the hint for a test of one of several values."""
    return f"the attribute stands on the left: {name} = {value} holds if one of its values is that"
