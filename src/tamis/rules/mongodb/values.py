"""Read the values of MongoDB's extended JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from tamis.errors import EventValue, TypeMismatch
from tamis.expression.operands import kind_of
from tamis.language.eventbridge.place import Place
from tamis.values.value import EPOCH, parse_time

_INTEGERS = ("$numberInt", "$numberLong")
_NUMBERS = ("$numberDouble", "$numberDecimal")
_TEXTS = ("$oid", "$uuid", "$symbol")
REGEX = "$regularExpression"


class Pattern(NamedTuple):
    """A regular expression and its options."""

    pattern: str
    options: str


def is_value(body: Mapping[str, Any]) -> bool:
    """Return whether an object is a value, and not a list of operators."""
    return len(body) == 1 and next(iter(body)) in (*_INTEGERS, *_NUMBERS, *_TEXTS, REGEX, "$date")


def value_of(value: Any, place: Place) -> Any:
    """Return a string, number, boolean, time, pattern or ``None``; refuse objects and arrays."""
    if isinstance(value, list):
        place.refuse(
            "Tamis has no test for a whole array; test its elements with $all or $elemMatch", TypeMismatch
        )
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        ((key, content),) = value.items()
        if key == REGEX and isinstance(content, Mapping):
            return Pattern(str(content.get("pattern", "")), str(content.get("options", "")))
        if key in _INTEGERS or key in _NUMBERS:
            return _number(key, content, place)
        if key == "$date":
            return _date(content, place)
        if key in _TEXTS and isinstance(content, str):
            return content
    place.refuse(
        f"Tamis has no test for a whole object such as {str(dict(value))[:60]}; test its fields", TypeMismatch
    )


def _number(key: str, content: Any, place: Place) -> int | float:
    try:
        return int(content) if key in _INTEGERS else float(content)
    except (TypeError, ValueError):
        place.refuse(f"{str(content)[:40]!r} is no number", TypeMismatch)


def _date(content: Any, place: Place) -> Any:
    if isinstance(content, Mapping):
        content = value_of(content, place)
    try:
        if isinstance(content, str):
            return parse_time(content)
        if isinstance(content, int | float) and not isinstance(content, bool):
            return EPOCH + timedelta(milliseconds=content)
    except (ValueError, OverflowError, EventValue):
        pass
    place.refuse(f"{str(content)[:40]!r} is no date", TypeMismatch)


def scalar(value: Any, place: Place) -> Any:
    """Return a value to compare with: no pattern and no null."""
    found = value_of(value, place)
    if found is None or isinstance(found, Pattern):
        place.refuse(f"expected a value to compare with, found {kind_of(value)}", TypeMismatch)
    return found
