"""Check the arguments of the public methods; an error names the argument."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis.limits import Limits
from tamis.values.value import short

KNOWN = (sum, max, min)  # functions whose results need no check


def whole(name: str, value: Any, least: int = 1) -> int:
    """Return ``value`` if it is a whole number from ``least``."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise InputError(f"{name} is a whole number from {least}, not {short(value)}")
    return int(value.__index__())


def text(name: str, value: Any) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise InputError(f"{name} is a string, not {short(value)}")
    return value


def path(value: Any) -> Path:
    """Return ``value`` as a path if it is a string or a path object."""
    if not isinstance(value, str | os.PathLike) or not isinstance(named := os.fspath(value), str):
        raise InputError(f"a path is a string or a pathlib.Path, not {short(value)}")
    return Path(named)


def mapping(name: str, value: Any) -> dict[str, Any]:
    """Return ``value`` as a dictionary if it is a mapping with strings as keys; ``None`` is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{name} is a dictionary with strings as keys, not {short(value)}")
    return dict(value)


def function(name: str, value: Any) -> Any:
    """Return ``value`` if it can be called or is ``None``."""
    if value is not None and not callable(value):
        raise InputError(f"{name} is a function, not {short(value)}")
    return value


def bounds(value: Any) -> Limits:
    """Return ``value`` if it is a ``Limits``."""
    if not isinstance(value, Limits):
        raise InputError(
            f"limits is a tamis.Limits, such as tamis.Limits(dnf_clauses=64), not {short(value)}"
        )
    return value


def several(name: str, value: Any) -> Collection[Any]:
    """Return ``value`` as a list if it is iterable; a single string is refused."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(f"{name} is a list, not {short(value)}")
    return list(value)


def plain_json(name: str, value: Any) -> dict[str, Any]:
    """Return ``value`` as a dictionary if JSON gives it back unchanged."""
    found = mapping(name, value)
    try:
        is_kept = json.loads(json.dumps(found, allow_nan=False)) == found
    except (TypeError, ValueError, RecursionError):
        is_kept = False
    if not is_kept:
        raise InputError(f"{name} holds only what JSON gives back as it was, not {short(value)}")
    return found


def combining(combine: Any) -> Callable[[Iterable[float]], float]:
    """Return a function that joins scores and checks that its result is a number."""
    if combine in KNOWN:
        return combine  # type: ignore[no-any-return]
    function("combine", combine)
    if combine is None:
        raise InputError("combine is a function of scores, such as sum or max, not None")

    def checked(scores: Iterable[float]) -> float:
        found = combine(scores)
        if isinstance(found, bool) or not isinstance(found, int | float) or math.isnan(found):
            raise InputError(f"combine gave {short(found)}, which is no score; a score is a number")
        return float(found)

    return checked
