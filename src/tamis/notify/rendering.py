"""Renders a notification as subject, text and HTML, with the subscription's templates or the built-in ones.

Values come from users, so they are truncated, stripped of control characters, and escaped in HTML. A result
that is too long is rendered again with fewer events; ``more`` is the number of events left out.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple, Self

import msgspec

from tamis.contract.delivery import CustomTemplates
from tamis.contract.template import Template, parse_template, render
from tamis.errors import SendRefused, TamisError
from tamis.expression.highlight import Highlights
from tamis.limits import Limits
from tamis.notify.message import Message, NotifiedEvent
from tamis.values.event import NULLS, flatten
from tamis.values.marks import snippet, with_marks
from tamis.values.value import Interval, Point, Value

SUBJECT_CHARACTERS = 200
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}  # control, direction, surrogate, private, line ends
MOST_VALUES = 20  # of an attribute
_JOINERS = "\u200c\u200d"  # some scripts need them


class Marked(str):
    """A text with ``**`` around marked parts; in HTML they are ``<mark>`` elements."""

    pieces: list[str]

    @classmethod
    def of(cls, pieces: list[str]) -> Self:
        """Return the text of unmarked and marked pieces in turn."""
        text = cls(with_marks(pieces, "text"))
        text.pieces = pieces
        return text


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
        _fitted(_template(own.html, "notification.html", limits), values, as_html, limits),
    )


def render_short(message: Message, templates: CustomTemplates | None, limits: Limits, most: int) -> str:
    """Render a notification as a short text, for SMS."""
    template = _template(templates.text if templates else None, "short.txt", limits)
    text = _fitted(template, _values(message, limits), str, limits).strip()
    return text if len(text) <= most else text[: most - 1] + "…"


def as_html(text: str) -> str:
    """Return a value escaped for HTML, with its marks."""
    return with_marks(text.pieces, "html") if isinstance(text, Marked) else html.escape(text)


def clean(text: str) -> str:
    """Return one line without invisible characters, safe for a header."""
    return clean_pieces([text])[0]


def clean_pieces(pieces: list[str]) -> list[str]:
    """Return pieces that make one line without invisible characters."""
    found, after_space = [], True
    for piece in pieces:
        kept = []
        for mark in piece:
            is_space = mark.isspace()
            if (is_space and after_space) or (not is_space and _is_hidden(mark)):
                continue
            kept.append(" " if is_space else mark)
            after_space = is_space
        found.append("".join(kept))
    found[-1] = found[-1].rstrip()
    return found


def _header(text: str) -> str:
    """Return a header line without encoded words (``=?utf-8?q?=0A?=``), which mail programs decode."""
    return clean(text).replace("=?", "= ?")[:SUBJECT_CHARACTERS]


def _is_hidden(mark: str) -> bool:
    return unicodedata.category(mark) in _HIDDEN and mark not in _JOINERS


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
    flat = _attributes(event, limits)
    found: Collection[str] = event.highlights or ()
    texts = {name: _short(_joined(values), limits) for name, values in flat.items()}
    shown = set(sorted(texts, key=lambda name: name not in found)[: limits.notification_attributes])
    rows = [
        {
            "name": _short(name, limits),
            "value": text,
            "marked": _marked(event.highlights, name, flat[name], limits) or text,
        }
        for name, text in texts.items()
        if name in shown
    ]
    return {
        "id": _short(event.id, limits),
        "time": _moment(event.time),
        "score": "" if event.score is None else f"{event.score:g}",
        "summary": _short(" · ".join(f"{row['name']} {row['value']}" for row in rows), limits),
        "attributes": rows,
        "highlights": [row for row in rows if isinstance(row["marked"], Marked)],
        **{f"attributes.{name}": text for name, text in texts.items()},
    }


def _attributes(event: NotifiedEvent, limits: Limits) -> dict[str, tuple[Value, ...]]:
    """Return the event's attributes; an event that is missing or unreadable has none."""
    try:
        decoded = msgspec.json.decode(event.text) if event.text is not None else None
        flat = flatten(decoded, limits) if isinstance(decoded, dict) else {}
    except (msgspec.DecodeError, TamisError, RecursionError):
        return {}
    flat.pop(NULLS, None)  # absent attributes are not listed
    return flat


def _joined(values: Sequence[Value]) -> str:
    return ", ".join(map(_said, values[:MOST_VALUES]))


def _marked(
    highlights: Highlights | None, name: str, values: tuple[Value, ...], limits: Limits
) -> Marked | None:
    """Return the values with their marks, or those around the first mark; ``None`` without highlights.

    If a value with a mark stands too far behind to be shown, only values with marks are.
    """
    found = highlights.pieces(name) if highlights is not None else {}
    if not found:
        return None
    numbers = range(len(values)) if max(found) < MOST_VALUES else found
    pieces = [""]
    for at, number in enumerate(islice(numbers, MOST_VALUES)):
        first, *rest = found.get(number, [_said(values[number])])
        pieces[-1] += (", " if at else "") + first
        pieces += rest
    most = limits.notification_value_characters
    return Marked.of(snippet(clean_pieces(snippet(pieces, 2 * most)), most))


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
