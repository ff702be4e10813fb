"""Required scopes of every operation of the OpenAPI description; a refusal reveals nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tamis.service import access
from tamis.store.timestamps import now
from tests.service.letters import dead_letter
from tests.service.service import Running, file_url, problem, running

# The complete table: an operation that is missing here fails the first test.
SCOPES = {
    "POST /v1/subscriptions": "subscribe",
    "GET /v1/subscriptions": "subscribe",
    "GET /v1/subscriptions/{id}": "subscribe",
    "PUT /v1/subscriptions/{id}": "subscribe",
    "PATCH /v1/subscriptions/{id}": "subscribe",
    "DELETE /v1/subscriptions/{id}": "subscribe",
    "POST /v1/subscriptions/{id}/pause": "subscribe",
    "POST /v1/subscriptions/{id}/resume": "subscribe",
    "POST /v1/subscriptions/validate": "subscribe",
    "POST /v1/subscriptions/import": "subscribe",
    "GET /v1/subscriptions/export": "subscribe",
    "GET /v1/subscriptions/{id}/notifications": "subscribe",
    "POST /v1/subscriptions/{id}/notifications/{number}/replay": "subscribe",
    "GET /v1/dead-letters": "subscribe",
    "POST /v1/dead-letters/{number}/retry": "subscribe",
    "POST /v1/dead-letters/retry": "subscribe",
    "POST /v1/events": "publish",
    "POST /v1/match": "subscribe",
    "GET /v1/stream": "subscribe",
    "GET /v1/status": "subscribe",
    "POST /v1/keys": "admin",
    "GET /v1/keys": "admin",
    "DELETE /v1/keys/{id}": "admin",
    "GET /v1/owners/{owner}": "admin",
    "PUT /v1/owners/{owner}": "admin",
    "GET /v1/quarantine": "admin",
    "GET /metrics": "admin",
    "GET /healthz": None,
    "GET /readyz": None,
}
BODIES: dict[str, Any] = {
    "POST /v1/subscriptions": {"expression": "a = 1"},
    "PUT /v1/subscriptions/{id}": {"expression": "a = 1"},
    "PATCH /v1/subscriptions/{id}": {"priority": 1},
    "POST /v1/subscriptions/validate": {"expression": "a = 1"},
    "POST /v1/subscriptions/import": '{"expression": "a = 1"}\n',
    "POST /v1/events": {"attributes": {"a": 1}},
    "POST /v1/match": {"event": {"attributes": {"a": 1}}},
    "POST /v1/keys": {"owner": "ann", "scopes": ["publish"]},
    "PUT /v1/owners/{owner}": {},
}
GUARDED = sorted(name for name, scope in SCOPES.items() if scope is not None)
OWNED = sorted(name for name in SCOPES if ("{id}" in name and "/keys/" not in name) or "{number}" in name)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(file_url(tmp_path_factory.mktemp("access"))) as started:
        yield started


def send(http: httpx.Client, name: str, headers: dict[str, str], **parts: str) -> httpx.Response:
    """Send the operation with a body that it accepts; of a stream, read the first bytes."""
    method, path = name.split()
    path = path.format(**{"id": "s", "number": "1", "owner": "ann", **parts})
    body = BODIES.get(name)
    more: dict[str, Any] = {} if body is None else {"json": body}
    if isinstance(body, str):
        more, headers = {"content": body}, headers | {"content-type": "application/x-ndjson"}
    with http.stream(method, path, headers=headers, **more) as response:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.read()
        return response


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_every_operation_is_in_the_table(served: Running) -> None:
    paths = served.http.get("/openapi.json").json()["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert described == set(SCOPES)


@pytest.mark.parametrize("name", GUARDED)
def test_request_without_a_valid_key_is_refused(served: Running, name: str) -> None:
    good = served.key("ann", "publish", "subscribe", "admin")
    wrong = good[:-1] + ("0" if good[-1] != "0" else "1")
    revoked = served.key("ann", "publish", "subscribe", "admin")
    served.admin("DELETE", f"/v1/keys/{revoked.split('_')[1]}")
    late = served.key("ann", "publish", "subscribe", "admin", expires=now() - 1)
    answers = set()
    for headers in (
        {},
        {"authorization": good},
        {"authorization": f"Basic {good}"},
        {"authorization": "Bearer"},
        bearer("tamis_x_y"),
        bearer(f"tamis_{'0' * 16}_{'0' * 64}"),
        bearer(wrong),
        bearer(revoked),
        bearer(late),
    ):
        refused = send(served.http, name, headers)
        problem(refused, 401, "key-invalid")
        assert refused.headers["www-authenticate"].startswith("Bearer")
        answers.add(refused.content)
    assert len(answers) == 1  # all refusals are identical


@pytest.mark.parametrize("name", GUARDED)
def test_operation_needs_its_scope(served: Running, name: str) -> None:
    for scopes in (["publish"], ["subscribe"], ["admin"], ["publish", "subscribe"]):
        answer = send(served.http, name, bearer(served.key("zoe", *scopes)))
        if SCOPES[name] in scopes or "admin" in scopes:
            assert answer.status_code in (200, 201, 202, 204, 404), answer.text
        else:
            assert problem(answer, 403, "scope-missing")["scope"] == SCOPES[name]


@pytest.mark.parametrize("name", sorted(set(GUARDED) - {"GET /metrics"}))
def test_only_an_administrator_acts_for_another_owner(served: Running, name: str) -> None:
    method, path = name.split()
    described = served.http.get("/openapi.json").json()["paths"][path][method.lower()]
    takes_owner = any(one["name"] == "owner" and one["in"] == "query" for one in described["parameters"])
    if SCOPES[name] == "admin":
        assert not takes_owner
        return
    assert takes_owner
    key = served.key("bob", "publish", "subscribe")
    for owner in ("ann", "nobody-at-all"):
        refused = send_to(served.http, name, bearer(key), f"?owner={owner}")
        assert problem(refused, 403, "scope-missing")["scope"] == "admin"
    assert send_to(served.http, name, bearer(key), "?owner=bob").status_code != 403
    assert send_to(served.http, name, served.admin.headers, "?owner=bob").status_code != 403


def send_to(http: httpx.Client, name: str, headers: dict[str, str], query: str) -> httpx.Response:
    method, path = name.split()
    BODIES.setdefault(f"{method} {path}{query}", BODIES.get(name))
    return send(http, f"{method} {path}{query}", headers)


# -- resources of other owners -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(OWNED) - {"PUT /v1/subscriptions/{id}"}))
def test_resource_of_another_owner_is_not_found(served: Running, name: str) -> None:
    ann, bob = served.caller("ann"), served.caller("bob")
    number = dead_letter(served, ann, "ann", "hers")
    theirs = send(served.http, name, bob.headers, id="hers", number=str(number))
    nothing = send(served.http, name, bob.headers, id="none", number="999999")
    assert theirs.status_code == nothing.status_code == 404
    assert same(theirs, "hers", number) == same(nothing, "none", 999999)
    assert ann("GET", "/v1/subscriptions/hers").status_code == 200
    letters = ann("GET", "/v1/dead-letters").json()["items"]
    assert number in [letter["number"] for letter in letters]


def same(response: httpx.Response, name: str, number: int) -> str:
    return re.sub(rf"\b({name}|{number})\b", "X", response.text)


def test_matches_and_counts_exclude_other_owners(served: Running) -> None:
    ann, bob = served.caller("ann"), served.caller("bob")
    ann("PUT", "/v1/subscriptions/private", {"expression": "secret_attribute = 1"})
    bob("PUT", "/v1/subscriptions/mine", {"expression": "secret_attribute = 1"})
    event = {"event": {"attributes": {"secret_attribute": 1}}}
    assert [match["id"] for match in bob("POST", "/v1/match", event).json()["matches"]] == ["mine"]
    assert bob("POST", "/v1/match", event | {"k": 9}).json()["total"] == 1
    problem(bob("POST", "/v1/match", event | {"subscription": "private"}), 404, "subscription-unknown")
    for path in (
        "/v1/subscriptions?text=secret",
        "/v1/subscriptions/export",
        "/v1/dead-letters",
        "/v1/status",
    ):
        assert "private" not in bob("GET", path).text
        assert "ann" not in bob("GET", path).text
    status = bob("GET", "/v1/status").json()
    assert (status["index"], status["rates"]) == (None, [])
    assert status["owner"]["held"]["subscriptions"] == len(bob("GET", "/v1/subscriptions").json()["items"])
    published = bob("POST", "/v1/events", {"attributes": {"secret_attribute": 1}})
    assert set(published.json()) == {"id", "status"}


def test_put_creates_under_the_callers_owner(served: Running) -> None:
    ann, bob = served.caller("ann"), served.caller("bob")
    ann("PUT", "/v1/subscriptions/both", {"expression": "a = 1"})
    assert bob("PUT", "/v1/subscriptions/both", {"expression": "b = 1"}).status_code == 201
    assert ann("GET", "/v1/subscriptions/both").json()["expression"] == "a = 1"


def test_administrator_acts_for_another_owner(served: Running) -> None:
    made = served.admin("POST", "/v1/subscriptions?owner=cid", {"id": "s", "expression": "a = 1"})
    assert (made.json()["owner"], made.headers["location"]) == ("cid", "/v1/subscriptions/s?owner=cid")
    assert served.caller("cid")("GET", "/v1/subscriptions/s").json() == made.json()
    everybody = served.admin("GET", "/v1/subscriptions?owner=*&limit=1000").json()["items"]
    assert ("cid", "s") in [(item["owner"], item["id"]) for item in everybody]
    problem(served.caller("cid")("GET", "/v1/subscriptions?owner=*"), 403, "scope-missing")
    problem(served.admin("GET", "/v1/subscriptions/s?owner=a%20b"), 400, "request-invalid")


def test_key_revoked_by_another_process_is_refused_after_a_second(
    served: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [time.monotonic()]
    monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda: moment[0]))
    caller = served.caller("dan")
    assert caller("GET", "/v1/subscriptions").status_code == 200
    with served.store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE keys SET revoked = 1 WHERE owner = 'dan'")
    moment[0] += 0.9
    assert caller("GET", "/v1/subscriptions").status_code == 200
    moment[0] += 0.2
    assert caller("GET", "/v1/subscriptions").status_code == 401


def test_export_with_secrets_is_for_administrators(served: Running) -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    delivery = {"transport": "webhook", "url": "https://example.org/", "secret": secret}
    eve = served.caller("eve")
    eve("PUT", "/v1/subscriptions/s", {"expression": "a = 1", "delivery": delivery})
    problem(eve("GET", "/v1/subscriptions/export?secrets=true"), 403, "scope-missing")
    assert secret in served.admin("GET", "/v1/subscriptions/export?secrets=true&owner=eve").text
