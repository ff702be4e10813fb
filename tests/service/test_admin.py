"""Administration of keys, quotas, rates and the quarantine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tamis.limits import Limits
from tamis.service import rate_limits
from tamis.service.rate_limits import TokenBucket, TokenBuckets
from tamis.store import keys
from tamis.store.timestamps import now
from tests.service.service import Caller, Running, file_url, problem, running

ROOT = "/v1/subscriptions"


def test_key_is_shown_once(run: Running) -> None:
    body = {"owner": "new", "scopes": ["subscribe", "publish"], "name": "laptop"}
    made = run.admin("POST", "/v1/keys", body)
    assert made.status_code == 201
    found = made.json()
    text = found.pop("key")
    assert made.headers["location"] == f"/v1/keys/{found['id']}"
    assert (found["owner"], found["scopes"], found["revoked"]) == ("new", ["publish", "subscribe"], None)
    assert Caller(run.http, text)("GET", ROOT).status_code == 200
    listed = run.admin("GET", "/v1/keys?of=new")
    assert listed.json() == {"items": [found], "next": None}
    assert text.split("_")[2] not in listed.text
    assert run.admin("DELETE", f"/v1/keys/{found['id']}").status_code == 204
    problem(Caller(run.http, text)("GET", ROOT), 401, "key-invalid")
    assert run.admin("GET", "/v1/keys?of=new").json()["items"][0]["revoked"]
    assert run.admin("DELETE", f"/v1/keys/{found['id']}").status_code == 204
    problem(run.admin("DELETE", "/v1/keys/none"), 404, "resource-unknown")


def test_expired_key_is_refused(run: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime.now(UTC)
    soon = {"owner": "x", "scopes": ["subscribe"], "expires": (at + timedelta(hours=1)).isoformat()}
    caller = Caller(run.http, run.admin("POST", "/v1/keys", soon).json()["key"])
    assert caller("GET", ROOT).status_code == 200
    with monkeypatch.context() as patch:
        patch.setattr(keys, "now", lambda: now() + 3_600_000_000)
        assert caller("GET", ROOT).status_code == 401
    late = soon | {"expires": (at - timedelta(seconds=1)).isoformat()}
    far = soon | {"expires": "9999-12-31T23:59:59-14:00"}
    for body in (late, far):
        assert problem(run.admin("POST", "/v1/keys", body), 400, "request-invalid")["field"] == "expires"
    assert run.admin("GET", "/v1/keys").status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {"owner": "a b"},
        {"owner": ""},
        {"owner": "-x"},
        {"owner": "x" * 65},
        {"owner": "a/b"},
        {"owner": "a\n"},
        {"scopes": []},
        {"scopes": ["root"]},
        {"name": "a\0b"},
        {"name": "x" * 101},
        {"expires": "soon"},
        {"secret": "x"},
    ],
    ids=str,
)
def test_invalid_key_request_is_refused(run: Running, more: dict[str, Any]) -> None:
    refused = run.admin("POST", "/v1/keys", {"owner": "x", "scopes": ["publish"]} | more)
    problem(refused, 400, "request-invalid")


def test_keys_are_listed_in_pages(run: Running) -> None:
    made = sorted(run.key("paged", "publish").split("_")[1] for _ in range(5))
    found, cursor = [], None
    while True:
        params = {"of": "paged", "limit": 2} | ({"cursor": cursor} if cursor else {})
        page = run.admin("GET", "/v1/keys", params=params).json()
        found += [one["id"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == made


def test_quotas_of_an_owner_are_read_and_set(run: Running) -> None:
    caller = run.caller("small")
    default = run.admin("GET", "/v1/owners/small").json()
    assert (default["quotas"]["subscriptions"], default["given"]) == (1_000_000, {})
    put = run.admin("PUT", "/v1/owners/small", {"subscriptions": 2, "predicates": 5})
    assert put.json()["given"] == {"subscriptions": 2, "predicates": 5}
    for number, status in ((1, 201), (2, 201), (3, 403)):
        assert caller("POST", ROOT, {"expression": f"a = {number}"}).status_code == status
    refused = problem(caller("POST", ROOT, {"expression": "a = 4"}), 403, "quota-exceeded")
    assert (refused["quota"], refused["limit"]) == ("subscriptions", 2)
    held = run.admin("GET", "/v1/owners/small").json()["held"]
    assert held == {"subscriptions": 2, "predicates": 2}
    (name, _) = (item["id"] for item in caller("GET", ROOT).json()["items"])
    large = problem(
        caller("PATCH", f"{ROOT}/{name}", {"expression": "a IN (1,2,3,4,5)"}), 403, "quota-exceeded"
    )
    assert (large["quota"], large["size"]) == ("predicates", 5)
    assert caller("PATCH", f"{ROOT}/{name}", {"expression": "a IN (1,2,3,4)"}).status_code == 200
    assert run.admin("PUT", "/v1/owners/small", {}).json()["quotas"] == default["quotas"]
    assert caller("POST", ROOT, {"expression": "a = 4"}).status_code == 201
    for bad in ({"subscriptions": -1}, {"requests": 0}, {"horses": 1}, {"events": "many"}):
        problem(run.admin("PUT", "/v1/owners/small", bad), 400, "request-invalid")
    problem(run.admin("GET", "/v1/owners/a%20b"), 400, "request-invalid")


def test_requests_beyond_the_rate_are_refused(run: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(run.service, "requests", TokenBuckets(lambda: clock[0]))
    caller, other = run.caller("quick"), run.caller("calm")
    run.admin("PUT", "/v1/owners/quick", {"requests": 5})
    answers = [caller("GET", ROOT) for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 7
    assert problem(refused[0], 429, "rate-exceeded")["limit"] == "requests"
    assert refused[0].headers["retry-after"] == "1"
    assert other("GET", ROOT).status_code == 200
    clock[0] = 0.19
    assert caller("GET", ROOT).status_code == 429
    clock[0] = 0.21
    assert caller("GET", ROOT).status_code == 200


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the service's pauses; only they advance the clock of its token buckets."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(rate_limits, "asyncio", SimpleNamespace(sleep=sleep))
    return pauses


def test_events_beyond_the_rate_are_slowed_down(
    run: Running, monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    monkeypatch.setattr(run.service, "events", TokenBuckets(lambda: sum(slept)))
    caller = run.caller("loud")
    run.admin("PUT", "/v1/owners/loud", {"events": 50})
    text = '{"attributes": {"a": 1}}\n' * 60
    assert caller.lines("/v1/events", text).status_code == 202  # accepted, at the expense of the next lines
    refused = problem(caller("POST", "/v1/events", {"attributes": {"a": 1}}), 429, "rate-exceeded")
    assert refused["limit"] == "events"
    assert (
        caller.lines("/v1/events", '{"attributes": {"a": 1}}\n').status_code == 202
    )  # slowed down, not refused
    assert slept == [pytest.approx(0.22)]


def test_imports_beyond_the_rate_are_slowed_down(
    run: Running, monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    monkeypatch.setattr(run.service, "changes", TokenBuckets(lambda: sum(slept)))
    caller = run.caller("eager")
    run.admin("PUT", "/v1/owners/eager", {"changes": 50})
    text = '{"expression": "a = 1"}\n'
    assert caller.lines(f"{ROOT}/import", text * 60).status_code == 200
    assert slept == []
    assert caller.lines(f"{ROOT}/import", text).status_code == 200
    assert slept == [pytest.approx(0.22)]  # ten lines too many, and this one, at fifty a second


def test_token_bucket_refills_up_to_its_rate() -> None:
    clock = [0.0]
    bucket = TokenBucket(10, lambda: clock[0])
    for _ in range(10):
        assert bucket.wait() == 0
        bucket.take()
    assert bucket.wait() == pytest.approx(0.1)
    clock[0] = 0.1
    assert bucket.wait() == 0
    bucket.take(21)
    assert bucket.wait() == pytest.approx(2.1)
    clock[0] = 1e9
    assert [bucket.wait(), bucket.take(10), bucket.wait()] == [0, None, pytest.approx(0.1)]


def test_token_bucket_with_rate_one_waits_a_second(run: Running) -> None:
    clock = [0.0]
    bucket = TokenBucket(1, lambda: clock[0])
    bucket.take()
    assert bucket.wait() == pytest.approx(1.0)
    clock[0] = 1.0
    assert bucket.wait() == 0


def test_quarantine_is_listed_in_pages(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(page_items=2)) as run:
        run.caller("ann").lines("/v1/events", "x\ny\nz\n")
        first = run.admin("GET", "/v1/quarantine?limit=99").json()
        assert [one["text"] for one in first["items"]] == ["z", "y"]
        second = run.admin("GET", "/v1/quarantine", params={"cursor": first["next"]}).json()
        assert ([one["text"] for one in second["items"]], second["next"]) == (["x"], None)
        assert second["items"][0]["code"] == "event-syntax"
