"""What is sent and answered, as types: they read JSON, write it, and make the OpenAPI page."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tamis.model.names import LOCAL, OWNER

Form = Literal["text", "json", "query-string", "search-box", "eventbridge"]
Status = Literal["active", "paused"]
Scope = Literal["publish", "subscribe", "admin"]
LocalId = Annotated[str, Meta(pattern=f"^{LOCAL}$", description="1 to 128 letters, digits and . _ ~ : @ -")]
OwnerName = Annotated[str, Meta(pattern=f"^{OWNER}$", description="1 to 64 letters, digits and . _ -")]
Items = Annotated[int, Meta(ge=1, description="Items of a page; no more than the limit page_items.")]
Cursor = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]+$", description="``next`` of the page before.")]
Moment = Annotated[datetime, Meta(tz=True)]
Expression = Annotated[
    str | dict[str, Any], Meta(description="A text, or an object in the forms json and eventbridge.")
]
DeliveryObject = Annotated[
    dict[str, Any], Meta(description="How to tell: ``transport`` and what that needs; absent: keep it here.")
]


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is sent: a field that is not known is refused by name."""


class Sent(msgspec.Struct, kw_only=True):
    """What is answered."""


# -- parameters ------------------------------------------------------------------------------------------


class ForOwner(Strict):
    """The owner that an administrator acts for."""

    owner: OwnerName | None = None


class PageOf(ForOwner):
    """A page."""

    limit: Items = 100
    cursor: Cursor | None = None


class SubscriptionsPageOf(PageOf):
    """Which subscriptions to list."""

    owner: Annotated[str, Meta(description="For administrators; * for everybody's.")] | None = None
    status: Status | None = None
    text: Annotated[str, Meta(min_length=1, description="In the id or the expression.")] | None = None


class KeysPageOf(Strict):
    """Which keys to list."""

    of: Annotated[OwnerName, Meta(description="Only keys of this owner.")] | None = None
    limit: Items = 100
    cursor: Cursor | None = None


class QuarantinePageOf(Strict):
    """A page of what was put aside."""

    limit: Items = 100
    cursor: Cursor | None = None


class ImportOf(ForOwner):
    """How to report an import."""

    report: Annotated[
        Literal["all", "refused"], Meta(description="A line for every line, or only for those refused.")
    ] = "all"


class ExportOf(ForOwner):
    """What to export."""

    secrets: Annotated[bool, Meta(description="With the secrets of deliveries; for administrators.")] = False


class StreamFrom(ForOwner):
    """Where a stream begins."""

    after: (
        Annotated[int, Meta(ge=0, le=2**63 - 1, description="Begin after this number; unless given: now.")]
        | None
    ) = None


# -- subscriptions ---------------------------------------------------------------------------------------


class Wanted(Strict):
    """A subscription as it shall be."""

    expression: Expression
    form: Form | None = None
    priority: float = 0.0
    schedule: str | None = None
    delivery: DeliveryObject | None = None
    status: Status = "active"


class NewSubscription(Wanted):
    """A subscription that is to be made."""

    id: LocalId | None = None


class Draft(Strict):
    """What is to be looked at without being kept."""

    expression: Expression
    form: Form | None = None
    schedule: str | None = None
    delivery: DeliveryObject | None = None
    event: Annotated[dict[str, Any], Meta(description="Attributes of an event to try it on.")] | None = None


class Change(Strict):
    """What shall be different; ``null`` takes something away (RFC 7396)."""

    expression: Expression | msgspec.UnsetType = msgspec.UNSET
    form: Form | msgspec.UnsetType = msgspec.UNSET
    priority: float | msgspec.UnsetType = msgspec.UNSET
    schedule: str | msgspec.UnsetType | None = msgspec.UNSET
    delivery: DeliveryObject | msgspec.UnsetType | None = msgspec.UNSET
    status: Status | msgspec.UnsetType = msgspec.UNSET


class Subscription(Sent):
    """A subscription as it is."""

    id: str
    owner: str
    expression: str
    priority: float
    schedule: str | None
    delivery: dict[str, Any] | None
    status: Status
    version: int
    cost: Annotated[int, Meta(description="What it counts against the quota of predicates.")]
    created: datetime
    updated: datetime


class SubscriptionPage(Sent):
    """Some subscriptions, in the order of their ids."""

    items: list[Subscription]
    next: str | None


class Exported(Sent):
    """A line of an export, which an import reads."""

    id: str
    expression: str
    priority: float
    schedule: str | None
    delivery: dict[str, Any] | None
    status: Status


# -- validation ------------------------------------------------------------------------------------------


class Fault(Sent, omit_defaults=True):
    """What is wrong with a field."""

    field: str
    code: str
    message: str
    position: int | None = None


class Validation(Sent):
    """What is to be said about a draft: what is wrong, or what it means and costs."""

    valid: bool
    errors: list[Fault]
    text: Annotated[str, Meta(description="The expression as text.")] | None = None
    tree: Annotated[dict[str, Any], Meta(description="The expression in the JSON form.")] | None = None
    cost: Annotated[int, Meta(description="What it would count against the quota of predicates.")] | None = (
        None
    )
    schedule: Annotated[str, Meta(description="In our words.")] | None = None
    advice: (
        Annotated[
            dict[str, Any],
            Meta(description="What an index makes of it, how much it matches, and what looks wrong."),
        ]
        | None
    ) = None
    explanation: (
        Annotated[dict[str, Any], Meta(description="Why the event matches or not, predicate by predicate.")]
        | None
    ) = None


# -- events ----------------------------------------------------------------------------------------------


Attributes = Annotated[
    dict[str, Any],
    Meta(description="Names and values; objects may be nested, lists hold several values."),
]


class NewEvent(Strict):
    """An event that is published."""

    attributes: Attributes
    id: LocalId | None = None
    time: Moment | None = None


class Published(msgspec.Struct):
    """An event that is kept and will be matched; a duplicate was, and is not matched again."""

    id: str
    status: Annotated[str, Meta(description="accepted or duplicate")]


class Sample(Strict):
    """An event that is only looked at."""

    attributes: Attributes
    weights: dict[str, float] = {}


class Question(Strict):
    """What to match."""

    event: Sample
    k: Annotated[int, Meta(ge=1, description="Only the best so many, with their scores.")] | None = None
    explain: bool = False
    subscription: Annotated[str, Meta(description="Only this one: why, or why not?")] | None = None
    limit: Items = 1_000
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


# -- notifications ---------------------------------------------------------------------------------------


State = Literal["kept", "waiting", "claimed", "delivered", "dead", "cancelled"]


class Notification(Sent):
    """Something that was to be told, and what became of it; ``kept``: for whoever asks."""

    number: int
    message: Annotated[str, Meta(description="The id that receivers see; the same at every attempt.")]
    subscription: str
    kind: str
    event: str
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


# -- who may what ----------------------------------------------------------------------------------------


class NewKey(Strict):
    """A key that is to be made."""

    owner: OwnerName
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=3)]
    name: Annotated[str, Meta(max_length=100, description="For people.")] | None = None
    expires: Moment | None = None


class Key(Sent):
    """A key, without what makes it one."""

    id: str
    owner: str
    scopes: list[Scope]
    name: str | None
    created: datetime
    expires: datetime | None
    revoked: datetime | None


class MadeKey(Key):
    """A key that was just made; ``key`` is shown this once."""

    key: str


class KeyPage(Sent):
    """Some keys."""

    items: list[Key]
    next: str | None


Amount = Annotated[int, Meta(ge=0, le=10**12)]
Rate = Annotated[int, Meta(ge=1, le=10**9)]


class GivenQuotas(Strict, omit_defaults=True):
    """What an owner may; what is left out is as for everybody."""

    subscriptions: Amount | None = None
    predicates: Amount | None = None
    requests: Annotated[Rate, Meta(description="In a second.")] | None = None
    events: Annotated[Rate, Meta(description="In a second.")] | None = None
    changes: Annotated[Rate, Meta(description="In a second, by import.")] | None = None
    streams: Amount | None = None


class Quotas(Sent):
    """What is in force."""

    subscriptions: int
    predicates: int
    requests: int
    events: int
    changes: int
    streams: int


class Held(Sent):
    """What an owner holds."""

    subscriptions: int
    predicates: int


class Owner(Sent):
    """An owner."""

    owner: str
    quotas: Quotas
    given: GivenQuotas
    held: Held


class Refusal(Sent):
    """An event or subscription that was put aside."""

    id: int
    source: Annotated[str, Meta(description="What refused it: a stream's name, or live for the matcher.")]
    event: str | None
    subscription: str | None
    code: str
    message: str
    text: str | None
    at: datetime


class RefusalPage(Sent):
    """The latest first."""

    items: list[Refusal]
    next: str | None


# -- health ----------------------------------------------------------------------------------------------


class Health(Sent):
    """Whether the process lives."""

    status: Literal["ok"]
    version: str


class Readiness(Sent):
    """Whether it can do its work, and why not."""

    ready: bool
    reasons: list[str]
    lag: Annotated[int, Meta(description="Events that wait for the matcher.")] | None = None


class ServiceStatus(Sent):
    """What the console shows: for every key what it holds and may; for administrators also the machine."""

    version: str
    owner: Owner
    scopes: list[Scope]
    lag: int
    deliveries: Annotated[dict[str, int], Meta(description="Those that wait, are being sent, or are dead.")]
    rates: list[dict[str, int]]
    index: dict[str, Any] | None = None
