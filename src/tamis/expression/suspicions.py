"""Find valid operands that look like a mistake: strings with wildcards, numbers, times, versions or words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# Possessive quantifiers: no operand makes these patterns backtrack.
_PERCENT = re.compile(r"\s*+[0-9][0-9.,]*+\s*+%")
_NUMBER = re.compile(r"[+-]?+[0-9]++(?:[.,][0-9]++)*+")
_VERSION = re.compile(r"v?+[0-9]++(?:\.[0-9]++){2,}+(?:[-+~][0-9A-Za-z.+~-]++)?+")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}", re.DOTALL)
_WORDS = frozenset(("true", "false", "null", "none"))
_LONGEST = 40  # characters of a number or time


def about_strings(operands: Iterable[Any], *, ordered: bool) -> tuple[str, str] | None:
    """Return (code, text) about the first string operand that looks wrong; ``ordered`` if order matters."""
    strings = (operand for operand in operands if isinstance(operand, str))
    return next(filter(None, (_about(text, ordered) for text in strings)), None)


def _about(value: str, ordered: bool) -> tuple[str, str] | None:
    if len(value) > 1 and (value[0] == "%" or value[-1] == "%") and not _PERCENT.fullmatch(value):
        return "literal-wildcard", "% is a wildcard only in LIKE and ILIKE; here it is itself"
    if len(value) <= _LONGEST and _TIME.fullmatch(value):
        return (
            "quoted-value",
            "this is a string; to compare with times write TIMESTAMP '2026-11-15T08:00:00Z'",
        )
    if ordered and len(value) <= _LONGEST and _VERSION.fullmatch(value):
        return (
            "quoted-value",
            "strings are ordered by character; to compare versions write VERSION before the sign",
        )
    if ordered and len(value) <= _LONGEST and _NUMBER.fullmatch(value):
        return "quoted-value", "strings are ordered by character; to compare numbers leave out the quotes"
    if value.lower() in _WORDS:
        return "quoted-value", "this is a string; write TRUE, FALSE or IS NULL without quotes"
    return None
