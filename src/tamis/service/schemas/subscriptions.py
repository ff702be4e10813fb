"""Subscriptions: as they shall be, as they are, in pages, in lines, and as drafts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tamis.contract.names import OWNER
from tamis.service.schemas.common import ForOwner, LocalId, PageOf, Sent, Status, Strict, exactly

Form = Literal["text", "json", "query-string", "search-box", "eventbridge"]
Expression = Annotated[
    str | dict[str, Any], Meta(description="A text, or an object in the forms json and eventbridge.")
]
DeliveryObject = Annotated[
    dict[str, Any], Meta(description="How to tell: ``transport`` and what that needs; absent: keep it here.")
]


class SubscriptionsPageOf(PageOf):
    """Which subscriptions to list."""

    owner: (
        Annotated[
            str, Meta(pattern=exactly(rf"{OWNER}|\*"), description="For administrators; * for everybody's.")
        ]
        | None
    ) = None
    status: Status | None = None
    text: (
        Annotated[
            str, Meta(min_length=1, pattern=r"^[^\u0000]*$", description="In the id or the expression.")
        ]
        | None
    ) = None
    count: Annotated[bool, Meta(description="Also say how many there are, of those asked for.")] = False


class ImportOf(ForOwner):
    """How to report an import."""

    report: Annotated[
        Literal["all", "refused"],
        Meta(description="A line for each line, or for those refused or warned about."),
    ] = "all"


class ExportOf(ForOwner):
    """What to export."""

    secrets: Annotated[bool, Meta(description="With the secrets of deliveries; for administrators.")] = False


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


class Fault(Sent, omit_defaults=True):
    """What is wrong with a field."""

    field: str
    code: str
    message: str
    position: int | None = None


Warnings = Annotated[list[Fault], Meta(description="What will not work, though it may be kept.")]


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
    warnings: Warnings


class SubscriptionPage(Sent):
    """Some subscriptions, in the order of their ids."""

    items: list[Subscription]
    next: str | None
    total: Annotated[int, Meta(description="Of those asked for, on all pages; with ``count``.")] | None = None


class Exported(Sent):
    """A line of an export, which an import reads."""

    id: str
    expression: str
    priority: float
    schedule: str | None
    delivery: dict[str, Any] | None
    status: Status


class Validation(Sent):
    """What is to be said about a draft: what is wrong, or what it means and costs."""

    valid: bool
    errors: list[Fault]
    warnings: Warnings
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
