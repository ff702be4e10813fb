"""Subscriptions: make, read, change, pause, end; one by one, in pages, or all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tamis.client.core import MERGE_PATCH, Call, Core, Page, path
from tamis.client.pieces import Lines
from tamis.client.results import Row, Subscription, Validation
from tamis.client.steps import Feed, Flow, More
from tamis.client.writing import Expression, Form, Status, attributes_of, expression_sent, text_of
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
    """Make a subscription; without an id it gets one. It matches all events that are published afterwards."""
    if subscription is not None:
        check_local(subscription)
    wanted = _wanted(expression, form, priority, schedule, delivery, status)
    named = wanted if subscription is None else {"id": subscription, **wanted}
    return core.ask(
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
    """Make or replace a subscription; with ``version`` only if it is still that one."""
    return core.ask(
        Call(
            method="PUT",
            path=_place(subscription),
            result=Subscription,
            body=_wanted(expression, form, priority, schedule, delivery, status),
            about=text_of(expression),
            headers=_only(version),
            harmless=version is None,
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
    """Change what is given of a subscription; ``None`` takes a schedule or delivery away.

    With ``version`` only if it is still that one; else :class:`~tamis.errors.VersionConflict`.
    """
    given = {"form": form, "priority": priority, "schedule": schedule, "delivery": delivery, "status": status}
    if not isinstance(expression, UnsetType):
        given["expression"] = expression_sent(expression)
    return core.ask(
        Call(
            method="PATCH",
            path=_place(subscription),
            result=Subscription,
            body={name: value for name, value in given.items() if value is not UNSET},
            media=MERGE_PATCH,
            about=text_of(expression),
            headers=_only(version),
            harmless=version is None,
        )
    )


def remove(core: Core, subscription: str, *, version: int | None = None) -> Flow[None]:
    """End a subscription; it matches no event that is published from now on."""
    return core.ask(
        Call(
            method="DELETE",
            path=_place(subscription),
            result=type(None),
            headers=_only(version),
            harmless=version is None,
            done=("subscription-unknown", None),
        )
    )


def pause(core: Core, subscription: str, *, version: int | None = None) -> Flow[Subscription]:
    """Keep a subscription without matching it."""
    return _switch(core, subscription, "pause", version)


def resume(core: Core, subscription: str, *, version: int | None = None) -> Flow[Subscription]:
    """Match a paused subscription again."""
    return _switch(core, subscription, "resume", version)


def _switch(core: Core, subscription: str, verb: str, version: int | None) -> Flow[Subscription]:
    return core.ask(
        Call(
            method="POST",
            path=_place(subscription, verb),
            result=Subscription,
            headers=_only(version),
            harmless=version is None,
        )
    )


def subscription(core: Core, subscription: str) -> Flow[Subscription]:
    """Return the subscription with this id."""
    return core.ask(Call(method="GET", path=_place(subscription), result=Subscription))


def subscriptions(
    core: Core, *, text: str | None = None, status: Status | None = None, page: int | None = None
) -> Feed[Subscription]:
    """Return all subscriptions in the order of their ids, some (``page``) at a time.

    ``text`` is looked for in the id and the expression.
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
    """Look at a subscription without keeping it, and try it on an event, if one is given."""
    draft: dict[str, Any] = {"expression": expression_sent(expression)}
    draft |= {"form": form, "schedule": schedule, "delivery": delivery}
    if event is not None:
        draft["event"] = attributes_of(event)
    return core.ask(Call(method="POST", path=path(ROOT, "validate"), result=Validation, body=_said(draft)))


def export(core: Core, *, secrets: bool = False) -> Feed[Row]:
    """Yield all subscriptions as an import takes them; for administrators with the ``secrets`` of
    deliveries."""
    call = Call(method="GET", path=path(ROOT, "export"), result=Row, query={"secrets": secrets or None})
    lines = Lines()
    yield from core.open(call, core.patience())
    while piece := (yield More()):
        if isinstance(piece, TamisError):
            raise piece  # what was given cannot be taken back, so there is no other try
        yield [_row(line) for line in lines.feed(piece)]
    if not lines.is_whole:
        raise AnswerInvalid("the export ends within a line")


def _row(line: bytes) -> Row:
    try:
        return msgspec.json.decode(line, type=Row)
    except (msgspec.DecodeError, UnicodeError) as bad:
        raise AnswerInvalid(f"a line of the export cannot be read: {bad}") from None


def _wanted(
    expression: Expression,
    form: Form | None,
    priority: float,
    schedule: str | None,
    delivery: Delivery | None,
    status: Status,
) -> dict[str, Any]:
    said = {"form": form, "schedule": schedule, "delivery": delivery}
    return {
        "expression": expression_sent(expression),
        "priority": priority,
        "status": status,
        **_said(said),
    }


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _place(subscription: str, *more: str) -> str:
    return path(ROOT, check_local(subscription), *more)


def _only(version: int | None) -> dict[str, str]:
    return {} if version is None else {"if-match": f'"{version}"'}
