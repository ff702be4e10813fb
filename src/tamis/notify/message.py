"""Defines a notification, a match or a digest with its events, and its JSON form for receivers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tamis.expression.highlight import Highlights
from tamis.values.value import format_time


class NotifiedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a notification; ``text`` is its JSON, if it is still available.

    ``highlights`` are the words because of which the subscription matches it.
    """

    id: str
    time: datetime | None = None
    score: float | None = None
    text: str | None = None
    highlights: Highlights | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A notification. Every attempt has the same ``id`` and the same content."""

    id: str
    kind: str  # match, digest
    owner: str | None
    subscription: str  # the owner's name for it
    version: int
    expression: str
    created: datetime
    count: int  # of events; a digest may list fewer
    events: tuple[NotifiedEvent, ...]
    start: datetime | None = None  # of a digest's period
    end: datetime | None = None


def body_of(message: Message, most: int) -> bytes:
    """Return the notification as JSON in at most ``most`` bytes; events that do not fit are only counted.

    First the contents of events are left out, from the last one on, then events.
    """
    for listed in _fewer(message):
        body = msgspec.json.encode(_plain(message, listed))
        if len(body) <= most:
            return body
    return body


def _fewer(message: Message) -> Any:
    """Yield lists of events, each shorter than the previous one, down to the empty list."""
    whole, full = len(message.events), len(message.events)
    while True:
        bare = [_event(event, number < full) for number, event in enumerate(message.events[:whole])]
        yield bare
        if not whole:
            return
        if full:
            full //= 2
        else:
            whole //= 2


def _plain(message: Message, listed: list[dict[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": message.id,
        "owner": message.owner,
        "subscription": message.subscription,
        "version": message.version,
        "count": message.count,
    }
    if message.start is not None and message.end is not None:
        data |= {"from": format_time(message.start), "to": format_time(message.end)}
    data["events"] = listed
    return {"type": f"tamis.{message.kind}", "timestamp": format_time(message.created), "data": data}


def _event(event: NotifiedEvent, full: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": event.id}
    if event.time is not None:
        shown["time"] = format_time(event.time)
    if event.score is not None:
        shown["score"] = event.score
    if full and event.text is not None:
        shown["event"] = _raw(event.text)
        if event.highlights is not None and (event.highlights or event.highlights.more):
            shown["highlights"] = event.highlights.as_dict()
    return shown


def _raw(text: str) -> Any:
    """Return JSON unchanged, and any other text (from a stream) as a string."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return msgspec.Raw(text.encode())
