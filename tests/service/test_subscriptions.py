"""Single subscriptions are created, read, changed, listed and removed; concurrent changes lose nothing."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.service.service import Caller, Running, problem
from tests.waiting import eventually

ROOT = "/v1/subscriptions"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HOOK = {"transport": "webhook", "url": "https://example.org/hook", "secret": SECRET}


def test_created_subscription_is_read(ann: Caller) -> None:
    body = {
        "id": "s1",
        "expression": "price < 5",
        "priority": 2.5,
        "schedule": "every five minutes",
        "delivery": HOOK,
    }
    made = ann("POST", ROOT, body)
    assert made.status_code == 201
    found = made.json()
    assert (found["id"], found["expression"], found["priority"]) == ("s1", "price < 5", 2.5)
    assert (found["schedule"], found["status"], found["cost"]) == ("every 5 minutes", "active", 1)
    assert made.headers["etag"] == f'"{found["version"]}"'
    assert made.headers["location"] == f"{ROOT}/s1"
    read = ann("GET", made.headers["location"])
    assert (read.status_code, read.json(), read.headers["etag"]) == (200, found, made.headers["etag"])


def test_subscription_gets_an_id_when_none_is_given(ann: Caller) -> None:
    first, second = (ann("POST", ROOT, {"expression": "a = 1"}).json()["id"] for _ in range(2))
    assert first < second
    assert ann("GET", f"{ROOT}/{second}").status_code == 200


def test_existing_id_is_refused(ann: Caller, bob: Caller) -> None:
    assert ann("POST", ROOT, {"id": "s", "expression": "a = 1"}).status_code == 201
    refused = problem(ann("POST", ROOT, {"id": "s", "expression": "a = 2"}), 409, "subscription-duplicate")
    assert refused["subscription"] == "s"
    assert bob("POST", ROOT, {"id": "s", "expression": "a = 2"}).status_code == 201
    assert ann("GET", f"{ROOT}/s").json()["expression"] == "a = 1"


FORMS = [
    ({"expression": "price < 5 AND NOT city = 'Oslo'"}, "price < 5 AND NOT city = 'Oslo'"),
    ({"expression": "price < 5", "form": "text"}, "price < 5"),
    ({"expression": {"op": "<", "attribute": "price", "value": 5}}, None),
    ({"expression": "price=5&city=Oslo", "form": "query-string"}, "price = 5 AND city = 'Oslo'"),
    ({"expression": '{"price": [{"numeric": ["<", 5]}]}', "form": "eventbridge"}, "price < 5"),
    ({"expression": {"city": ["Oslo", "Rome"]}, "form": "eventbridge"}, "city IN ('Oslo', 'Rome')"),
    ({"expression": "title:wool -city:Oslo", "form": "lucene"}, "title HAS 'wool' AND NOT city HAS 'oslo'"),
    ({"expression": "wool coat", "form": "search-box"}, None),
]


@pytest.mark.parametrize(("body", "text"), FORMS, ids=lambda one: str(one)[:40])
def test_every_form_of_expression_is_accepted(ann: Caller, body: dict[str, Any], text: str | None) -> None:
    if isinstance(body["expression"], dict) and "form" not in body:
        tree = ann("POST", f"{ROOT}/validate", {"expression": "price < 5"}).json()["tree"]
        body, text = {"expression": tree}, "price < 5"
    made = ann("POST", ROOT, body)
    assert made.status_code == 201, made.text
    found = made.json()["expression"]
    assert text is None or found == text
    assert ann("POST", f"{ROOT}/validate", {"expression": found}).json()["valid"]


def test_list_counts_each_of_its_values(ann: Caller) -> None:
    made = ann("POST", ROOT, {"expression": "a IN (1, 2, 3) AND b = 1"}).json()
    assert made["cost"] == 4


BAD = [
    ({"expression": "price <"}, 422, "expression-syntax", {"position": 7}),
    ({"expression": "a BETWEEN 1 AND 'x'"}, 422, "expression-type", {}),
    ({"expression": "a RLIKE '('"}, 422, "expression-pattern", {}),
    (
        {"expression": "a = 1 OR " * 600 + "a = 2"},
        422,
        "expression-limit",
        {"limit": "expression_predicates"},
    ),
    ({"expression": "a = '" + "x" * 20_000 + "'"}, 422, "expression-limit", {"limit": "expression_bytes"}),
    ({"expression": "a = 1", "schedule": "now and then"}, 422, "schedule-invalid", {}),
    ({"expression": "a = 1", "delivery": {"transport": "pigeon"}}, 422, "delivery-invalid", {}),
    ({"expression": "a = 1", "delivery": {}}, 422, "delivery-invalid", {}),
    ({"expression": "a = 1", "delivery": HOOK | {"secret": "…"}}, 422, "delivery-invalid", {}),
    ({"expression": "a = 1", "id": "a b"}, 400, "request-invalid", {"field": "id"}),
    ({"expression": "a = 1", "id": "a/b"}, 400, "request-invalid", {"field": "id"}),
    ({"expression": "a = 1", "id": "x\n"}, 400, "request-invalid", {"field": "id"}),
    ({"expression": "a = 1", "id": ""}, 400, "request-invalid", {"field": "id"}),
    ({"expression": "a = 1", "id": "x" * 129}, 400, "request-invalid", {"field": "id"}),
    ({"expression": "a = 1", "id": "export"}, 400, "request-invalid", {"field": "id"}),
    ({"expression": "a = 1", "colour": 1}, 400, "request-invalid", {"field": "colour"}),
    ({"expression": "a = 1", "status": "asleep"}, 400, "request-invalid", {"field": "status"}),
    ({"expression": "a = 1", "priority": "high"}, 400, "request-invalid", {"field": "priority"}),
    ({"expression": "a = 1", "form": "sql"}, 400, "request-invalid", {"field": "form"}),
    ({"expression": 17}, 400, "request-invalid", {"field": "expression"}),
    ({"id": "s"}, 400, "request-invalid", {"field": "expression"}),
    ([], 400, "request-invalid", {}),
]


@pytest.mark.parametrize(("body", "status", "code", "more"), BAD, ids=lambda one: str(one)[:50])
def test_invalid_subscription_is_refused(
    ann: Caller, body: Any, status: int, code: str, more: dict[str, Any]
) -> None:
    found = problem(ann("POST", ROOT, body), status, code)
    assert found.items() >= more.items(), found
    assert ann("GET", ROOT).json()["items"] == []


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"expression": "a = 1"} x',
        b'{"expression": "\xff"}',
        b'{"expression": "\\ud800"}',
        b"[" * 9999,
    ],
)
def test_body_that_is_not_json_is_refused(ann: Caller, text: bytes) -> None:
    headers = {"content-type": "application/json"}
    problem(ann("POST", ROOT, content=text, headers=headers), 400, "request-invalid")


def test_replace_creates_or_replaces(ann: Caller) -> None:
    made = ann("PUT", f"{ROOT}/s", {"expression": "a = 1"})
    assert (made.status_code, made.headers["location"]) == (201, f"{ROOT}/s")
    same = ann("PUT", f"{ROOT}/s", {"expression": "a = 1"})
    assert (same.status_code, same.headers["etag"]) == (200, made.headers["etag"])
    other = ann("PUT", f"{ROOT}/s", {"expression": "a = 2", "priority": 1})
    assert (other.status_code, other.json()["priority"]) == (200, 1.0)
    assert other.json()["version"] > made.json()["version"]
    assert other.json()["created"] == made.json()["created"]
    problem(ann("PUT", f"{ROOT}/import", {"expression": "a = 1"}), 405, "method-unknown")
    problem(ann("PUT", f"{ROOT}/a b", {"expression": "a = 1"}), 400, "request-invalid")


def test_patch_keeps_fields_that_are_not_named(ann: Caller) -> None:
    ann(
        "PUT", f"{ROOT}/s", {"expression": "a = 1", "schedule": "daily at 9", "priority": 2, "delivery": HOOK}
    )
    headers = {"content-type": "application/merge-patch+json"}
    changed = ann("PATCH", f"{ROOT}/s", {"priority": 3, "schedule": None}, headers=headers).json()
    assert (changed["expression"], changed["priority"], changed["schedule"]) == ("a = 1", 3.0, None)
    assert changed["delivery"] == HOOK | {"secret": "…"}
    assert (
        ann("PATCH", f"{ROOT}/s", {"expression": "b=1", "form": "query-string"}).json()["expression"]
        == "b = 1"
    )
    assert ann("PATCH", f"{ROOT}/s", {"delivery": None}).json()["delivery"] is None
    assert ann("PATCH", f"{ROOT}/s", {"status": "paused"}).json()["status"] == "paused"
    problem(ann("PATCH", f"{ROOT}/s", {"form": "text"}), 400, "request-invalid")
    problem(ann("PATCH", f"{ROOT}/s", {"expression": None}), 400, "request-invalid")
    problem(ann("PATCH", f"{ROOT}/s", {"id": "t"}), 400, "request-invalid")
    problem(ann("PATCH", f"{ROOT}/nobody", {"priority": 1}), 404, "subscription-unknown")


def test_delivery_is_merged_and_its_secret_is_never_shown(run: Running, ann: Caller) -> None:
    made = ann("POST", ROOT, {"id": "s", "expression": "a = 1", "delivery": HOOK})
    owner = made.json()["owner"]
    assert SECRET not in made.text
    shown = made.json()["delivery"]
    ann("PATCH", f"{ROOT}/s", {"delivery": {"url": "https://example.org/other"}})
    ann("PUT", f"{ROOT}/s", {"expression": "a = 2", "delivery": shown | {"url": "https://example.org/third"}})
    held = run.store.get(f"{owner}/s")
    assert held is not None
    assert held.delivery is not None
    assert SECRET in held.delivery
    assert "third" in held.delivery
    for path in (f"{ROOT}/s", ROOT, f"{ROOT}/export"):
        assert SECRET not in ann("GET", path).text
    assert ann("PATCH", f"{ROOT}/s", {"delivery": {"secret": None}}).json()["delivery"].get("secret") is None
    problem(ann("PUT", f"{ROOT}/s", {"expression": "a = 2", "delivery": shown}), 422, "delivery-invalid")


def test_deleted_subscription_is_gone(ann: Caller) -> None:
    ann("PUT", f"{ROOT}/s", {"expression": "a = 1"})
    gone = ann("DELETE", f"{ROOT}/s")
    assert (gone.status_code, gone.content) == (204, b"")
    problem(ann("GET", f"{ROOT}/s"), 404, "subscription-unknown")
    problem(ann("DELETE", f"{ROOT}/s"), 404, "subscription-unknown")


def test_paused_subscription_matches_again_when_resumed(run: Running, ann: Caller) -> None:
    owner = ann("PUT", f"{ROOT}/s", {"expression": "a = 1"}).json()["owner"]
    event = {"event": {"attributes": {"a": 1}}}
    assert ann("POST", "/v1/match", event).json()["total"] == 1
    paused = ann("POST", f"{ROOT}/s/pause")
    assert (paused.status_code, paused.json()["status"]) == (200, "paused")
    assert ann("POST", f"{ROOT}/s/pause").headers["etag"] == paused.headers["etag"]
    assert ann("POST", "/v1/match", event).json()["total"] == 0
    why = ann("POST", "/v1/match", event | {"subscription": "s"}).json()["matches"][0]
    assert (why["status"], why["matched"]) == ("paused", True)
    assert ann("POST", f"{ROOT}/s/resume").json()["status"] == "active"
    assert eventually(lambda: f"{owner}/s" in run.live.index)
    assert ann("POST", "/v1/match", event).json()["total"] == 1
    problem(ann("POST", f"{ROOT}/nobody/pause"), 404, "subscription-unknown")


# -- versions ----------------------------------------------------------------------------------------------


def test_conditional_requests_follow_the_version(ann: Caller) -> None:
    made = ann("PUT", f"{ROOT}/s", {"expression": "a = 1"}, headers={"if-none-match": "*"})
    assert made.status_code == 201
    tag = made.headers["etag"]
    again = ann("PUT", f"{ROOT}/s", {"expression": "a = 2"}, headers={"if-none-match": "*"})
    problem(again, 412, "version-conflict")
    assert ann("GET", f"{ROOT}/s", headers={"if-none-match": tag}).status_code == 304
    assert ann("GET", f"{ROOT}/s", headers={"if-none-match": f'"0", W/{tag}'}).status_code == 304
    assert ann("GET", f"{ROOT}/s", headers={"if-none-match": '"0"'}).status_code == 200
    changed = ann("PATCH", f"{ROOT}/s", {"priority": 1}, headers={"if-match": f'"0", {tag}'})
    assert changed.status_code == 200
    for method, path, body in (
        ("PUT", f"{ROOT}/s", {"expression": "a = 3"}),
        ("PATCH", f"{ROOT}/s", {"priority": 9}),
        ("DELETE", f"{ROOT}/s", None),
        ("POST", f"{ROOT}/s/pause", None),
        ("POST", f"{ROOT}/s/resume", None),
    ):
        problem(ann(method, path, body, headers={"if-match": tag}), 412, "version-conflict")
        problem(
            ann(method, path, body, headers={"if-match": f"W/{changed.headers['etag']}"}),
            412,
            "version-conflict",
        )
    problem(
        ann("PUT", f"{ROOT}/t", {"expression": "a = 3"}, headers={"if-match": "*"}), 412, "version-conflict"
    )
    assert ann("DELETE", f"{ROOT}/s", headers={"if-match": "*"}).status_code == 204


@pytest.mark.parametrize("tag", ["17", '"17', "*, *", 'x"1"', ","])
def test_invalid_entity_tag_is_refused(ann: Caller, tag: str) -> None:
    refused = ann("PUT", f"{ROOT}/s", {"expression": "a = 1"}, headers={"if-match": tag})
    assert problem(refused, 400, "request-invalid")["header"] == "if-match"


def test_one_of_many_conditional_changes_succeeds(run: Running, ann: Caller) -> None:
    tag = ann("PUT", f"{ROOT}/s", {"expression": "a = 0"}).headers["etag"]
    found: list[int] = []

    def change(number: int) -> None:
        body = {"expression": f"a = {number}"}
        found.append(ann("PUT", f"{ROOT}/s", body, headers={"if-match": tag}).status_code)

    together = [threading.Thread(target=change, args=(number,)) for number in range(1, 9)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert sorted(found) == [200] + [412] * 7


def test_unconditional_changes_all_succeed(ann: Caller) -> None:
    ann("PUT", f"{ROOT}/s", {"expression": "a = 0"})
    found: list[int] = []

    def change(number: int) -> None:
        found.append(ann("PATCH", f"{ROOT}/s", {"priority": number}).status_code)

    together = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert found == [200] * 8


# -- idempotency -------------------------------------------------------------------------------------------


def test_repeated_request_gets_the_stored_response(ann: Caller) -> None:
    headers = {"idempotency-key": "k1"}
    first = ann("POST", ROOT, {"expression": "a = 1"}, headers=headers)
    second = ann("POST", ROOT, {"expression": "a = 1"}, headers=headers)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["etag"] == first.headers["etag"]
    assert second.headers["location"] == first.headers["location"]
    assert (first.headers.get("idempotency-replayed"), second.headers["idempotency-replayed"]) == (
        None,
        "true",
    )
    assert len(ann("GET", ROOT).json()["items"]) == 1
    ann("DELETE", first.headers["location"])
    assert ann("POST", ROOT, {"expression": "a = 1"}, headers=headers).content == first.content
    assert ann("GET", ROOT).json()["items"] == []


def test_idempotency_key_of_another_request_is_refused(ann: Caller, bob: Caller) -> None:
    headers = {"idempotency-key": "k2"}
    assert ann("POST", ROOT, {"expression": "a = 1"}, headers=headers).status_code == 201
    problem(ann("POST", ROOT, {"expression": "a = 2"}, headers=headers), 422, "idempotency-conflict")
    assert bob("POST", ROOT, {"expression": "a = 2"}, headers=headers).status_code == 201


def test_refusal_is_not_stored_for_its_idempotency_key(ann: Caller) -> None:
    headers = {"idempotency-key": "k3"}
    ann("PUT", f"{ROOT}/s", {"expression": "a = 1"})
    body = {"id": "s", "expression": "a = 1"}
    problem(ann("POST", ROOT, body, headers=headers), 409, "subscription-duplicate")
    ann("DELETE", f"{ROOT}/s")
    assert ann("POST", ROOT, body, headers=headers).status_code == 201


def test_concurrent_repetitions_create_one_subscription(ann: Caller) -> None:
    found = []

    def make() -> None:
        found.append(
            ann("POST", ROOT, {"expression": "a = 1"}, headers={"idempotency-key": "k4"}).json()["id"]
        )

    together = [threading.Thread(target=make) for _ in range(8)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert len(set(found)) == 1
    assert len(ann("GET", ROOT).json()["items"]) == 1


# -- lists -------------------------------------------------------------------------------------------------


def test_subscriptions_are_listed_in_pages_and_filtered(ann: Caller, bob: Caller) -> None:
    for number in range(7):
        body = {"id": f"s{number}", "expression": f"city = 'Oslo' AND n = {number}"}
        ann("POST", ROOT, body | ({"status": "paused"} if number == 3 else {}))
    bob("POST", ROOT, {"expression": "city = 'Oslo'"})

    def names(**query: Any) -> list[str]:
        found, cursor = [], None
        while True:
            page = ann("GET", ROOT, params=query | ({"cursor": cursor} if cursor else {})).json()
            found += [item["id"] for item in page["items"]]
            cursor = page["next"]
            if cursor is None:
                return found

    everything = [f"s{number}" for number in range(7)]
    assert names(limit=2) == names(limit=7) == names() == names(limit=1_000_000) == everything
    assert names(status="paused") == ["s3"]
    assert names(text="N = 5") == ["s5"]
    assert names(text="s6", status="active", limit=1) == ["s6"]
    assert names(text="100%") == []
    assert names(text="ann") == []  # this text is the owner's name, not a subscription's


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": "many"},
        {"cursor": "%%%"},
        {"cursor": "AA"},
        {"status": "gone"},
        {"colour": 1},
        {"text": ""},
        {"limit": ["1", "2"]},
    ],
    ids=str,
)
def test_invalid_query_is_refused(ann: Caller, query: dict[str, Any]) -> None:
    assert problem(ann("GET", ROOT, params=query), 400, "request-invalid")["field"]
