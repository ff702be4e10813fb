"""Builds the message of a claim: the subscription's name, its events and their texts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tamis import language
from tamis.contract.names import local_name, owner_of
from tamis.errors import EventValue, TamisError
from tamis.expression.highlight import Highlights, highlights
from tamis.expression.tree import Expr
from tamis.limits import Limits
from tamis.notify.message import Message, NotifiedEvent
from tamis.store import Store, claims
from tamis.store.claims import Claimed
from tamis.store.timestamps import calendar_moment
from tamis.values.analysis import Analysers
from tamis.values.event import decode_event, event_from
from tamis.values.value import moment_of, parse_time

MOST_EVENTS = 1_000  # in a digest from a Spark query


def message_of(claimed: Claimed, store: Store, limits: Limits) -> Message:
    """Return the message of a claim."""
    content: dict[str, Any] = {"events": (_match(claimed),)}
    if claimed.kind == "digest":
        content = _digest(claimed, store, limits)
    content["events"] = _highlighted(content["events"], claimed.expression, limits, store.analysers)
    return Message(
        **({"count": len(content["events"])} | content),
        id=f"msg_{claimed.outbox_id}",
        kind=claimed.kind,
        owner=claimed.owner,
        subscription=_own_name(claimed.subscription_id, claimed.owner),
        version=claimed.version,
        expression=claimed.expression,
        created=moment_of(claimed.matched_at),
    )


def _own_name(stored: str, owner: str | None) -> str:
    return local_name(stored) if owner is not None and owner_of(stored) == owner else stored


def _match(claimed: Claimed) -> NotifiedEvent:
    is_ours = claimed.published is not None
    return NotifiedEvent(
        id=local_name(claimed.event_id) if is_ours else claimed.event_id,
        time=None if claimed.event_time is None else calendar_moment(claimed.event_time),
        score=claimed.score,
        text=claimed.published if is_ours else claimed.payload,
    )


def _highlighted(
    events: tuple[NotifiedEvent, ...], expression: str, limits: Limits, analysers: Analysers
) -> tuple[NotifiedEvent, ...]:
    """Return the events with their highlights, as many as the limit allows for all of them together.

    The expression is the current one, and the text may come from a stream that keeps something else there. An
    event that it does not match, or that cannot be read, has no highlights.
    """
    try:
        tree = language.read(expression, limits=limits, analysers=analysers)
    except TamisError:
        return events
    found, left = [], limits.highlights
    for event in events:
        one = _highlights(tree, event.text, left, limits)
        left -= sum(map(len, one.values())) if one is not None else 0
        found.append(msgspec.structs.replace(event, highlights=one))
    return tuple(found)


def _highlights(tree: Expr, text: str | None, most: int, limits: Limits) -> Highlights | None:
    try:
        return (
            None if text is None else highlights(tree, event_from(decode_event(text, limits), limits), most)
        )
    except TamisError:
        return None


def _digest(claimed: Claimed, store: Store, limits: Limits) -> dict[str, Any]:
    """Return the fields of a message from a digest's payload; an unreadable payload gives no events."""
    try:
        plain = msgspec.json.decode(claimed.payload or "{}")
        listed = [event for event in plain.get("events", ()) if "event_id" in event][:MOST_EVENTS]
        content = {
            "start": parse_time(plain["from"]),
            "end": parse_time(plain["to"]),
            "count": int(plain["count"]),
        }
    except (msgspec.DecodeError, AttributeError, KeyError, TypeError, ValueError, EventValue):
        return {"events": (), "count": 0}
    return content | {"events": _events(claimed, listed, store, limits)}


def _events(
    claimed: Claimed, listed: list[dict[str, Any]], store: Store, limits: Limits
) -> tuple[NotifiedEvent, ...]:
    unknown = [event["event_id"] for event in listed if event.get("payload") is None]
    texts: dict[str, tuple[str, bool]] = {}
    if unknown:
        with store.database.reading() as connection:
            texts = claims.event_texts(
                connection, claimed.subscription_id, unknown, limits.notification_bytes
            )
    return tuple(
        _event(event, *texts.get(event["event_id"], (event.get("payload"), False))) for event in listed
    )


def _event(event: dict[str, Any], text: str | None, is_ours: bool) -> NotifiedEvent:
    name = str(event["event_id"])
    return NotifiedEvent(
        id=local_name(name) if is_ours else name, time=_time(event.get("event_time")), text=text
    )


def _time(text: Any) -> datetime | None:
    try:
        return parse_time(text) if isinstance(text, str) else None
    except (ValueError, EventValue):
        return None
