"""Notifications, their states and replays, created as the product creates them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tamis.store.deliveries import DELIVERED
from tests.service.letters import dead_letter, finish, order, subscribe, told
from tests.service.service import Caller, Running, problem
from tests.waiting import eventually


def history(caller: Caller, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = caller("GET", f"/v1/subscriptions/{name}/notifications").json()["items"]
    return found


def test_history_lists_notifications_with_their_states(run: Running, ann: Caller) -> None:
    subscribe(ann, "s")
    assert history(ann, "s") == []
    number = told(run, ann, "s")
    (one,) = history(ann, "s")
    assert (one["state"], one["message"], one["delivery"]) == ("kept", f"msg_{number}", None)
    order(run)
    (one,) = history(ann, "s")
    assert (one["state"], one["attempts"], one["delivery"]) == ("waiting", 0, {"transport": "log"})
    assert one["next_attempt"]
    finish(run, DELIVERED)
    (one,) = history(ann, "s")
    assert (one["state"], one["attempts"], one["next_attempt"]) == ("delivered", 1, None)
    assert one["finished"]
    second = told(run, ann, "s")
    assert [one["number"] for one in history(ann, "s")] == [second, number]
    problem(ann("GET", "/v1/subscriptions/none/notifications"), 404, "subscription-unknown")
    ann("DELETE", "/v1/subscriptions/s")
    assert len(history(ann, "s")) == 2


def test_notification_names_its_event_as_the_publisher_does(run: Running, ann: Caller, bob: Caller) -> None:
    """The id is the publisher's, as in the stream; a stream on Spark has ids of its own."""
    owners = [one("GET", "/v1/status").json()["owner"]["owner"] for one in (ann, bob)]
    subscribe(ann, "s")
    bob("POST", "/v1/events", {"id": "e1", "attributes": {"letter": "s"}})
    (one,) = eventually(lambda: history(ann, "s"))
    assert one["event"] == {"id": "e1", "owner": owners[1]}
    rows = {"event_id": ["topic/0/17"], "subscription_id": [f"{owners[0]}/s"], "version": [1]}
    run.store.add_matches(pa.table(rows), "spark", 0)
    assert history(ann, "s")[0]["event"] == {"id": "topic/0/17"}


def test_history_is_listed_in_pages(run: Running, ann: Caller) -> None:
    subscribe(ann, "s")
    numbers = [told(run, ann, "s") for _ in range(5)]
    found, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = ann("GET", "/v1/subscriptions/s/notifications", params=params).json()
        found += [one["number"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == numbers[::-1]
    for bad in ("x", "LTE", "MS41"):
        params = {"cursor": bad}
        problem(ann("GET", "/v1/subscriptions/s/notifications", params=params), 400, "request-invalid")


def test_replay_sends_a_notification_again(run: Running, ann: Caller) -> None:
    subscribe(ann, "s")
    number = told(run, ann, "s")
    path = f"/v1/subscriptions/s/notifications/{number}/replay"
    assert ann("POST", path).json() == {"retried": 1}  # a notification that was only stored is sent now
    order(run)
    assert ann("POST", path).json() == {"retried": 0}  # it is already waiting to be sent
    finish(run, DELIVERED)
    again = ann("POST", path)
    assert (again.status_code, again.json()) == (202, {"retried": 1})
    (one,) = history(ann, "s")
    assert (one["state"], one["attempts"], one["number"]) == ("waiting", 0, number)
    finish(run, DELIVERED)
    subscribe(ann, "t")
    problem(ann("POST", f"/v1/subscriptions/t/notifications/{number}/replay"), 404, "resource-unknown")


def test_replay_is_refused_without_a_delivery(run: Running, ann: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "letter = 's'"})
    number = told(run, ann, "s")
    path = f"/v1/subscriptions/s/notifications/{number}/replay"
    problem(ann("POST", path), 422, "subscription-invalid")


@pytest.mark.parametrize("number", ["0", "x", "-1", "1" * 40, "%C2%B2"])
def test_invalid_number_is_refused(ann: Caller, number: str) -> None:
    problem(ann("POST", f"/v1/subscriptions/s/notifications/{number}/replay"), 404, "resource-unknown")
    problem(ann("POST", f"/v1/dead-letters/{number}/retry"), 404, "resource-unknown")


def test_dead_letters_are_listed_and_retried(run: Running, ann: Caller) -> None:
    owner = ann("GET", "/v1/status").json()["owner"]["owner"]
    first, second = (dead_letter(run, ann, owner, name) for name in ("s", "t"))
    letters = ann("GET", "/v1/dead-letters").json()["items"]
    assert [one["number"] for one in letters] == [second, first]
    assert {one["error"] for one in letters} == {"nobody answers"}
    assert ann("POST", f"/v1/dead-letters/{first}/retry").json() == {"retried": 1}
    assert [one["number"] for one in ann("GET", "/v1/dead-letters").json()["items"]] == [second]
    problem(ann("POST", f"/v1/dead-letters/{first}/retry"), 404, "resource-unknown")
    assert ann("POST", "/v1/dead-letters/retry").json() == {"retried": 1}
    assert ann("POST", "/v1/dead-letters/retry").json() == {"retried": 0}
    assert ann("GET", "/v1/dead-letters").json() == {"items": [], "next": None}
    assert [history(ann, name)[0]["state"] for name in ("s", "t")] == ["waiting", "waiting"]


def test_waiting_notifications_are_cancelled_when_the_subscription_is_removed(
    run: Running, ann: Caller
) -> None:
    subscribe(ann, "s")
    told(run, ann, "s")
    order(run)
    ann("DELETE", "/v1/subscriptions/s")
    assert [one["state"] for one in history(ann, "s")] == ["cancelled"]
