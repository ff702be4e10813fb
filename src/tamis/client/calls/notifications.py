"""Calls to list notifications and dead letters, and to retry deliveries."""

from __future__ import annotations

from tamis.client.core import Call, Core, Page, path
from tamis.client.results import Notification, Retried
from tamis.client.steps import Feed, Flow
from tamis.contract.names import check_local


def notifications(core: Core, subscription: str, *, page: int | None = None) -> Feed[Notification]:
    """Yield the notifications of a subscription, the latest first, also of a deleted one."""
    return _pages(core, path("subscriptions", check_local(subscription), "notifications"), page)


def dead_letters(core: Core, *, page: int | None = None) -> Feed[Notification]:
    """Yield the failed deliveries that are no longer retried, the latest first."""
    return _pages(core, path("dead-letters"), page)


def replay(core: Core, subscription: str, number: int) -> Flow[int]:
    """Deliver a notification again with the same message id; return 0 if it is already being delivered."""
    where = path("subscriptions", check_local(subscription), "notifications", number, "replay")
    return _count(core, Call(method="POST", path=where, result=Retried, is_idempotent=False))


def retry(core: Core, number: int) -> Flow[int]:
    """Retry a dead letter."""
    where, tried = path("dead-letters", number, "retry"), Retried(retried=1)
    return _count(core, Call(method="POST", path=where, result=Retried, done=("resource-unknown", tried)))


def retry_all(core: Core) -> Flow[int]:
    """Retry the latest dead letters, as many as fit one page of the service; return their number."""
    return _count(core, Call(method="POST", path=path("dead-letters", "retry"), result=Retried))


def _count(core: Core, call: Call[Retried]) -> Flow[int]:
    tried = yield from core.call(call)
    return tried.retried


def _pages(core: Core, where: str, page: int | None) -> Feed[Notification]:
    return core.pages(Call(method="GET", path=where, result=Page[Notification], query={"limit": page}))
