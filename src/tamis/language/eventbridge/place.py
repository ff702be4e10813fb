"""Track the place in a pattern, so that an error can name it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from tamis.errors import ExpressionError, ParseError
from tamis.expression.operands import kind_of
from tamis.limits import Limits

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,79}+")


class Place(NamedTuple):
    """A place in a pattern: the attribute it refers to, and the JSON path for error messages."""

    name: str
    path: str
    limits: Limits

    def field(self, key: Any) -> Place:
        """Return the place of the field ``key``: its attribute, one step deeper in the pattern."""
        if not isinstance(key, str):
            self.refuse(f"the name of a field is a string, not {kind_of(key)}")
        return self.inside(key)._replace(name=f"{self.name}.{key}" if self.name else key)

    def inside(self, key: str | int) -> Place:
        """Return the place of the same attribute, one step deeper in the pattern."""
        if isinstance(key, int):
            step = f"[{key}]"
        else:
            step = f".{key}" if _SIMPLE.fullmatch(key) else f"[{json.dumps(key[:80])}]"
        return self._replace(path=self.path + step)

    def refuse(self, why: str, error: type[ExpressionError] = ParseError) -> NoReturn:
        """Raise an error at this place."""
        raise error(f"{self.path}: {why}", path=self.path)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Add this place to any error that has none."""
        try:
            yield
        except ExpressionError as bad:
            if "path" not in bad.details:
                bad.message, bad.details["path"] = f"{self.path}: {bad.message}", self.path
            raise
