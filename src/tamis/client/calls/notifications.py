"""Notifications: what was told, what was given up, and another try."""

from __future__ import annotations

from tamis.client.core import Call, Core, Page, path
from tamis.client.results import Notification, Retried
from tamis.client.steps import Feed, Flow
from tamis.contract.names import check_local


def notifications(core: Core, subscription: str, *, page: int | None = None) -> Feed[Notification]:
    """What a subscription was told, the latest first; also of one that has ended."""
    return _pages(core, path("subscriptions", check_local(subscription), "notifications"), page)


def dead_letters(core: Core, *, page: int | None = None) -> Feed[Notification]:
    """Deliveries that were given up, the latest first."""
    return _pages(core, path("dead-letters"), page)


def replay(core: Core, subscription: str, number: int) -> Flow[int]:
    """Deliver a notification once more, under the same message id; 0 if it is on its way already."""
    where = path("subscriptions", check_local(subscription), "notifications", number, "replay")
    return _count(core, Call(method="POST", path=where, result=Retried, harmless=False))


def retry(core: Core, number: int) -> Flow[int]:
    """Try a dead letter again."""
    where, tried = path("dead-letters", number, "retry"), Retried(retried=1)
    return _count(core, Call(method="POST", path=where, result=Retried, done=("resource-unknown", tried)))


def retry_all(core: Core) -> Flow[int]:
    """Try the latest dead letters again, as many as a page of the service holds: how many that are."""
    return _count(core, Call(method="POST", path=path("dead-letters", "retry"), result=Retried))


def _count(core: Core, call: Call[Retried]) -> Flow[int]:
    tried = yield from core.ask(call)
    return tried.retried


def _pages(core: Core, where: str, page: int | None) -> Feed[Notification]:
    return core.pages(Call(method="GET", path=where, result=Page[Notification], query={"limit": page}))
