"""Turns an operation into a documented and typed method of both clients."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

_RESULT = re.compile(r"^(Flow|Feed)\[(.*)\]$")


def copy_signature(method: Callable[..., Any], operation: Callable[..., Any], result: str) -> None:
    """Copy the name, docstring and public signature of ``operation`` to ``method``."""
    seen = inspect.signature(operation)
    first, *rest = seen.parameters.values()
    inner = _RESULT.sub(r"\2", str(seen.return_annotation))
    method.__name__, method.__doc__ = operation.__name__, operation.__doc__
    method.__signature__ = seen.replace(  # type: ignore[attr-defined]
        parameters=[first.replace(name="self", annotation=inspect.Parameter.empty), *rest],
        return_annotation=result.format(inner),
    )
