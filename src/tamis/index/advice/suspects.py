"""Operands that are valid and yet look as if another form was meant: wildcards, quoted numbers and times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tamis.expression.tree import Between, Compare, In, Like, Predicate, Regex
from tamis.index.advice.cautions import Caution, shortened
from tamis.language import Span, to_text

# Possessive quantifiers: no operand makes these patterns backtrack.
_PERCENT = re.compile(r"\s*+[0-9][0-9.,]*+\s*+%")
_NUMBER = re.compile(r"[+-]?+[0-9]++(?:[.,][0-9]++)*+")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}", re.DOTALL)
_STAR = re.compile(r"\w[*]|[*]\w")
_FLAGS = re.compile(r"/[gimsu]{1,3}+")
_WORDS = frozenset(("true", "false", "null", "none"))
_LONGEST = 40  # characters of a number or time


def of_operands(leaves: list[tuple[Predicate, Span]]) -> Iterator[Caution]:
    """Cautions about single predicates, at most one for each."""
    for predicate, span in leaves:
        said = _about(predicate)
        if said is not None:
            code, text = said
            yield Caution(code, f"{shortened(to_text(predicate))}: {text}", span.start, span.end)


def _about(predicate: Predicate) -> tuple[str, str] | None:
    match predicate:
        case Like(pattern=pattern):
            if "%" not in pattern and _STAR.search(pattern):
                return "literal-wildcard", "in LIKE the wildcards are % and _; * is itself"
        case Regex(pattern=pattern):
            if pattern.startswith("/") and _FLAGS.fullmatch(pattern[pattern.rindex("/") :]):
                return (
                    "literal-wildcard",
                    "slashes and flags around a pattern are part of it; write (?i) instead",
                )
        case Compare() | In() | Between():
            ordered = isinstance(predicate, Between) or getattr(predicate, "op", "=") not in ("=", "!=")
            return next(filter(None, (_string(value, ordered) for value in _strings(predicate))), None)
    return None


def _strings(predicate: Any) -> Iterator[str]:
    if isinstance(predicate, Compare):
        values: tuple[Any, ...] = (predicate.value,)
    else:
        values = predicate.values if isinstance(predicate, In) else (predicate.low, predicate.high)
    yield from (value for value in values if isinstance(value, str))


def _string(value: str, ordered: bool) -> tuple[str, str] | None:
    if len(value) > 1 and (value[0] == "%" or value[-1] == "%") and not _PERCENT.fullmatch(value):
        return "literal-wildcard", "% is a wildcard only in LIKE and ILIKE; here it is itself"
    if len(value) <= _LONGEST and _TIME.fullmatch(value):
        return (
            "quoted-value",
            "this is a string; to compare with times write TIMESTAMP '2026-11-15T08:00:00Z'",
        )
    if ordered and len(value) <= _LONGEST and _NUMBER.fullmatch(value):
        return "quoted-value", "strings are ordered by character; to compare numbers leave out the quotes"
    if value.lower() in _WORDS:
        return "quoted-value", "this is a string; write TRUE, FALSE or IS NULL without quotes"
    return None
