"""Schemas of keys, quotas, the quarantine, health and status."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from tamis.service.schemas.common import Cursor, Items, Moment, OwnerName, RequestModel, ResponseModel, Scope


class KeysQuery(RequestModel):
    """The keys to list."""

    of: Annotated[OwnerName, Meta(description="Only keys of this owner.")] | None = None
    limit: Items = 100
    cursor: Cursor | None = None


class QuarantineQuery(RequestModel):
    """A page of the quarantine."""

    limit: Items = 100
    cursor: Cursor | None = None


class NewKey(RequestModel):
    """A key to create."""

    owner: OwnerName
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=3)]
    name: Annotated[str, Meta(max_length=100, description="A note for people.")] | None = None
    expires: Moment | None = None


class Key(ResponseModel):
    """A key, without its secret text."""

    id: str
    owner: str
    scopes: list[Scope]
    name: str | None
    created: datetime
    expires: datetime | None
    revoked: datetime | None


class CreatedKey(Key):
    """A new key; ``key`` is its text, which is shown only once."""

    key: str


class KeyPage(ResponseModel):
    """A page of keys."""

    items: list[Key]
    next: str | None


Amount = Annotated[int, Meta(ge=0, le=10**12)]
Rate = Annotated[int, Meta(ge=1, le=10**9)]


class GivenQuotas(RequestModel, omit_defaults=True):
    """The quotas set for an owner; a quota that is left out has its default value."""

    subscriptions: Amount | None = None
    predicates: Amount | None = None
    requests: Annotated[Rate, Meta(description="Per second.")] | None = None
    events: Annotated[Rate, Meta(description="Per second.")] | None = None
    changes: Annotated[Rate, Meta(description="Per second, by import.")] | None = None
    streams: Amount | None = None
    requests_at_once: Annotated[Rate, Meta(description="Requests in progress at a time.")] | None = None


class Quotas(ResponseModel):
    """The quotas in force."""

    subscriptions: int
    predicates: int
    requests: int
    events: int
    changes: int
    streams: int
    requests_at_once: int


class OwnerUsage(ResponseModel):
    """The amounts that an owner uses."""

    subscriptions: int
    predicates: int


class Owner(ResponseModel):
    """An owner with its quotas and its use of them."""

    owner: str
    quotas: Quotas
    given: GivenQuotas
    held: OwnerUsage


class Refusal(ResponseModel):
    """A quarantined event or subscription."""

    id: int
    source: Annotated[str, Meta(description="The stream that refused it, or live for the matcher.")]
    event: str | None
    subscription: str | None
    code: str
    message: str
    text: str | None
    at: datetime


class RefusalPage(ResponseModel):
    """A page of quarantined items, the latest first."""

    items: list[Refusal]
    next: str | None


class Health(ResponseModel):
    """The process is alive."""

    status: Literal["ok"]
    version: str


class Readiness(ResponseModel):
    """Whether the service is ready, and the reasons if it is not."""

    ready: bool
    reasons: list[str]
    lag: Annotated[int, Meta(description="Events waiting for the matcher.")] | None = None


class ServiceStatus(ResponseModel):
    """The state that the console shows: the owner's quotas and use; for administrators also the index."""

    version: str
    owner: Owner
    scopes: list[Scope]
    lag: int
    deliveries: Annotated[dict[str, int], Meta(description="The deliveries waiting, claimed and dead.")]
    rates: list[dict[str, int]]
    index: dict[str, Any] | None = None
