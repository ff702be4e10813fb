"""Explain, predicate by predicate, why a subscription did or did not match an event."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from tamis.contract.drawing import drawn
from tamis.expression.highlight import Highlight, found_by, pieces_of, plain, snippets_of
from tamis.expression.predicates import Exists, Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.truth import holds, matches
from tamis.index.display import table
from tamis.language import Span, span_of, to_text
from tamis.values.event import Event, tagged
from tamis.values.value import Interval, Point, Value, comparable_family, format_time

SHOWN_VALUES = 3
SHOWN_TEXT = 60
SHOWN_EXPRESSION = 80
LISTED_VALUES = 20  # in plain data
LISTED_TEXT = 256
SHOWN_FOUND = 3
LISTED_FOUND = 20

Cause = Literal["absent", "present", "some-value", "no-value", "other-type"]


class Explanation(NamedTuple):
    """A node of an explanation; ``str()`` draws the whole tree.

    ``start`` and ``end`` are its place in ``expression``, the canonical text, which the root carries.
    ``cause`` is the reason for a predicate's result: its attribute is ``absent``, or ``present`` (if only
    presence counts); ``some-value`` or ``no-value`` satisfies the positive form; or all values are of an
    ``other-type``. ``found`` has the parts of texts that satisfy the positive form. The first few are listed,
    and ``more_found`` states that there are others.
    """

    matched: bool
    text: str
    reason: str
    children: tuple[Explanation, ...] = ()
    start: int = 0
    end: int = 0
    attribute: str | None = None
    cause: Cause | None = None
    values: tuple[Value, ...] = ()
    expression: str | None = None
    found: tuple[Highlight, ...] = ()
    more_found: bool = False

    def __str__(self) -> str:
        return drawn(self)

    def __repr__(self) -> str:
        text = shortened(self.expression or self.text)
        why = f": {self.reason}" if self.reason else ""
        verdict = "matches" if self.matched else "does not match"
        return f"<Explanation: {verdict} {text!r}{why}; print it for all>"

    def _repr_html_(self) -> str:
        return table(("", "condition", "reason"), list(_lines(self, 0)), self.expression or self.text)

    def as_dict(self) -> dict[str, Any]:
        """Return the tree as plain data, ready for JSON; many values and long texts are cut."""
        node: dict[str, Any] = {} if self.expression is None else {"expression": self.expression}
        node |= {"matched": self.matched, "text": self.text, "reason": self.reason}
        node |= {"start": self.start, "end": self.end}
        if self.attribute is not None:
            node |= {"attribute": self.attribute, "cause": self.cause}
            node["values"] = [_listed(value) for value in self.values[:LISTED_VALUES]]
            node["value_count"] = len(self.values)
        if self.found:
            node["found"] = [plain(one, str(self.values[one.value])) for one in self.found]
            node["more_found"] = self.more_found
            pieces = pieces_of(self.found, dict(enumerate(self.values)))
            node["snippets"] = snippets_of(self.attribute or "", pieces)
        if self.children:
            node["children"] = [child.as_dict() for child in self.children]
        return node


def _lines(node: Explanation, depth: int) -> Iterator[tuple[str, str, str]]:
    yield "✓" if node.matched else "✗", "\u2003" * depth + node.text, node.reason
    for child in node.children:
        yield from _lines(child, depth + 1)


def shortened(text: str) -> str:
    """Return a text, cut to its beginning if it is long."""
    return text if len(text) <= SHOWN_EXPRESSION else text[:SHOWN_EXPRESSION] + "…"


def explain(expr: Expr, event: Event) -> Explanation:
    """Return why ``expr`` is true or false for ``event``."""
    return _explained(expr, event, span_of(expr))._replace(expression=to_text(expr))


def _explained(expr: Expr, event: Event, span: Span) -> Explanation:
    if not isinstance(expr, And | Or | Not):
        return _predicate(expr, event.attributes.get(expr.attribute, ()), span)
    parts = zip(expr.children, span.children, strict=True)
    children = tuple([_explained(child, event, place) for child, place in parts])
    reason = _why_node(expr, children)
    return Explanation(matches(expr, event), _label(expr), reason, children, span.start, span.end)


def _predicate(predicate: Predicate, values: tuple[Value, ...], span: Span) -> Explanation:
    held = holds(predicate, values)
    cause = _cause(predicate, values, held)
    some = list(islice(found_by(predicate, values), LISTED_FOUND + 1)) if cause == "some-value" else []
    found, more = tuple(some[:LISTED_FOUND]), len(some) > LISTED_FOUND
    reason = _why(predicate, values, cause) + _where(values, found, more)
    return Explanation(
        held,
        to_text(predicate),
        reason,
        (),
        span.start,
        span.end,
        predicate.attribute,
        cause,
        values,
        found=found,
        more_found=more,
    )


def _cause(predicate: Predicate, values: tuple[Value, ...], held: bool) -> Cause:
    if not values:
        return "absent"
    if isinstance(predicate, Exists):
        return "present"
    if held != predicate.is_negative:
        return "some-value"
    strange = predicate.families.isdisjoint(map(comparable_family, values))
    return "other-type" if strange else "no-value"


def _why(predicate: Predicate, values: tuple[Value, ...], cause: Cause) -> str:
    name = predicate.attribute
    if cause == "absent":
        return f"{name} is absent"
    seen = f"{name} is {_values(values)}"
    families = " or a ".join(sorted(predicate.families))
    if cause != "other-type" or predicate.is_negative or not families:
        return seen
    return f"{seen}: a {comparable_family(values[0])} is never compared with a {families}"


def _where(values: tuple[Value, ...], found: tuple[Highlight, ...], more: bool) -> str:
    """Return the first words that were found, with their places."""
    if not found:
        return ""
    several = len(values) > 1
    shown = ", ".join(_place(one, str(values[one.value]), several) for one in found[:SHOWN_FOUND])
    rest = " and more" if more or len(found) > SHOWN_FOUND else ""
    return f"; found {shown}{rest}"


def _place(one: Highlight, text: str, several: bool) -> str:
    which = f"value {one.value}, " if several else ""
    return f"{_value(text[one.start : one.end])} ({which}{one.start}–{one.end})"


def _listed(value: Value) -> Any:
    if isinstance(value, str) and len(value) > LISTED_TEXT:
        return value[:LISTED_TEXT] + "…"
    return tagged(value)


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
