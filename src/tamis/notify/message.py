"""What is told: a match or a digest with its events, as data and as the JSON that receivers get."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tamis.values.value import format_time


class ToldEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a notification; ``text`` is its JSON, if it is still known."""

    id: str
    time: datetime | None = None
    score: float | None = None
    text: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A notification. Its ``id`` is the same in every attempt, and so is all that is made of it."""

    id: str
    kind: str  # match, digest
    owner: str | None
    subscription: str  # as its owner calls it
    version: int
    expression: str
    created: datetime
    count: int  # events; a digest may list fewer
    events: tuple[ToldEvent, ...]
    start: datetime | None = None  # of a digest's period
    end: datetime | None = None


def body_of(message: Message, most: int) -> bytes:
    """Return the notification as JSON, in at most ``most`` bytes: what does not fit is counted, not listed.

    First the contents of events are left out, from the last one on, then events.
    """
    for listed in _fewer(message):
        body = msgspec.json.encode(_plain(message, listed))
        if len(body) <= most:
            return body
    return body


def _fewer(message: Message) -> Any:
    """Lists of events, each shorter than the one before, down to none."""
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


def _event(event: ToldEvent, full: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": event.id}
    if event.time is not None:
        shown["time"] = format_time(event.time)
    if event.score is not None:
        shown["score"] = event.score
    if full and event.text is not None:
        shown["event"] = _raw(event.text)
    return shown


def _raw(text: str) -> Any:
    """JSON goes as it came; a text that is none (a stream may carry anything) goes as a string."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return msgspec.Raw(text.encode())
