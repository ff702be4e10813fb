"""Renders a notification as subject, text and HTML, with the subscription's templates or the built-in ones.

Values come from users, so they are truncated, stripped of control characters, and escaped in HTML. A result
that is too long is rendered again with fewer events; ``more`` is the number of events left out.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from tamis.contract.delivery import CustomTemplates
from tamis.contract.template import Template, parse_template, render
from tamis.errors import SendRefused, TamisError
from tamis.limits import Limits
from tamis.notify.message import Message, NotifiedEvent
from tamis.values.event import NULLS, flatten
from tamis.values.value import Interval, Point, Value

SUBJECT_CHARACTERS = 200
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}  # control, direction, surrogate, private, line ends
_JOINERS = "\u200c\u200d"  # some scripts need them


class Rendered(NamedTuple):
    """A rendered notification."""

    subject: str
    text: str
    html: str


def render_message(message: Message, templates: CustomTemplates | None, limits: Limits) -> Rendered:
    """Render a notification with the subscription's templates, or with the built-in ones it lacks."""
    own, values = templates or CustomTemplates(), _values(message, limits)
    subject = _fitted(_template(own.subject, "subject.txt", limits), values, clean, limits)
    return Rendered(
        _header(subject),
        _fitted(_template(own.text, "notification.txt", limits), values, str, limits),
        _fitted(_template(own.html, "notification.html", limits), values, html.escape, limits),
    )


def render_short(message: Message, templates: CustomTemplates | None, limits: Limits, most: int) -> str:
    """Render a notification as a short text, for SMS."""
    template = _template(templates.text if templates else None, "short.txt", limits)
    text = _fitted(template, _values(message, limits), str, limits).strip()
    return text if len(text) <= most else text[: most - 1] + "…"


def clean(text: str) -> str:
    """Return one line without invisible characters, safe for a header."""
    seen = "".join(" " if mark.isspace() else mark for mark in text if not _is_hidden(mark))
    return " ".join(seen.split())


def _header(text: str) -> str:
    """Return a header line without encoded words (``=?utf-8?q?=0A?=``), which mail programs decode."""
    return clean(text).replace("=?", "= ?")[:SUBJECT_CHARACTERS]


def _is_hidden(mark: str) -> bool:
    return unicodedata.category(mark) in _HIDDEN and not mark.isspace() and mark not in _JOINERS


def _template(own: str | None, ours: str, limits: Limits) -> Template:
    return parse_template(own, limits) if own is not None else _built_in(ours)


@lru_cache
def _built_in(name: str) -> Template:
    return parse_template((files("tamis.notify") / "templates" / name).read_text(encoding="utf-8"))


def _fitted(template: Template, values: dict[str, Any], escape: Callable[[str], str], limits: Limits) -> str:
    """Render as many events as fit; without events, the default limits leave enough room."""
    events = values["events"]
    while True:
        shown = values | {"events": events, "more": values["count"] - len(events)}
        text = render(template, shown, escape, limits.notification_bytes // 4)  # UTF-8 needs up to four bytes
        if text is not None:
            return text
        if not events:
            raise SendRefused("the template makes more than notification_bytes", limit="notification_bytes")
        events = events[: len(events) // 2]


def _values(message: Message, limits: Limits) -> dict[str, Any]:
    texts = {
        "id": message.id,
        "kind": message.kind,
        "owner": message.owner or "",
        "subscription": message.subscription,
        "expression": message.expression,
    }
    moments = {"from": message.start, "to": message.end, "created": message.created}
    return {
        **{name: _short(text, limits) for name, text in texts.items()},
        **{name: _moment(moment) for name, moment in moments.items()},
        "count": message.count,
        "events": [_event_values(event, limits) for event in message.events],
    }


def _event_values(event: NotifiedEvent, limits: Limits) -> dict[str, Any]:
    attributes = {name: _short(text, limits) for name, text in _attributes(event, limits).items()}
    first = list(attributes.items())[: limits.notification_attributes]
    return {
        "id": _short(event.id, limits),
        "time": _moment(event.time),
        "score": "" if event.score is None else f"{event.score:g}",
        "summary": _short(" · ".join(f"{name} {value}" for name, value in first), limits),
        "attributes": [{"name": _short(name, limits), "value": value} for name, value in first],
        **{f"attributes.{name}": value for name, value in attributes.items()},
    }


def _attributes(event: NotifiedEvent, limits: Limits) -> dict[str, str]:
    """Return the event's attributes as texts; an event that is missing or unreadable has none."""
    try:
        decoded = msgspec.json.decode(event.text) if event.text is not None else None
        flat = flatten(decoded, limits) if isinstance(decoded, dict) else {}
    except (msgspec.DecodeError, TamisError, RecursionError):
        return {}
    flat.pop(NULLS, None)  # absent attributes are not listed
    return {name: ", ".join(_said(value) for value in values[:20]) for name, values in flat.items()}


def _said(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, Point):
        return f"{value.lat:.5f}, {value.lon:.5f}"
    if isinstance(value, Interval):
        ends = ("" if end is None else _said(end) for end in (value.low, value.high))
        return " … ".join(ends).strip()
    return str(value)


def _short(text: str, limits: Limits) -> str:
    seen = clean(text[: 2 * limits.notification_value_characters])
    most = limits.notification_value_characters
    return seen if len(seen) <= most else seen[: most - 1] + "…"


def _moment(moment: datetime | None) -> str:
    if moment is None:
        return ""
    return f"{moment:%Y-%m-%d %H:%M} UTC" if not moment.second else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
