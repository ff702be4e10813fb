"""Events, what they match, and what is told of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tamis.contract.on_error import OnError
from tamis.service.schemas.common import Cursor, ForOwner, LocalId, Moment, Sent, Status, Strict

Attributes = Annotated[
    dict[str, Any],
    Meta(description="Names and values; objects may be nested, lists hold several values."),
]


class NewEvent(Strict):
    """An event that is published."""

    attributes: Attributes
    id: LocalId | None = None
    time: Moment | None = None


class PublishOf(ForOwner):
    """What to do about lines that are refused."""

    on_error: Annotated[
        OnError,
        Meta(
            description="Of lines: report and quarantine those refused; end at the first, with its problem; "
            "or only count them."
        ),
    ] = "report"


class Published(msgspec.Struct):
    """An event that is kept and will be matched; a duplicate was, and is not matched again."""

    id: str
    status: Annotated[str, Meta(description="accepted or duplicate")]


class Sample(Strict):
    """An event that is only looked at."""

    attributes: Attributes
    weights: dict[str, float] = msgspec.field(default_factory=dict)


class Question(Strict):
    """What to match."""

    event: Sample
    k: Annotated[int, Meta(ge=1, description="Only the best so many, with their scores.")] | None = None
    explain: bool = False
    subscription: Annotated[str, Meta(description="Only this one: why, or why not?")] | None = None
    limit: Annotated[int, Meta(ge=1, description="Of a page; no more than the limit match_items.")] = 1_000
    cursor: Cursor | None = None


class Match(Sent, omit_defaults=True):
    """A subscription that matches, or the one that was asked for."""

    id: str
    matched: bool
    version: int | None = None
    score: float | None = None
    status: Status | None = None
    explanation: Annotated[dict[str, Any], Meta(description="Predicate by predicate.")] | None = None


class MatchPage(Sent):
    """What an event matches: ``total`` of them, and ``next`` leads to those that are not on the page."""

    matches: list[Match]
    total: int
    next: str | None = None


class StreamFrom(ForOwner):
    """Where a stream begins."""

    after: (
        Annotated[int, Meta(ge=0, le=2**63 - 1, description="Begin after this number; unless given: now.")]
        | None
    ) = None


State = Literal["kept", "waiting", "claimed", "delivered", "dead", "cancelled"]


class ToldEvent(Sent, omit_defaults=True):
    """The event that was matched, by its owner's name for it; a stream on Spark has events without owners."""

    id: str
    owner: Annotated[str, Meta(description="Who published it.")] | None = None


class Notification(Sent):
    """Something that was to be told, and what became of it; ``kept``: for whoever asks."""

    number: int
    message: Annotated[str, Meta(description="The id that receivers see; the same at every attempt.")]
    subscription: str
    kind: str
    event: ToldEvent
    version: int
    score: float | None
    at: datetime
    state: State
    attempts: int
    next_attempt: datetime | None
    finished: datetime | None
    error: str | None
    delivery: Annotated[dict[str, Any], Meta(description="The settings when it was told.")] | None


class NotificationPage(Sent):
    """The latest first."""

    items: list[Notification]
    next: str | None


class Retried(Sent):
    """How many are tried again."""

    retried: int
