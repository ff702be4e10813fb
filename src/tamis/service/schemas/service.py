"""Who may what, and how the service is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from tamis.service.schemas.common import Cursor, Items, Moment, OwnerName, Scope, Sent, Strict


class KeysPageOf(Strict):
    """Which keys to list."""

    of: Annotated[OwnerName, Meta(description="Only keys of this owner.")] | None = None
    limit: Items = 100
    cursor: Cursor | None = None


class QuarantinePageOf(Strict):
    """A page of what was put aside."""

    limit: Items = 100
    cursor: Cursor | None = None


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
    requests_at_once: Annotated[Rate, Meta(description="That are worked on at a time.")] | None = None


class Quotas(Sent):
    """What is in force."""

    subscriptions: int
    predicates: int
    requests: int
    events: int
    changes: int
    streams: int
    requests_at_once: int


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
