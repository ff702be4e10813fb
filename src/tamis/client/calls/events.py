"""Calls to publish an event, to match a sample event, and to stream matches."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Any

import msgspec

from tamis.client.core import Call, Core, path, wait_or_raise
from tamis.client.parsers import ServerSentEvent, ServerSentEventParser
from tamis.client.request_bodies import event_body, has_id, sample_body
from tamis.client.results import Explanation, Match, Matches, Published, StreamedMatch
from tamis.client.steps import Feed, Flow, More
from tamis.errors import AnswerInvalid, AnswerLost, InputError, TamisError
from tamis.values.event import EventLike

READ_TIMEOUT = 30.0  # seconds; the service sends a heartbeat every ten
AT_ONCE = 1_000_000  # matches per page; the service's own limit is lower


class _MatchPage(msgspec.Struct):
    matches: list[Match]
    next: str | None = None


def publish(
    core: Core, event: EventLike, *, id: str | None = None, time: datetime | None = None
) -> Flow[Published]:
    """Publish an event; it is stored when this returns."""
    body = event_body(event, id, time)
    published = yield from core.call(Call(method="POST", path=path("events"), result=Published, body=body))
    has_generated_id = id is None and not has_id(event)
    if has_generated_id and published.status == "duplicate":  # our own first attempt, its response lost
        return msgspec.structs.replace(published, status="accepted")
    return published


# -- matching a sample event -------------------------------------------------------------------------------


def match(core: Core, event: EventLike, *, explain: bool = False, highlight: bool = False) -> Flow[Matches]:
    """Return the ids of the owner's subscriptions that an event matches now, without publishing it.

    With ``explain``, ``found`` of the result has the reasons. With ``highlight``, ``highlights`` has the
    words because of which each of them matches.
    """
    found: list[Match] = []
    query: dict[str, Any] = {"event": sample_body(event), "explain": explain, "limit": AT_ONCE}
    if highlight:
        query["highlight"] = True
    while True:
        page = yield from _match_page(core, query)
        found += page.matches
        if page.next is None:
            return Matches(found)
        query["cursor"] = page.next


def top_k(core: Core, event: EventLike, k: int = 10) -> Flow[list[tuple[str, float]]]:
    """Return the ``k`` best matches as (id, score), best first, ties by id; ``k`` must fit one page."""
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    page = yield from _match_page(core, {"event": sample_body(event), "k": k})
    return [(match.id, match.score or 0.0) for match in page.matches]


def explain(core: Core, subscription: str, event: EventLike) -> Flow[Explanation]:
    """Explain why ``subscription`` matches ``event`` or does not, predicate by predicate."""
    page = yield from _match_page(core, {"event": sample_body(event), "subscription": subscription})
    for match in page.matches:
        if match.explanation is not None:
            return match.explanation
    raise AnswerInvalid("the service explains nothing; is it of this version?")


def _match_page(core: Core, query: dict[str, Any]) -> Flow[_MatchPage]:
    return core.call(Call(method="POST", path=path("match"), result=_MatchPage, body=query))


# -- streaming matches -------------------------------------------------------------------------------------


def stream(
    core: Core, *, after: int | None = None, read_timeout: float = READ_TIMEOUT
) -> Feed[StreamedMatch]:
    """Yield the matches of the owner's subscriptions without end, from now on or after a number.

    If the connection breaks or is silent for ``read_timeout`` seconds, reconnect and continue there.
    """
    call = Call(
        method="GET",
        path=path("stream"),
        result=StreamedMatch,
        query={"after": after},
        read_timeout=read_timeout,
    )
    budget, last = core.retry_budget(), None if after is None else str(after)
    while True:
        headers = {} if last is None else {"last-event-id": last}
        yield from core.open(dataclasses.replace(call, headers=headers), budget)
        events, chunk = ServerSentEventParser(), b""
        while chunk := (yield More()):
            if isinstance(chunk, TamisError):
                break
            budget = core.retry_budget()
            yield [_streamed_match(event) for event in events.feed(chunk)]
            last = events.last or last
        ended = chunk if isinstance(chunk, TamisError) else AnswerLost("the service ended the stream")
        if events.retry is not None:
            ended.details.setdefault("retry_after", events.retry)
        yield from wait_or_raise(budget, ended, call)


def _streamed_match(event: ServerSentEvent) -> StreamedMatch:
    try:
        match = msgspec.json.decode(event.data, type=StreamedMatch)
    except (msgspec.DecodeError, UnicodeError) as bad:
        raise AnswerInvalid(f"an event of the stream cannot be read: {bad}") from None
    return msgspec.structs.replace(match, kind=event.kind)
