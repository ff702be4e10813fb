"""Check the types of columns that an attribute can have; docs/values.md explains them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tamis.columns.tables import is_list, is_point, is_string, ordinary_type
from tamis.errors import InputError
from tamis.limits import Limits


def check_type(name: str, kind: Any, limits: Limits, depth: int = 1) -> None:
    """Raise :class:`InputError` if no attribute can have a column's type, or it is nested too deeply."""
    if depth > limits.event_depth:
        raise InputError(
            f"column {name[:80]!r} is nested deeper than event_depth = {limits.event_depth}", column=name
        )
    kind = ordinary_type(kind)
    if is_list(kind):
        check_type(name, kind.value_type, limits, depth + 1)
    elif pa.types.is_struct(kind):
        for field in kind:
            check_type(f"{name}.{field.name}", field.type, limits, depth + 1)
            if is_point(kind) and not any(test(ordinary_type(field.type)) for test in _NUMBERS):
                raise InputError(
                    f"column {name[:80]!r}: {field.name} has the type {field.type}; a point is two numbers",
                    column=name,
                )
    elif pa.types.is_map(kind) and is_string(ordinary_type(kind.key_type)):
        check_type(name, kind.item_type, limits, depth + 1)
    elif not (is_string(kind) or any(test(kind) for test in _TYPES)):
        raise InputError(
            f"column {name[:80]!r} has the type {kind}, which no attribute can have; cast it, or leave it out"
            " (docs/values.md lists the types)",
            column=name,
        )


_NUMBERS = (pa.types.is_null, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_TYPES = (
    *_NUMBERS,
    pa.types.is_boolean,
    pa.types.is_timestamp,
    pa.types.is_date,
)
