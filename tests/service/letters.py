"""Create notifications as the product does: published, matched, dispatched, claimed, given up."""

from __future__ import annotations

from tamis.store import claims, deliveries, dispatch
from tamis.store.claims import ClaimRequest, Result
from tamis.store.dispatch import DispatchOptions
from tamis.store.timestamps import now
from tests.service.service import Caller, Running
from tests.waiting import eventually


def told(run: Running, caller: Caller, name: str) -> int:
    """Match a subscription that has a delivery; return the number of its undispatched notification."""
    before = numbers(caller, name)
    assert caller("POST", "/v1/events", {"attributes": {"letter": name}}).status_code == 202
    (number,) = eventually(lambda: numbers(caller, name) - before)
    return int(number)


def numbers(caller: Caller, name: str) -> set[int]:
    """Return the numbers of the notifications of a subscription."""
    found = caller("GET", f"/v1/subscriptions/{name}/notifications?limit=1000").json()["items"]
    return {one["number"] for one in found}


def subscribe(caller: Caller, name: str) -> None:
    """Create a subscription that matches the events of :func:`told`."""
    body = {"expression": f"letter = '{name}'", "delivery": {"transport": "log"}}
    assert caller("PUT", f"/v1/subscriptions/{name}", body).status_code in (200, 201)


def order(run: Running) -> None:
    """Dispatch all notifications to deliveries."""
    with run.store.database.writing() as connection:
        while dispatch.dispatch(connection, DispatchOptions("tests"), now()).read:
            pass


def finish(run: Running, state: str, error: str | None = None) -> None:
    """Give all due deliveries a final state."""
    with run.store.database.writing() as connection:
        ask = ClaimRequest("tests", now() + 60_000_000, 1_000, lambda _: 1_000)
        found, _ = claims.claim(connection, ask, now())
        results = [Result(one.id, state, now(), error) for one in found]
        claims.record(connection, "tests", results, now())


def dead_letter(run: Running, caller: Caller, owner: str, name: str) -> int:
    """Return the number of a new notification that was given up."""
    subscribe(caller, name)
    number = told(run, caller, name)
    order(run)
    finish(run, deliveries.DEAD, "nobody answers")
    return number
