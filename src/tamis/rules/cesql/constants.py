"""Work out the parts of an expression that need no event, with the casts of CloudEvents SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tamis.errors import ParseError, TypeMismatch
from tamis.rules.cesql.patterns import like_of
from tamis.values.pattern import like_matches, read_like

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
LEAST, GREATEST = -(2**31), 2**31 - 1


def text(value: Any) -> str:
    """Return a value as a string."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def integer(value: Any) -> int:
    """Return a value as an integer of 32 bits."""
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value):
            raise TypeMismatch(f"{value[:40]!r} is no integer")
        value = int(value)
    found = int(value)
    if not LEAST <= found <= GREATEST:
        raise TypeMismatch(f"{found} lies beyond the integers of 32 bits")
    return found


def truth(value: Any, explicit: bool = False) -> bool:
    """Return a value as a boolean; an integer becomes one only if BOOL asks for it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if isinstance(value, int) and explicit:
        return value != 0
    raise TypeMismatch(f"{text(value)[:40]!r} is neither true nor false")


def cast(value: Any, like: Any) -> Any:
    """Return a value in the type of another."""
    if isinstance(like, bool):
        return truth(value)
    return text(value) if isinstance(like, str) else integer(value)


def equal(one: Any, two: Any) -> bool:
    """Return whether two values are equal, the first in the type of the second."""
    return bool(cast(one, two) == two)


def is_like(value: Any, pattern: str) -> bool:
    """Return whether the string form of a value is like a pattern."""
    return like_matches(read_like(like_of(pattern), False), text(value))


def _quotient(one: Any, two: Any) -> int:
    first, second = integer(one), integer(two)
    if second == 0:
        raise TypeMismatch("the expression divides by zero")
    found = abs(first) // abs(second)
    return found if (first < 0) == (second < 0) else -found


def _remainder(one: Any, two: Any) -> int:
    return integer(one) - _quotient(one, two) * integer(two)


def _part(value: Any, count: Any, left: bool) -> str:
    letters, number = text(value), integer(count)
    if number < 0:
        raise TypeMismatch("LEFT and RIGHT take a length of at least 0")
    return (
        letters[:number] if left else letters[len(letters) - number :] if number < len(letters) else letters
    )


def _substring(value: Any, start: Any, length: Any = None) -> str:
    letters, at = text(value), integer(start)
    if at == 0:
        return ""
    if abs(at) > len(letters):
        raise TypeMismatch("SUBSTRING begins outside of the string")
    rest = letters[at - 1 :] if at > 0 else letters[len(letters) + at :]
    return rest if length is None else rest[: integer(length)]


def _joined(separator: Any, *parts: Any) -> str:
    return text(separator).join(map(text, parts))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "=": equal,
    "!=": lambda one, two: not equal(one, two),
    "<>": lambda one, two: not equal(one, two),
    "<": lambda one, two: integer(one) < integer(two),
    "<=": lambda one, two: integer(one) <= integer(two),
    ">": lambda one, two: integer(one) > integer(two),
    ">=": lambda one, two: integer(one) >= integer(two),
    "+": lambda one, two: integer(integer(one) + integer(two)),
    "*": lambda one, two: integer(integer(one) * integer(two)),
    "/": _quotient,
    "%": _remainder,
    "-": lambda one, *more: integer(integer(one) - integer(more[0]) if more else -integer(one)),
    "not": lambda one: not truth(one),
    "xor": lambda one, two: truth(one) != truth(two),
    "like": is_like,
    "in": lambda one, *many: any(cast(each, one) == one for each in many),
    "abs": lambda one: integer(abs(integer(one))),
    "int": integer,
    "bool": lambda one: truth(one, explicit=True),
    "string": text,
    "is_bool": lambda one: isinstance(one, bool),
    "is_int": lambda one: isinstance(one, int) and not isinstance(one, bool),
    "length": lambda one: len(text(one)),
    "concat": lambda *parts: _joined("", *parts),
    "concat_ws": _joined,
    "lower": lambda one: text(one).lower(),
    "upper": lambda one: text(one).upper(),
    "trim": lambda one: text(one).strip(),
    "left": lambda one, count: _part(one, count, left=True),
    "right": lambda one, count: _part(one, count, left=False),
    "substring": _substring,
}


def worked_out(name: str, values: list[Any]) -> Any:
    """Return the result of an operator or a function on constants."""
    if name not in OPERATIONS:
        raise ParseError(f"CloudEvents SQL has no function {name[:40]!r}")
    try:
        return OPERATIONS[name](*values)
    except TypeError:
        raise ParseError(f"{name} does not take {len(values)} arguments") from None
