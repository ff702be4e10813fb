"""Explanations: predicate by predicate, why a subscription did or did not match an event."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from tamis.lang import to_text
from tamis.model.event import Event
from tamis.model.expr import And, Exists, Expr, Not, Or, children_of, is_negative
from tamis.model.truth import holds, matches
from tamis.model.value import Interval, Point, Value, family, format_time

SHOWN_VALUES = 3
SHOWN_TEXT = 60


class Explanation(NamedTuple):
    """A node of the answer; ``str()`` draws the whole tree."""

    matched: bool
    text: str
    reason: str
    children: tuple[Explanation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_draw(self, 0))

    def as_dict(self) -> dict[str, Any]:
        """The tree as plain data."""
        node: dict[str, Any] = {"matched": self.matched, "text": self.text, "reason": self.reason}
        if self.children:
            node["children"] = [child.as_dict() for child in self.children]
        return node


def _draw(node: Explanation, depth: int) -> list[str]:
    mark = "✓" if node.matched else "✗"
    reason = f"   ({node.reason})" if node.reason else ""
    lines = [f"{'  ' * depth}{mark} {node.text}{reason}"]
    for child in node.children:
        lines.extend(_draw(child, depth + 1))
    return lines


def explain(expr: Expr, event: Event) -> Explanation:
    """Why ``expr`` is true or false for ``event``."""
    matched = matches(expr, event)
    if isinstance(expr, And | Or | Not):
        children = tuple(explain(child, event) for child in children_of(expr))
        return Explanation(matched, _label(expr), _why_node(expr, children), children)
    values = event.attributes.get(expr.attribute, ())
    return Explanation(matched, to_text(expr), _why(expr, values, holds(expr, values)))


def _label(expr: And | Or | Not) -> str:
    if isinstance(expr, Not):
        return "NOT"
    if not expr.children:
        return "TRUE" if isinstance(expr, And) else "FALSE"
    return "all of" if isinstance(expr, And) else "any of"


def _why_node(expr: And | Or | Not, children: tuple[Explanation, ...]) -> str:
    if isinstance(expr, Not):
        return ""
    return f"{sum(child.matched for child in children)} of {len(children)} hold" if children else ""


def _why(predicate: Any, values: tuple[Value, ...], held: bool) -> str:
    name = predicate.attribute
    if not values:
        return f"{name} is absent"
    seen = f"{name} is {_values(values)}"
    if held or isinstance(predicate, Exists) or is_negative(predicate):
        return seen
    operand = getattr(predicate, "value", getattr(predicate, "low", None))
    if operand is not None and all(_other_type(value, operand) for value in values):
        return f"{seen}: a {family(values[0])} is never compared with a {family(operand)}"
    return seen


def _other_type(value: Value, operand: Value) -> bool:
    return not isinstance(value, Interval) and family(value) != family(operand)


def _values(values: tuple[Value, ...]) -> str:
    shown = ", ".join(_value(value) for value in values[:SHOWN_VALUES])
    more = len(values) - SHOWN_VALUES
    return f"{shown} and {more} more" if more > 0 else shown


def _value(value: Value) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN_TEXT else value[:SHOWN_TEXT] + "…")
    if isinstance(value, Point):
        return f"POINT ({value.lon} {value.lat})"
    if isinstance(value, Interval):
        low = "(-∞" if value.low is None else f"[{_value(value.low)}"
        high = "∞)" if value.high is None else f"{_value(value.high)}{')' if value.high_open else ']'}"
        return f"{low}, {high}"
    if isinstance(value, bool):
        return str(value).upper()
    return format_time(value) if isinstance(value, datetime) else str(value)
