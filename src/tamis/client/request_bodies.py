"""Writes events, expressions and subscriptions as request bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

from tamis.client.results import Row
from tamis.contract.names import new_name
from tamis.errors import EventLimit, EventSyntax, EventValue, InputError
from tamis.expression.tree import Expr, Node
from tamis.expression.tree import Subscription as Known
from tamis.language import to_json
from tamis.values.event import Event, EventLike, at_attribute, check_fields, tagged
from tamis.values.foreign import is_array, means_absent
from tamis.values.value import clean_string, clean_time, clean_value, format_time, short

Form = Literal["text", "json", "query-string", "search-box", "eventbridge", "lucene"]
Status = Literal["active", "paused"]
Expression: TypeAlias = "str | Mapping[str, Any] | Expr"
RowLike: TypeAlias = Row | Known | Mapping[str, Any] | tuple[str, Expression]
Rows: TypeAlias = Iterable[RowLike] | Mapping[str, Expression]

_FIELDS = ("id", "expression", "priority", "schedule", "delivery", "status")


# -- events ----------------------------------------------------------------------------------------------


def event_body(event: EventLike, name: str | None = None, time: datetime | None = None) -> dict[str, Any]:
    """Return the body to publish an event, with an id so that a retry is recognised."""
    attributes = attributes_of(event)
    own_name, own_time = (event.id, event.time) if isinstance(event, Event) else (None, None)
    moment = time or own_time
    sent: dict[str, Any] = {"id": name or own_name or new_name(), "attributes": attributes}
    return sent if moment is None else sent | {"time": format_time(clean_time(moment))}


def has_id(event: object) -> bool:
    """Return whether an event has an id of its own."""
    return isinstance(event, Event) and event.id is not None


def sample_body(event: EventLike) -> dict[str, Any]:
    """Return the body of a sample event."""
    sample: dict[str, Any] = {"attributes": attributes_of(event)}
    return sample | {"weights": event.weights} if isinstance(event, Event) and event.weights else sample


def attributes_of(event: EventLike) -> dict[str, Any]:
    """Return the attributes in their JSON form, nested as given; raise an error for an invalid value."""
    if isinstance(event, Event):
        check_fields(event)
    attributes = event.attributes if isinstance(event, Event) else event
    if not isinstance(attributes, Mapping):
        raise EventSyntax(f"an event is an object with named attributes, not a {type(event).__name__}")
    try:
        return {_name(name): _written_at(name, value) for name, value in attributes.items()}
    except RecursionError:
        raise EventLimit("the event is nested deeper than can be sent", limit="event_depth") from None


def _written_at(name: str, value: Any) -> Any:
    try:
        return _written(value)
    except EventValue as bad:
        raise at_attribute(bad, name) from None


def _written(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_name(name): _written(inner) for name, inner in value.items()}
    if isinstance(value, tuple) and len(value) == 1:  # an Event stores a single value this way
        return _written(value[0])
    if isinstance(value, list | tuple | set | frozenset) or is_array(value):
        return [_written(inner) for inner in value]
    return None if means_absent(value) else tagged(clean_value(value))


def _name(name: Any) -> str:
    if not isinstance(name, str):  # JSON would turn it into a string
        raise EventSyntax(f"an attribute's name is a string, not {short(name)}")
    return clean_string(name)


# -- subscriptions ---------------------------------------------------------------------------------------


def expression_body(expression: Expression) -> str | Mapping[str, Any]:
    """Return an expression to send: a tree in the JSON form, anything else unchanged."""
    return to_json(expression) if isinstance(expression, Node) else expression


def text_of(expression: object) -> str | None:
    """Return the text that error positions refer to, or ``None``."""
    return expression if isinstance(expression, str) else None


def row_body(row: Any) -> dict[str, Any]:
    """Return a subscription in the format of the import, with an id so that a retry creates no second one."""
    sent: dict[str, Any]
    if isinstance(row, Row):
        sent = {name: getattr(row, name) for name in _FIELDS}
    elif isinstance(row, Known):
        sent = {"id": row.id, "expression": row.expression, "priority": row.priority}
    elif isinstance(row, Mapping):
        sent = dict(row)
    elif isinstance(row, tuple | list) and len(row) == 2:
        sent = {"id": row[0], "expression": row[1]}
    else:
        raise InputError(
            f"a subscription is (id, expression), a dictionary with both, or an object; not {str(row)[:80]!r}"
        )
    if "expression" in sent:
        sent["expression"] = expression_body(sent["expression"])
    return sent if sent.get("id") is not None else sent | {"id": new_name()}
