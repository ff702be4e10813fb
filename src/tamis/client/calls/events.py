"""Events: publish one, ask what one would match, and follow what is matched."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Any

import msgspec

from tamis.client.core import Call, Core, path, wait_or_raise
from tamis.client.pieces import Events, Sent
from tamis.client.results import Explanation, Match, Matches, Published, Told
from tamis.client.steps import Feed, Flow, More
from tamis.client.writing import event_sent, has_id, sample_sent
from tamis.errors import AnswerInvalid, AnswerLost, InputError, TamisError
from tamis.values.event import EventLike

QUIET = 30.0  # seconds; the service gives a sign of life every ten
AT_ONCE = 1_000_000  # matches in an answer; the service gives as many of them as it likes to


class _MatchPage(msgspec.Struct):
    matches: list[Match]
    next: str | None = None


def publish(
    core: Core, event: EventLike, *, id: str | None = None, time: datetime | None = None
) -> Flow[Published]:
    """Publish an event: it is kept when this returns."""
    sent = event_sent(event, id, time)
    published = yield from core.ask(Call(method="POST", path=path("events"), result=Published, body=sent))
    is_named_here = id is None and not has_id(event)
    if is_named_here and published.status == "duplicate":  # of our own first attempt, whose answer was lost
        return msgspec.structs.replace(published, status="accepted")
    return published


# -- what would match --------------------------------------------------------------------------------------


def match(core: Core, event: EventLike, *, explain: bool = False) -> Flow[Matches]:
    """Yield the ids of all one's subscriptions that an event satisfies as things stand; it is not published.

    ``explain``: with the reasons, in ``found`` of what is returned.
    """
    found: list[Match] = []
    question: dict[str, Any] = {"event": sample_sent(event), "explain": explain, "limit": AT_ONCE}
    while True:
        page = yield from _asked(core, question)
        found += page.matches
        if page.next is None:
            return Matches(found)
        question["cursor"] = page.next


def top_k(core: Core, event: EventLike, k: int = 10) -> Flow[list[tuple[str, float]]]:
    """Yield the ``k`` best matches as (id, score), best first, ties by id; ``k`` is no more than a page
    holds."""
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    page = yield from _asked(core, {"event": sample_sent(event), "k": k})
    return [(match.id, match.score or 0.0) for match in page.matches]


def explain(core: Core, subscription: str, event: EventLike) -> Flow[Explanation]:
    """Why ``subscription`` does or does not match ``event``, predicate by predicate."""
    page = yield from _asked(core, {"event": sample_sent(event), "subscription": subscription})
    for match in page.matches:
        if match.explanation is not None:
            return match.explanation
    raise AnswerInvalid("the service explains nothing; is it of this version?")


def _asked(core: Core, question: dict[str, Any]) -> Flow[_MatchPage]:
    return core.ask(Call(method="POST", path=path("match"), result=_MatchPage, body=question))


# -- what is matched ---------------------------------------------------------------------------------------


def stream(core: Core, *, after: int | None = None, quiet: float = QUIET) -> Feed[Told]:
    """Matches of one's subscriptions as they are found, from now on or after a number; it does not end.

    A connection that breaks, or is silent for ``quiet`` seconds, is made again and goes on where it was.
    """
    call = Call(method="GET", path=path("stream"), result=Told, query={"after": after}, quiet=quiet)
    patience, last = core.patience(), None if after is None else str(after)
    while True:
        headers = {} if last is None else {"last-event-id": last}
        yield from core.open(dataclasses.replace(call, headers=headers), patience)
        events, piece = Events(), b""
        while piece := (yield More()):
            if isinstance(piece, TamisError):
                break
            patience = core.patience()
            yield [_told(sent) for sent in events.feed(piece)]
            last = events.last or last
        ended = piece if isinstance(piece, TamisError) else AnswerLost("the service ended the stream")
        if events.retry is not None:
            ended.details.setdefault("retry_after", events.retry)
        yield from wait_or_raise(patience, ended, call)


def _told(sent: Sent) -> Told:
    try:
        told = msgspec.json.decode(sent.data, type=Told)
    except (msgspec.DecodeError, UnicodeError) as bad:
        raise AnswerInvalid(f"an event of the stream cannot be read: {bad}") from None
    return msgspec.structs.replace(told, kind=sent.kind)
