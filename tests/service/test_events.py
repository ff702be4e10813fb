"""Events are stored before they are acknowledged, each once and decided alone; and their matches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tamis.store import listing
from tests.service.letters import numbers
from tests.service.service import Caller, Running, problem
from tests.waiting import eventually

PATH = "/v1/events"


def lines(response: Any) -> list[dict[str, Any]]:
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines()]


def kept(run: Running, caller: Caller) -> list[tuple[str, str]]:
    """Return the stored events of an owner."""
    owner = caller("GET", "/v1/status").json()["owner"]["owner"]
    with run.store.database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT event_id, text FROM events ORDER BY id").all()
    return [(name.partition("/")[2], text) for name, text in rows if name.startswith(f"{owner}/")]


def test_event_is_stored_and_matched(run: Running, ann: Caller, bob: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "price < 5"})
    bob("PUT", "/v1/subscriptions/t", {"expression": "price < 9"})
    body = {"id": "e1", "time": "2026-11-15T08:00:00+01:00", "attributes": {"price": 3}}
    made = ann("POST", PATH, body)
    assert (made.status_code, made.json()) == (202, {"id": "e1", "status": "accepted"})
    assert kept(run, ann) == [("e1", '{"price":3}')]
    eventually(lambda: numbers(ann, "s"))
    (told,) = eventually(lambda: bob("GET", "/v1/subscriptions/t/notifications").json()["items"])
    assert (told["state"], told["attempts"], told["kind"]) == ("kept", 0, "match")
    with run.store.database.reading() as connection:
        row = listing.rows_after(connection, told["number"] - 1, 1).items[0]
    assert row.event_time == 1_794_726_000_000_000


def test_repeated_id_is_a_duplicate_or_a_conflict(run: Running, ann: Caller, bob: Caller) -> None:
    body = {"id": "e", "attributes": {"a": 1}}
    assert ann("POST", PATH, body).json()["status"] == "accepted"
    again = ann("POST", PATH, body)
    assert (again.status_code, again.json()) == (202, {"id": "e", "status": "duplicate"})
    assert (
        problem(ann("POST", PATH, {"id": "e", "attributes": {"a": 2}}), 409, "event-conflict")["event"] == "e"
    )
    assert bob("POST", PATH, {"id": "e", "attributes": {"a": 2}}).json()["status"] == "accepted"
    assert len(kept(run, ann)) == 1


def test_idempotency_key_makes_a_repeated_event_a_duplicate(run: Running, ann: Caller) -> None:
    headers = {"idempotency-key": "once"}
    first, second = (ann("POST", PATH, {"attributes": {"a": 1}}, headers=headers).json() for _ in range(2))
    assert (first["status"], second) == ("accepted", {"id": first["id"], "status": "duplicate"})
    text = '{"attributes": {"b": 1}}\n{"attributes": {"b": 1}}\n'
    headers = {"idempotency-key": "many"}
    before, after = (lines(ann.lines(PATH, text, headers=headers)) for _ in range(2))
    assert [line["status"] for line in before[:2]] == ["accepted"] * 2
    assert [line["status"] for line in after[:2]] == ["duplicate"] * 2
    assert [line["id"] for line in before[:2]] == [line["id"] for line in after[:2]]
    assert len({line["id"] for line in before[:2]}) == 2
    for bad in ("", "é", "a\tb"):
        headers = {"idempotency-key": bad.encode("latin-1")}
        problem(ann("POST", PATH, {"attributes": {}}, headers=headers), 400, "request-invalid")


BAD = [
    ({}, 400, "request-invalid"),
    ({"attributes": [1]}, 400, "event-syntax"),
    ({"attributes": {"a": 1}, "colour": 2}, 400, "request-invalid"),
    ({"attributes": {"a": 1}, "id": "a/b"}, 400, "request-invalid"),
    ({"attributes": {"a": 1}, "time": "yesterday"}, 400, "request-invalid"),
    ({"attributes": {"a": 1}, "time": "2026-11-15T08:00:00"}, 400, "request-invalid"),
    ({"attributes": {"a": 1}, "time": "0001-01-01T00:00:00+14:00"}, 422, "event-value"),
    ({"attributes": {"a": 1}, "time": "9999-12-31T23:59:59-14:00"}, 422, "event-value"),
    ({"attributes": {"a": 2**63}}, 422, "event-value"),
    ({"attributes": {f"a{n}": n for n in range(1_025)}}, 422, "event-limit"),
]


@pytest.mark.parametrize(("body", "status", "code"), BAD, ids=lambda one: str(one)[:50])
def test_invalid_event_is_refused(run: Running, ann: Caller, body: Any, status: int, code: str) -> None:
    problem(ann("POST", PATH, body), status, code)
    assert kept(run, ann) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b'{"attributes": {"a": 1, "a": 2}}', "event-syntax"),
        (b'{"attributes": {"a": 1}, "attributes": {"a": 2}}', "event-syntax"),
        (b'{"attributes": {"a": 1}, "attributes": {"a": 1}}', "event-syntax"),
        (b'{"attributes": {}, "id": "{}", "id": "f"}', "event-syntax"),
        (b'{"attributes": {"a": tru}}', "event-syntax"),
        (b'{"attributes": {"a": "\xff"}}', "event-syntax"),
        (b"", "event-syntax"),
        (b'{"attributes": {"a": NaN}}', "event-value"),
        (b'{"attributes": {"a": -Infinity}}', "event-value"),
        (b'{"attributes": {"a": 1e999}}', "event-value"),
        (b'{"attributes": {"a": "\\ud800"}}', "event-value"),
        (b'{"attributes": {"a": ' + b"1" * 5_000 + b"}}", "event-value"),
        (b'{"attributes": 1, "id": "1", "id": "1"}', "event-syntax"),
    ],
)
def test_malformed_event_text_is_refused_with_the_same_code_everywhere(
    run: Running, ann: Caller, text: bytes, code: str
) -> None:
    """The code is the same for a single event, a line and a match request."""
    status = 422 if code == "event-value" else 400
    headers = {"content-type": "application/json"}
    why = problem(ann("POST", PATH, content=text, headers=headers), status, code)["detail"]
    if text:
        (line, _) = lines(ann.lines(PATH, text))
        assert (line["status"], line["code"], line["message"]) == ("refused", code, why)
        asked = b'{"event": ' + text + b"}"
        if b"id" not in text:
            problem(ann("POST", "/v1/match", content=asked, headers=headers), status, code)
    assert kept(run, ann) == []


def test_large_event_is_accepted_up_to_the_limit(run: Running, ann: Caller) -> None:
    assert ann("POST", PATH, {"attributes": {"text": "x" * 200_000}}).status_code == 202
    problem(ann("POST", PATH, {"attributes": {"text": "x" * 300_000}}), 422, "event-limit")


# -- lines -------------------------------------------------------------------------------------------------


def test_each_line_is_decided_alone(run: Running, ann: Caller) -> None:
    text = (
        '{"id": "l1", "attributes": {"a": 1}}\n'
        "\n"
        "rubbish\n"
        '{"id": "l1", "attributes": {"a": 1}}\r\n'
        '{"id": "l1", "attributes": {"a": 2}}\n'
        '{"attributes": {"a": 1, "a": 2}}\n'
        '{"id": "l2", "attributes": {"a": 3}}'
    )
    answer = ann.lines(PATH, text)
    assert answer.status_code == 202
    found = {line["line"]: line for line in lines(answer)[:-1]}
    assert {number: line["status"] for number, line in found.items()} == {
        1: "accepted",
        3: "refused",
        4: "duplicate",
        5: "conflict",
        6: "refused",
        7: "accepted",
    }
    assert list(found) == [1, 3, 4, 5, 6, 7]
    assert (found[3]["code"], found[6]["code"]) == ("event-syntax", "event-syntax")
    assert lines(answer)[-1] == {"summary": {"accepted": 2, "duplicate": 1, "conflict": 1, "refused": 2}}
    assert [name for name, _ in kept(run, ann)] == ["l1", "l2"]
    owner = ann("GET", "/v1/status").json()["owner"]["owner"]
    aside = run.admin("GET", "/v1/quarantine?limit=1000").json()["items"]
    mine = [one for one in aside if one["source"] == f"http {owner}"]
    assert sorted(one["text"] for one in mine) == ["rubbish", '{"attributes": {"a": 1, "a": 2}}']


def test_many_lines_are_accepted(run: Running, ann: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "n >= 4990 AND of = 'many'"})
    text = "".join(f'{{"id": "m{n}", "attributes": {{"n": {n}, "of": "many"}}}}\n' for n in range(5_000))
    answer = ann.lines(PATH, text)
    assert lines(answer)[-1] == {"summary": {"accepted": 5_000}}
    assert len(kept(run, ann)) == 5_000
    eventually(lambda: len(numbers(ann, "s")) == 10)
    assert lines(ann.lines(PATH, text))[-1] == {"summary": {"duplicate": 5_000}}


def test_request_without_lines_is_accepted(ann: Caller) -> None:
    assert lines(ann.lines(PATH, "\n\n")) == [{"summary": {}}]


def test_line_that_is_too_long_is_refused_alone(run: Running, ann: Caller) -> None:
    long = '{"attributes": {"t": "' + "x" * 600_000 + '"}}'
    found = lines(ann.lines(PATH, f'{{"attributes": {{}}}}\n{long}\n{{"attributes": {{}}}}\n{long}'))
    assert [line.get("status") for line in found[:-1]] == ["accepted", "refused", "accepted", "refused"]
    assert {line["line"]: line["code"] for line in found[1:4:2]} == {
        2: "request-too-large",
        4: "request-too-large",
    }


# -- matching ------------------------------------------------------------------------------------------------


def test_subscription_is_in_force_from_its_response_on(ann: Caller) -> None:
    """An event published after the 201 matches; an event published after the 204 does not."""
    for number in range(20):
        name = f"s{number}"
        ann("PUT", f"/v1/subscriptions/{name}", {"expression": f"turn = {number}"})
        ann("POST", PATH, {"id": f"in{number}", "attributes": {"turn": number}})
        if number % 2:
            ann("POST", f"/v1/subscriptions/{name}/pause")
        else:
            ann("DELETE", f"/v1/subscriptions/{name}")
        ann("POST", PATH, {"id": f"out{number}", "attributes": {"turn": number}})
    for number in range(20):
        path = f"/v1/subscriptions/s{number}/notifications"
        eventually(lambda path=path: ann("GET", path).json().get("items"))
    for number in range(20):
        told = ann("GET", f"/v1/subscriptions/s{number}/notifications").json()["items"]
        assert [one["event"]["id"] for one in told] == [f"in{number}"]


def test_match_returns_the_current_matches(ann: Caller) -> None:
    for number in range(5):
        body = {"expression": f"a >= {number} ^ {number + 1}", "priority": 0}
        assert ann("PUT", f"/v1/subscriptions/s{number}", body).status_code == 201
    event = {"attributes": {"a": 3}}
    found = ann("POST", "/v1/match", {"event": event}).json()
    assert ([match["id"] for match in found["matches"]], found["total"]) == (["s0", "s1", "s2", "s3"], 4)
    assert all(match["version"] > 0 for match in found["matches"])
    best = ann("POST", "/v1/match", {"event": event, "k": 2}).json()["matches"]
    assert [(match["id"], match["score"]) for match in best] == [("s3", 4.0), ("s2", 3.0)]
    weighted = {"event": event | {"weights": {"a": 0.5}}, "k": 1}
    assert ann("POST", "/v1/match", weighted).json()["matches"][0]["score"] == 2.0
    pages, cursor = [], None
    while True:
        page = ann("POST", "/v1/match", {"event": event, "limit": 3, "cursor": cursor}).json()
        pages.append([match["id"] for match in page["matches"]])
        cursor = page["next"]
        if cursor is None:
            break
    assert pages == [["s0", "s1", "s2"], ["s3"]]


def test_explain_reports_why_a_subscription_matches_or_not(ann: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "price < 5 AND city = 'Oslo'"})
    event = {"attributes": {"price": 3, "city": "Oslo"}}
    (match,) = ann("POST", "/v1/match", {"event": event, "explain": True}).json()["matches"]
    assert match["explanation"]["matched"]
    assert [child["text"] for child in match["explanation"]["children"]] == ["price < 5", "city = 'Oslo'"]
    question = {"event": {"attributes": {"price": 7, "city": "Oslo"}}, "subscription": "s"}
    (why,) = ann("POST", "/v1/match", question).json()["matches"]
    assert (why["matched"], why["status"]) == (False, "active")
    assert [child["matched"] for child in why["explanation"]["children"]] == [False, True]
    problem(ann("POST", "/v1/match", question | {"subscription": "none"}), 404, "subscription-unknown")
    problem(ann("POST", "/v1/match", question | {"subscription": "../s"}), 404, "subscription-unknown")


def test_match_returns_the_words_on_request(ann: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "title HAS 'coats' USING english AND price < 5"})
    ann("PUT", "/v1/subscriptions/t", {"expression": "price < 5"})
    event = {"attributes": {"title": ["x", "Wool <Coat>"], "price": 3}}
    question = {"event": event, "highlight": True}
    words, none = ann("POST", "/v1/match", question).json()["matches"]
    assert words["highlights"] == {
        "attributes": {"title": [{"value": 1, "start": 6, "end": 10, "term": "coat", "text": "Coat"}]},
        "snippets": [{"attribute": "title", "value": 1, "pieces": ["Wool <", "Coat", ">"]}],
        "more": False,
    }
    assert none["highlights"] == {"attributes": {}, "snippets": [], "more": False}
    assert "explanation" not in words
    assert [one["highlights"] for one in ann("POST", "/v1/match", question | {"k": 1}).json()["matches"]]
    (one,) = ann("POST", "/v1/match", question | {"subscription": "s"}).json()["matches"]
    assert one["highlights"] == words["highlights"]
    assert one["explanation"]["children"][0]["found"] == words["highlights"]["attributes"]["title"]
    event["attributes"]["price"] = 7
    (one,) = ann("POST", "/v1/match", question | {"subscription": "s"}).json()["matches"]
    assert (one["matched"], "highlights" in one) == (False, False)
    plain = ann("POST", "/v1/match", {"event": {"attributes": {"price": 3}}}).json()["matches"]
    assert all("highlights" not in match for match in plain)


def test_match_leaves_out_the_words_of_a_subscription_that_changed(
    run: Running, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "title HAS 'coat'"})
    page = run.live.match_page

    def changed(*given: Any) -> Any:
        found = page(*given)
        ann("PUT", "/v1/subscriptions/s", {"expression": "title HAS 'silk'"})
        return found

    monkeypatch.setattr(run.live, "match_page", changed)
    found = ann("POST", "/v1/match", {"event": {"attributes": {"title": "coat"}}, "highlight": True}).json()
    assert [(match["id"], "highlights" in match) for match in found["matches"]] == [("s", False)]


def test_match_refuses_an_invalid_event(ann: Caller) -> None:
    problem(ann("POST", "/v1/match", {"event": {"attributes": {"a": 2**64}}}), 422, "event-value")
    problem(ann("POST", "/v1/match", {"event": {"attributes": 1}}), 400, "event-syntax")
    problem(ann("POST", "/v1/match", {"event": {}}), 400, "request-invalid")
    problem(ann("POST", "/v1/match", {"event": {"attributes": {}}, "k": 0}), 400, "request-invalid")
    assert ann("POST", "/v1/match", {"event": {"attributes": {}}, "k": 1_000}).status_code == 200
    beyond = problem(
        ann("POST", "/v1/match", {"event": {"attributes": {}}, "k": 1_001}), 400, "request-invalid"
    )
    assert (beyond["field"], beyond["limit"]) == ("k", "page_items")


def test_match_stores_nothing(run: Running, ann: Caller) -> None:
    ann("PUT", "/v1/subscriptions/s", {"expression": "a = 1"})
    ann("POST", "/v1/match", {"event": {"attributes": {"a": 1}}})
    assert kept(run, ann) == []
    assert numbers(ann, "s") == set()
