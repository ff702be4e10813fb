"""Schemas of subscriptions: definitions, stored subscriptions, pages, exports and validation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tamis.contract.names import OWNER
from tamis.service.schemas.common import (
    LocalId,
    OwnerQuery,
    PageQuery,
    RequestModel,
    ResponseModel,
    Status,
    exactly,
)

Form = Literal["text", "json", "query-string", "search-box", "eventbridge", "lucene"]
Expression = Annotated[
    str | dict[str, Any], Meta(description="A text, or an object in the forms json and eventbridge.")
]
DeliveryObject = Annotated[
    dict[str, Any],
    Meta(description="``transport`` and its settings; without a delivery, matches are only kept."),
]


class SubscriptionsQuery(PageQuery):
    """The subscriptions to list."""

    owner: (
        Annotated[
            str, Meta(pattern=exactly(rf"{OWNER}|\*"), description="For administrators; * means all owners.")
        ]
        | None
    ) = None
    status: Status | None = None
    text: (
        Annotated[
            str, Meta(min_length=1, pattern=r"^[^\u0000]*$", description="Part of the id or expression.")
        ]
        | None
    ) = None
    count: Annotated[bool, Meta(description="Also return the total number that fits the filter.")] = False


class ImportQuery(OwnerQuery):
    """The extent of an import's report."""

    report: Annotated[
        Literal["all", "refused"],
        Meta(description="Report every line, or only refused lines and those with warnings."),
    ] = "all"


class ExportQuery(OwnerQuery):
    """The extent of an export."""

    secrets: Annotated[bool, Meta(description="Include delivery secrets; for administrators.")] = False


class SubscriptionDefinition(RequestModel):
    """The definition of a subscription."""

    expression: Expression
    form: Form | None = None
    priority: float = 0.0
    schedule: str | None = None
    delivery: DeliveryObject | None = None
    status: Status = "active"


class NewSubscription(SubscriptionDefinition):
    """A subscription to create."""

    id: LocalId | None = None


class Draft(RequestModel):
    """A subscription to validate."""

    expression: Expression
    form: Form | None = None
    schedule: str | None = None
    delivery: DeliveryObject | None = None
    event: Annotated[dict[str, Any], Meta(description="The attributes of a sample event.")] | None = None


class SubscriptionPatch(RequestModel):
    """The fields to change; ``null`` removes a field (RFC 7396)."""

    expression: Expression | msgspec.UnsetType = msgspec.UNSET
    form: Form | msgspec.UnsetType = msgspec.UNSET
    priority: float | msgspec.UnsetType = msgspec.UNSET
    schedule: str | msgspec.UnsetType | None = msgspec.UNSET
    delivery: DeliveryObject | msgspec.UnsetType | None = msgspec.UNSET
    status: Status | msgspec.UnsetType = msgspec.UNSET


class Fault(ResponseModel, omit_defaults=True):
    """A fault in a field."""

    field: str
    code: str
    message: str
    position: int | None = None


Warnings = Annotated[list[Fault], Meta(description="Problems that do not prevent storing it.")]


class Subscription(ResponseModel):
    """A stored subscription."""

    id: str
    owner: str
    expression: str
    priority: float
    schedule: str | None
    delivery: dict[str, Any] | None
    status: Status
    version: int
    cost: Annotated[int, Meta(description="Its share of the quota of predicates.")]
    created: datetime
    updated: datetime
    warnings: Warnings


class SubscriptionPage(ResponseModel):
    """A page of subscriptions, in the order of their ids."""

    items: list[Subscription]
    next: str | None
    total: Annotated[int, Meta(description="The number on all pages; only with ``count``.")] | None = None


class Exported(ResponseModel):
    """A line of an export, in the format of the import."""

    id: str
    expression: str
    priority: float
    schedule: str | None
    delivery: dict[str, Any] | None
    status: Status


class Validation(ResponseModel):
    """The result of a validation: the errors, or the meaning and the cost."""

    valid: bool
    errors: list[Fault]
    warnings: Warnings
    text: Annotated[str, Meta(description="The expression as text.")] | None = None
    tree: Annotated[dict[str, Any], Meta(description="The expression in the JSON form.")] | None = None
    cost: Annotated[int, Meta(description="Its share of the quota of predicates.")] | None = None
    schedule: Annotated[str, Meta(description="The schedule in its canonical form.")] | None = None
    advice: (
        Annotated[
            dict[str, Any],
            Meta(description="Its form in an index, how much it matches, and likely mistakes."),
        ]
        | None
    ) = None
    explanation: (
        Annotated[dict[str, Any], Meta(description="The outcome of each predicate for the sample event.")]
        | None
    ) = None
