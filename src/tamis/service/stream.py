"""Streams matches as server-sent events, with resumption, bounded memory and heartbeats."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from sqlalchemy.engine import Connection
from starlette.responses import Response, StreamingResponse

from tamis.contract.names import local_name
from tamis.errors import RequestInvalid, TamisError
from tamis.service import conversion
from tamis.service.bodies import header
from tamis.service.match_feed import Listener
from tamis.service.operation import Call, Header, Stream, operation
from tamis.service.schemas.events import StreamQuery
from tamis.service.service import Service
from tamis.store import listing
from tamis.store.keys import SUBSCRIBE
from tamis.store.listing import OutboxRow
from tamis.store.pages import Page
from tamis.store.timestamps import calendar_moment
from tamis.values.value import moment_of

QUIET = 10.0  # seconds of silence until a heartbeat
HEARTBEAT = b": still here\n\n"
PAGE = 500
RETRY = b"retry: 2000\n\n"  # milliseconds until a disconnected client reconnects

_encode = msgspec.json.Encoder().encode


@operation(
    "GET",
    "/v1/stream",
    scope=SUBSCRIBE,
    tag="matching",
    query=StreamQuery,
    is_stream=True,
    headers=(Header("Last-Event-ID", "Continue after this number.", "^[0-9]{1,18}$"),),
    answers={200: Stream("text/event-stream", "An event `match` or `digest` for each row of the outbox.")},
)
async def stream_matches(call: Call) -> Response:
    """Stream the matches of the owner's subscriptions as server-sent events.

    The id of an event is its number in the outbox. A client that sends it back as ``Last-Event-ID`` misses no
    match. The stream ends when the key expires or is revoked.
    """
    call.service.refuse_if_stopping()
    last = await call.service.read(listing.last_number)
    begin = _begin(call)
    headers = {"x-accel-buffering": "no"}  # proxies would buffer
    return StreamingResponse(_events(call, last, begin), 200, headers, "text/event-stream")


def _begin(call: Call) -> int | None:
    """Return the number after which the client wants to continue."""
    given = header(call.request.scope, b"last-event-id")
    if not given:
        after: int | None = call.query.after
        return after
    if not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise RequestInvalid("Last-Event-ID is the id of an event of this stream", header="last-event-id")
    return int(given)


async def _events(call: Call, last: int, begin: int | None) -> AsyncIterator[bytes]:
    service, owner = call.service, call.owner
    with service.match_feed.listening(owner, last) as listener:
        sent = listener.since if begin is None else min(begin, listener.since)
        # A client that is cut off before the first event knows where to continue.
        yield b"id: %d\n%s" % (sent, RETRY)
        while not service.match_feed.is_stopping:
            if sent < listener.since:
                page = await service.read(functools.partial(_missed, after=sent, owner=owner))
                rows, sent = page.items, listener.since if page.next is None else page.next
            else:
                rows = [row for row in await _waited_for(listener) if row.id > sent]
                sent = max([sent, *(row.id for row in rows)])
            if not await _may_go_on(service, call):
                return
            yield b"".join(map(_event, rows)) if rows else HEARTBEAT


def _missed(connection: Connection, after: int, owner: str) -> Page[OutboxRow, int]:
    page = listing.rows_after(connection, after, PAGE, owner)
    return Page(listing.with_event_texts(connection, page.items), page.next)


async def _waited_for(listener: Listener) -> list[OutboxRow]:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(QUIET):
            await listener.ready.wait()
    return listener.take()


async def _may_go_on(service: Service, call: Call) -> bool:
    """Return whether the key is still valid."""
    try:
        caller = await service.access.caller(header(call.request.scope, b"authorization"))
        caller.need(SUBSCRIBE)
    except TamisError:
        return False
    return True


def _event(row: OutboxRow) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (row.id, row.kind.encode(), _encode(shown(row)))


def shown(row: OutboxRow) -> dict[str, Any]:
    """Return an outbox row for the owner of its subscription."""
    found: dict[str, Any] = {
        "number": row.id,
        "subscription": local_name(row.subscription_id),
        "version": row.version,
        "at": moment_of(row.created_at),
    }
    if row.score is not None:
        found["score"] = row.score
    if row.kind != listing.MATCH:
        return found | {"content": _plain(row.payload)}
    event = msgspec.to_builtins(conversion.event_reference(row.event_id, row.query))
    event["attributes"] = _plain(row.payload)
    if row.event_time is not None:
        event["time"] = calendar_moment(row.event_time) or row.event_time
    return found | {"event": event}


def _plain(payload: str | None) -> Any:
    """Return the decoded payload, or its text: a Spark stream may have stored text that is not JSON."""
    try:
        return None if payload is None else msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return payload


OPERATIONS = (stream_matches,)
