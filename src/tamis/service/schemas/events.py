"""Schemas of events, matches and notifications."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tamis.contract.on_error import OnError
from tamis.service.schemas.common import (
    Cursor,
    LocalId,
    Moment,
    OwnerQuery,
    RequestModel,
    ResponseModel,
    Status,
)

Attributes = Annotated[
    dict[str, Any],
    Meta(description="Names and values; objects may be nested, and a list holds several values."),
]


class NewEvent(RequestModel):
    """An event to publish."""

    attributes: Attributes
    id: LocalId | None = None
    time: Moment | None = None


class PublishQuery(OwnerQuery):
    """The treatment of refused lines."""

    on_error: Annotated[
        OnError,
        Meta(
            description="For refused lines: report and quarantine them; stop at the first with its problem; "
            "or only count them."
        ),
    ] = "report"


class Published(msgspec.Struct):
    """A stored event that will be matched; a duplicate was stored earlier and is not matched again."""

    id: str
    status: Annotated[str, Meta(description="accepted or duplicate")]


class SampleEvent(RequestModel):
    """A sample event, which is not published."""

    attributes: Attributes
    weights: dict[str, float] = msgspec.field(default_factory=dict)


class MatchRequest(RequestModel):
    """A sample event to match, and the extent of the response."""

    event: SampleEvent
    k: Annotated[int, Meta(ge=1, description="Only the k best matches, with their scores.")] | None = None
    explain: bool = False
    highlight: Annotated[
        bool, Meta(description="Return the words because of which each subscription matches.")
    ] = False
    subscription: Annotated[str, Meta(description="Explain only this subscription.")] | None = None
    limit: Annotated[int, Meta(ge=1, description="Items per page, at most the limit match_items.")] = 1_000
    cursor: Cursor | None = None


class Highlight(ResponseModel):
    """A part of a value, and the term that it satisfies; offsets count characters of the value in NFC."""

    value: Annotated[int, Meta(description="The number of the value among those of the attribute.")]
    start: int
    end: int
    term: str
    text: Annotated[str, Meta(description="The characters from start to end.")]


class Snippet(ResponseModel):
    """A text around its first highlight."""

    attribute: str
    value: int
    pieces: Annotated[
        list[str], Meta(description="Unmarked and marked parts in turn, an unmarked one first.")
    ]


class Highlights(ResponseModel):
    """The words of an event because of which a subscription matches."""

    attributes: dict[str, list[Highlight]]
    snippets: list[Snippet]
    more: Annotated[bool, Meta(description="Whether the limit highlights left some out.")]


class Match(ResponseModel, omit_defaults=True):
    """A subscription that matches, or the one requested by id."""

    id: str
    matched: bool
    version: int | None = None
    score: float | None = None
    status: Status | None = None
    explanation: Annotated[dict[str, Any], Meta(description="The outcome of each predicate.")] | None = None
    highlights: Highlights | None = None


class MatchPage(ResponseModel):
    """Subscriptions that match an event: ``total`` is their number; ``next`` leads to the next page."""

    matches: list[Match]
    total: int
    next: str | None = None


class StreamQuery(OwnerQuery):
    """The start of a stream."""

    after: (
        Annotated[int, Meta(ge=0, le=2**63 - 1, description="Begin after this number; the default is now.")]
        | None
    ) = None


State = Literal["kept", "waiting", "claimed", "delivered", "dead", "cancelled"]


class EventReference(ResponseModel, omit_defaults=True):
    """The matched event, by its owner's name for it. Events from a Spark stream have no owner."""

    id: str
    owner: Annotated[str, Meta(description="The owner that published it.")] | None = None


class Notification(ResponseModel):
    """A notification and the state of its delivery. ``kept`` means that it is stored without being sent."""

    number: int
    message: Annotated[str, Meta(description="The id that receivers see, the same at every attempt.")]
    subscription: str
    kind: str
    event: EventReference
    version: int
    score: float | None
    at: datetime
    state: State
    attempts: int
    next_attempt: datetime | None
    finished: datetime | None
    error: str | None
    delivery: Annotated[dict[str, Any], Meta(description="The settings when it was created.")] | None


class NotificationPage(ResponseModel):
    """A page of notifications, the latest first."""

    items: list[Notification]
    next: str | None


class Retried(ResponseModel):
    """The number of deliveries that are retried."""

    retried: int
