"""Work out the parts of a JsonLogic rule that need no data, as JavaScript does."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tamis.errors import ParseError, TypeMismatch


def truthy(value: Any) -> bool:
    """Return whether JsonLogic takes a value for true."""
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value) if not isinstance(value, dict) else True


def number(value: Any) -> float:
    """Return the number that JavaScript makes of a value; NaN if it makes none."""
    if value is None:
        return 0
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        return number(text(value))
    if not isinstance(value, str):
        return math.nan
    stripped = value.strip()
    try:
        found = float(stripped) if stripped else 0
        return int(found) if math.isfinite(found) and found == int(found) else found
    except ValueError:
        return math.nan


def text(value: Any) -> str:
    """Return the string that JavaScript makes of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join("" if one is None else text(one) for one in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def equal(one: Any, two: Any) -> bool:
    """Return whether ``one == two`` in JavaScript."""
    if one is None or two is None:
        return one is two
    if isinstance(one, str) and isinstance(two, str):
        return one == two
    if isinstance(one, list) and isinstance(two, list):
        return one is two
    if {type(one), type(two)} == {list, str}:
        return text(one) == text(two)
    return number(one) == number(two)


def identical(one: Any, two: Any) -> bool:
    """Return whether ``one === two`` in JavaScript."""
    alike = type(one) is type(two) or (_is_number(one) and _is_number(two))
    return alike and not isinstance(one, list) and one == two


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def below(one: Any, two: Any, or_equal: bool) -> bool:
    """Return whether ``one < two`` or ``one <= two`` in JavaScript."""
    if isinstance(one, str) and isinstance(two, str):
        return one <= two if or_equal else one < two
    first, second = number(one), number(two)
    return first <= second if or_equal else first < second


def _substring(source: Any, start: Any, length: Any = None) -> str:
    letters = text(source)
    begin = int(number(start))
    rest = letters[begin:] if begin >= 0 else letters[max(0, len(letters) + begin) :]
    if length is None:
        return rest
    count = int(number(length))
    return rest[:count]


def _merge(*parts: Any) -> list[Any]:
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


def _remainder(one: Any, two: Any) -> float:
    divisor = number(two)
    return math.fmod(number(one), divisor) if divisor else math.nan


def _quotient(one: Any, two: Any) -> float:
    first, second = number(one), number(two)
    if second == 0:
        return math.nan if first == 0 else math.copysign(math.inf, first)
    return first / second


def _product(*parts: Any) -> float:
    return math.prod(map(number, parts))


def _minus(one: Any, *more: Any) -> float:
    return number(one) - number(more[0]) if more else -number(one)


def _is_in(one: Any, where: Any) -> bool:
    if isinstance(where, str):
        return text(one) in where
    return isinstance(where, list) and any(identical(one, each) for each in where)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "==": equal,
    "!=": lambda one, two: not equal(one, two),
    "===": identical,
    "!==": lambda one, two: not identical(one, two),
    "<": lambda *parts: all(below(a, b, False) for a, b in pairwise(parts)),
    "<=": lambda *parts: all(below(a, b, True) for a, b in pairwise(parts)),
    ">": lambda one, two: below(two, one, False),
    ">=": lambda one, two: below(two, one, True),
    "!": lambda *parts: not truthy(parts[0] if parts else None),
    "!!": lambda *parts: truthy(parts[0] if parts else None),
    "in": _is_in,
    "cat": lambda *parts: "".join(map(text, parts)),
    "substr": _substring,
    "%": _remainder,
    "/": _quotient,
    "+": lambda *parts: sum(map(number, parts)),
    "*": _product,
    "-": _minus,
    "min": lambda *parts: min(map(number, parts), default=math.inf),
    "max": lambda *parts: max(map(number, parts), default=-math.inf),
    "merge": _merge,
}


def worked_out(operation: str, arguments: list[Any]) -> Any:
    """Return the result of an operation on constants."""
    try:
        return OPERATIONS[operation](*arguments)
    except TypeError:
        raise ParseError(f"{operation!r} does not take {len(arguments)} arguments") from None
    except (OverflowError, ValueError):
        raise TypeMismatch(f"{operation!r} of these constants is no number") from None
