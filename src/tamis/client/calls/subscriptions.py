"""Calls to create, read, list, change, pause, delete, validate and export subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tamis.client.core import MERGE_PATCH, Call, Core, Page, path
from tamis.client.parsers import LineParser
from tamis.client.request_bodies import Expression, Form, Status, attributes_of, expression_body, text_of
from tamis.client.results import Row, Subscription, Validation
from tamis.client.steps import Feed, Flow, More
from tamis.contract.names import check_local, new_name
from tamis.errors import AnswerInvalid, TamisError
from tamis.values.event import EventLike

ROOT = "subscriptions"
Delivery = Mapping[str, Any]


def add(
    core: Core,
    subscription: str | None,
    expression: Expression,
    *,
    form: Form | None = None,
    priority: float = 0.0,
    schedule: str | None = None,
    delivery: Delivery | None = None,
    status: Status = "active",
) -> Flow[Subscription]:
    """Create a subscription, which matches events published afterwards; without an id, one is generated."""
    if subscription is not None:
        check_local(subscription)
    definition = _definition(expression, form, priority, schedule, delivery, status)
    named = definition if subscription is None else {"id": subscription, **definition}
    return core.call(
        Call(
            method="POST",
            path=path(ROOT),
            result=Subscription,
            body=named,
            headers={"idempotency-key": new_name()},
            about=text_of(expression),
        )
    )


def put(
    core: Core,
    subscription: str,
    expression: Expression,
    *,
    form: Form | None = None,
    priority: float = 0.0,
    schedule: str | None = None,
    delivery: Delivery | None = None,
    status: Status = "active",
    version: int | None = None,
) -> Flow[Subscription]:
    """Create or replace a subscription; with ``version``, only if that is still its version."""
    return core.call(
        Call(
            method="PUT",
            path=_path_of(subscription),
            result=Subscription,
            body=_definition(expression, form, priority, schedule, delivery, status),
            about=text_of(expression),
            headers=_if_match(version),
            is_idempotent=version is None,
        )
    )


def update(
    core: Core,
    subscription: str,
    expression: Expression | UnsetType = UNSET,
    *,
    form: Form | UnsetType = UNSET,
    priority: float | UnsetType = UNSET,
    schedule: str | UnsetType | None = UNSET,
    delivery: Delivery | UnsetType | None = UNSET,
    status: Status | UnsetType = UNSET,
    version: int | None = None,
) -> Flow[Subscription]:
    """Change the given fields of a subscription; ``None`` removes a schedule or delivery.

    With ``version``, raise :class:`~tamis.errors.VersionConflict` if that is no longer its version.
    """
    given = {"form": form, "priority": priority, "schedule": schedule, "delivery": delivery, "status": status}
    if not isinstance(expression, UnsetType):
        given["expression"] = expression_body(expression)
    return core.call(
        Call(
            method="PATCH",
            path=_path_of(subscription),
            result=Subscription,
            body={name: value for name, value in given.items() if value is not UNSET},
            media=MERGE_PATCH,
            about=text_of(expression),
            headers=_if_match(version),
            is_idempotent=version is None,
        )
    )


def remove(core: Core, subscription: str, *, version: int | None = None) -> Flow[None]:
    """Delete a subscription; it matches no event that is published from now on."""
    return core.call(
        Call(
            method="DELETE",
            path=_path_of(subscription),
            result=type(None),
            headers=_if_match(version),
            is_idempotent=version is None,
            done=("subscription-unknown", None),
        )
    )


def pause(core: Core, subscription: str, *, version: int | None = None) -> Flow[Subscription]:
    """Pause a subscription: it is kept but not matched."""
    return _switch(core, subscription, "pause", version)


def resume(core: Core, subscription: str, *, version: int | None = None) -> Flow[Subscription]:
    """Resume a paused subscription."""
    return _switch(core, subscription, "resume", version)


def _switch(core: Core, subscription: str, verb: str, version: int | None) -> Flow[Subscription]:
    return core.call(
        Call(
            method="POST",
            path=_path_of(subscription, verb),
            result=Subscription,
            headers=_if_match(version),
            is_idempotent=version is None,
        )
    )


def subscription(core: Core, subscription: str) -> Flow[Subscription]:
    """Return the subscription with this id."""
    return core.call(Call(method="GET", path=_path_of(subscription), result=Subscription))


def subscriptions(
    core: Core, *, text: str | None = None, status: Status | None = None, page: int | None = None
) -> Feed[Subscription]:
    """Yield all subscriptions in the order of their ids, ``page`` at a time.

    ``text`` selects those with this text in the id or the expression.
    """
    query = {"text": text, "status": status, "limit": page}
    return core.pages(Call(method="GET", path=path(ROOT), result=Page[Subscription], query=query))


def validate(
    core: Core,
    expression: Expression,
    *,
    form: Form | None = None,
    schedule: str | None = None,
    delivery: Delivery | None = None,
    event: EventLike | None = None,
) -> Flow[Validation]:
    """Validate a subscription without storing it, and try it on an event if one is given."""
    draft: dict[str, Any] = {"expression": expression_body(expression)}
    draft |= {"form": form, "schedule": schedule, "delivery": delivery}
    if event is not None:
        draft["event"] = attributes_of(event)
    return core.call(
        Call(method="POST", path=path(ROOT, "validate"), result=Validation, body=_present(draft))
    )


def export(core: Core, *, secrets: bool = False) -> Feed[Row]:
    """Yield all subscriptions in the import format; administrators can include delivery ``secrets``."""
    call = Call(method="GET", path=path(ROOT, "export"), result=Row, query={"secrets": secrets or None})
    lines = LineParser()
    yield from core.open(call, core.retry_budget())
    while chunk := (yield More()):
        if isinstance(chunk, TamisError):
            raise chunk  # the caller already has the earlier rows, so there is no retry
        yield [_row(line) for line in lines.feed(chunk)]
    if not lines.is_whole:
        raise AnswerInvalid("the export ends within a line")


def _row(line: bytes) -> Row:
    try:
        return msgspec.json.decode(line, type=Row)
    except (msgspec.DecodeError, UnicodeError) as bad:
        raise AnswerInvalid(f"a line of the export cannot be read: {bad}") from None


def _definition(
    expression: Expression,
    form: Form | None,
    priority: float,
    schedule: str | None,
    delivery: Delivery | None,
    status: Status,
) -> dict[str, Any]:
    said = {"form": form, "schedule": schedule, "delivery": delivery}
    return {
        "expression": expression_body(expression),
        "priority": priority,
        "status": status,
        **_present(said),
    }


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _path_of(subscription: str, *more: str) -> str:
    return path(ROOT, check_local(subscription), *more)


def _if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"if-match": f'"{version}"'}
