"""Lists notifications and dead letters, and retries deliveries."""

from __future__ import annotations

import functools

from sqlalchemy.engine import Connection

from tamis.contract.names import local_name
from tamis.errors import ResourceUnknown, SubscriptionError
from tamis.service import conversion, cursors
from tamis.service.operation import Answer, Call, operation
from tamis.service.schemas.common import OwnerQuery, PageQuery
from tamis.service.schemas.events import Notification, NotificationPage, Retried
from tamis.store import deliveries, dispatch, registry, subscriptions
from tamis.store.deliveries import DEAD, WAITING
from tamis.store.keys import SUBSCRIBE
from tamis.store.pages import Page
from tamis.store.timestamps import now
from tamis.values.value import moment_of

MESSAGE = "msg_{}"
_common = {"scope": SUBSCRIBE, "tag": "notifications"}


@operation(
    "GET",
    "/v1/subscriptions/{id}/notifications",
    **_common,
    query=PageQuery,
    answers={200: NotificationPage},
    refusals=(404,),
)
async def list_notifications(call: Call) -> Answer:
    """List the notifications of a subscription, the latest first, also of a deleted one."""
    stored, before = call.stored, cursors.decode_number(call.query.cursor)
    most = call.page_items

    def ask(connection: Connection) -> Page[deliveries.Notification, int]:
        page = deliveries.history(connection, stored, before, most)
        if not page.items and before is None:
            registry.existing(subscriptions.get(connection, stored), stored)
        return page

    return _page(await call.service.read(ask))


@operation(
    "POST",
    "/v1/subscriptions/{id}/notifications/{number}/replay",
    **_common,
    query=OwnerQuery,
    answers={202: Retried},
    refusals=(404, 422),
)
async def replay_notification(call: Call) -> Answer:
    """Deliver a notification again, with the subscription's current delivery settings. This includes a
    notification that was only kept.

    The message id stays the same.
    """
    stored = call.stored
    number = _number(call)

    def replay(connection: Connection) -> int:
        found = deliveries.find(connection, number)
        if found is None or found.subscription_id != stored:
            raise _unknown("notification", number)
        repeated = dispatch.replay(connection, stored, [number], now())
        if not repeated and found.state is None:
            raise SubscriptionError(f"{call.part('id')} has no delivery to send it by; give it one")
        return repeated

    return Answer(Retried(retried=await call.service.commit(replay)), 202)


@operation("GET", "/v1/dead-letters", **_common, query=PageQuery, answers={200: NotificationPage})
async def list_dead_letters(call: Call) -> Answer:
    """List the failed deliveries that are no longer retried, the latest first."""
    before = cursors.decode_number(call.query.cursor)
    most = call.page_items
    ask = functools.partial(deliveries.dead_letters, owner=call.owner, before=before, most=most)
    return _page(await call.service.read(ask))


@operation(
    "POST",
    "/v1/dead-letters/{number}/retry",
    **_common,
    query=OwnerQuery,
    answers={202: Retried},
    refusals=(404,),
)
async def retry_dead_letter(call: Call) -> Answer:
    """Retry one dead letter."""
    number, owner = _number(call), call.owner

    def retry(connection: Connection) -> int:
        done = deliveries.redeliver(connection, [number], owner, [DEAD])
        if not done:
            raise _unknown("dead letter", number)
        return done

    return Answer(Retried(retried=await call.service.commit(retry)), 202)


@operation("POST", "/v1/dead-letters/retry", **_common, query=OwnerQuery, answers={202: Retried})
async def retry_dead_letters(call: Call) -> Answer:
    """Retry the latest dead letters, as many as fit one page. Repeat until ``retried`` is 0."""
    owner, most = call.owner, call.service.limits.page_items

    def retry(connection: Connection) -> int:
        page = deliveries.dead_letters(connection, owner, None, most)
        return deliveries.redeliver(connection, [one.id for one in page.items], owner, [DEAD])

    return Answer(Retried(retried=await call.service.commit(retry)), 202)


def _number(call: Call) -> int:
    text = call.part("number")
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise _unknown("notification", text)
    return int(text)


def _unknown(what: str, number: int | str) -> ResourceUnknown:
    return ResourceUnknown(f"there is no {what} {str(number)[:40]}")


def _page(page: Page[deliveries.Notification, int]) -> Answer:
    items = [_response(one) for one in page.items]
    return Answer(NotificationPage(items=items, next=cursors.encode(page.next)))


def _response(one: deliveries.Notification) -> Notification:
    return Notification(
        number=one.id,
        message=MESSAGE.format(one.id),
        subscription=local_name(one.subscription_id),
        kind=one.kind,
        event=conversion.event_reference(one.event_id, one.query),
        version=one.version,
        score=one.score,
        at=moment_of(one.created_at),
        state=one.state or "kept",  # type: ignore[arg-type]
        attempts=one.attempts or 0,
        next_attempt=moment_of(one.due) if one.state == WAITING and one.due is not None else None,
        finished=moment_of(one.finished_at) if one.finished_at is not None else None,
        error=one.error,
        delivery=conversion.settings(one.settings),
    )


OPERATIONS = (
    list_notifications,
    replay_notification,
    list_dead_letters,
    retry_dead_letter,
    retry_dead_letters,
)
