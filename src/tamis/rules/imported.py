"""Hold imported rules and the report about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from tamis.errors import TamisError
from tamis.expression.tree import Expr
from tamis.language import to_text


class Place(NamedTuple):
    """The place of a rule: its file, if it came from one, and its first line there."""

    file: str | None = None
    line: int = 1

    def __str__(self) -> str:
        return f"{self.file or 'text'}:{self.line}"


@dataclass(frozen=True)
class Rule:
    """A rule that became an expression.

    ``differences`` states where the expression decides otherwise than the original. ``metadata`` has what the
    format says about the rule: title, author, level, tags and the like.
    """

    id: str
    expression: Expr
    place: Place
    metadata: dict[str, Any] = field(default_factory=dict)
    differences: tuple[str, ...] = ()
    priority: float = 0.0

    @cached_property
    def text(self) -> str:
        """The expression as text."""
        return to_text(self.expression)

    @property
    def title(self) -> str:
        """The title of the rule; empty if it has none."""
        return str(self.metadata.get("title") or "")

    def as_dict(self) -> dict[str, Any]:
        """Return the rule for programs: a subscription with its metadata and its place."""
        return {
            "id": self.id,
            "expression": self.text,
            "priority": self.priority,
            "metadata": self.metadata,
            "source": str(self.place),
            "differences": list(self.differences),
        }


@dataclass(frozen=True)
class Refused:
    """A rule that was not imported, with the reason."""

    id: str
    place: Place
    error: TamisError
    title: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the refusal for programs."""
        return {"id": self.id, "title": self.title, "source": str(self.place), **self.error.as_dict()}


class Imported:
    """The rules of one import, in the order of the source, and the refused ones."""

    def __init__(self, form: str, rules: list[Rule], refused: list[Refused]) -> None:
        self.format, self.rules, self.refused = form, rules, refused

    @property
    def different(self) -> list[Rule]:
        """The rules that decide otherwise than the original somewhere."""
        return [rule for rule in self.rules if rule.differences]

    def subscriptions(self) -> Iterator[dict[str, Any]]:
        """Yield a subscription for each rule, as :meth:`tamis.Index.build` takes it."""
        for rule in self.rules:
            yield {"id": rule.id, "expression": rule.expression, "priority": rule.priority}

    def summary(self) -> dict[str, int]:
        """Return how many rules were imported, imported with a difference, and refused."""
        different = len(self.different)
        return {
            "rules": len(self.rules) + len(self.refused),
            "imported": len(self.rules) - different,
            "with_difference": different,
            "refused": len(self.refused),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the whole report for programs."""
        return {
            "format": self.format,
            "summary": self.summary(),
            "rules": [rule.as_dict() for rule in self.rules],
            "refused": [one.as_dict() for one in self.refused],
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in self.summary().items())
        return f"<{self.format}: {counts}>"
