"""Import rules in forms that the language of Tamis reads itself: EventBridge patterns and Lucene queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tamis.expression.tree import Expr
from tamis.language.eventbridge import from_eventbridge
from tamis.language.lucene import from_lucene
from tamis.limits import Limits
from tamis.rules.expressions import Expressions

_ARRAYS = "'anything-but' denies all values of an array; EventBridge accepts an array if one value differs"


class EventBridge(Expressions):
    """The importer of event patterns."""

    JSON: ClassVar[bool] = True

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a pattern."""
        if _has_key(rule, "anything-but"):
            differences.append(_ARRAYS)
        return from_eventbridge(rule, self.limits)


def _has_key(value: Any, key: str) -> bool:
    waiting = [value]
    for one in waiting:  # grows while it is read
        if isinstance(one, Mapping):
            if key in one:
                return True
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False


class Lucene(Expressions):
    """The importer of queries; the options are those of :func:`tamis.language.from_lucene`."""

    def __init__(
        self,
        limits: Limits,
        *,
        default_field: str | list[str] = "text",
        default_operator: str = "OR",
        typed: bool = True,
    ) -> None:
        super().__init__(limits)
        self._fields = default_field.split(",") if isinstance(default_field, str) else default_field
        self._operator, self._typed = default_operator, typed not in (False, "false")

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a query."""
        return from_lucene(rule, self._fields, self._operator, self._typed, self.limits)
