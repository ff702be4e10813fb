"""Check JSON text: report why it is wrong, and find names that occur twice in one object."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

from tamis.errors import EventError, EventSyntax, EventValue
from tamis.values.value import INT_MAX

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the errors of a strict reader

_KEY_LIKE = re.compile(rb'"\s*:')
_DIGITS = len(str(INT_MAX))


def refusal_of(text: bytes | str, what: str, bad: Exception) -> EventError:
    """Return why a text was refused as JSON: a value that cannot be held, or the strict reader's error."""
    try:
        source = text if isinstance(text, str) else text.decode()
        found = json.loads(source, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole)
        json.dumps(found, ensure_ascii=False).encode()
    except EventValue as outside:
        return EventValue(f"{what} cannot be read: {outside.message}")
    except UnicodeEncodeError:
        return EventValue(f"{what} cannot be read: a string holds a lone surrogate")
    except (ValueError, RecursionError):
        pass
    return EventSyntax(f"{what} is not JSON: {bad}")


def _no_constant(name: str) -> None:
    raise EventValue(f"{name} is not JSON; numbers are finite")


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise EventValue(f"the number {text[:40]} is too large for 64 bits")
    return number


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > _DIGITS:
        raise EventValue(f"the integer {text[:40]} does not fit 64 bits")
    return int(text)


def repeated_name(raw: bytes, decoded: Any) -> str | None:
    """Return a name that occurs twice in one object of a text; ``decoded`` is the text's value."""
    # A repeated name shrinks its object. A text with more places that look like names than names is
    # suspicious, and only a suspicious text pays for the careful test. To count colons is cheaper still.
    names = _count_names(decoded)
    if raw.count(b":") <= names or len(_KEY_LIKE.findall(raw)) <= names:
        return None
    repeated: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                repeated.append(name)
            seen.add(name)

    json.loads(raw, object_pairs_hook=look)
    return repeated[0] if repeated else None


def twice(name: str) -> str:
    """Return the message about a repeated name."""
    return f"the key {name[:80]!r} stands twice in one object"


def _count_names(value: Any) -> int:
    total, stack = 0, [value]
    while stack:
        node = stack.pop()
        if type(node) is dict:
            total += len(node)
            stack.extend(node.values())
        elif type(node) is list:
            stack.extend(node)
    return total
