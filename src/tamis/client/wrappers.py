"""How an operation becomes a method: documented and typed once, for both faces."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

_RESULT = re.compile(r"^(Flow|Feed)\[(.*)\]$")


def dressed(method: Callable[..., Any], operation: Callable[..., Any], result: str) -> None:
    """Give ``method`` the name, words and signature of ``operation``, as they read from outside."""
    seen = inspect.signature(operation)
    first, *rest = seen.parameters.values()
    inner = _RESULT.sub(r"\2", str(seen.return_annotation))
    method.__name__, method.__doc__ = operation.__name__, operation.__doc__
    method.__signature__ = seen.replace(  # type: ignore[attr-defined]
        parameters=[first.replace(name="self", annotation=inspect.Parameter.empty), *rest],
        return_annotation=result.format(inner),
    )
