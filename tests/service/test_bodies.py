"""Duplicate names in JSON are refused everywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.service import Caller, Running, problem

ROOT = "/v1/subscriptions"
HEADERS = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "text", "name"),
    [
        ("POST", ROOT, '{"expression": "q = 1", "expression": "q = 2"}', "expression"),
        ("POST", ROOT, '{"expression": "q = 1", "expressio\\u006e": "q = 1"}', "expression"),
        ("PUT", f"{ROOT}/s", '{"expression": "q = 1", "priority": 1, "priority": 1}', "priority"),
        ("PATCH", f"{ROOT}/s", '{"status": "paused", "status": "active"}', "status"),
        (
            "POST",
            ROOT,
            '{"expression": "q = 1", "delivery": {"transport": "log", "transport": "log"}}',
            "transport",
        ),
        ("POST", ROOT, '{"expression": {"op": "=", "op": "<", "attribute": "q", "value": 1}}', "op"),
        ("POST", f"{ROOT}/validate", '{"expression": "q = 1", "event": {"q": 1, "q": 2}}', "q"),
        (
            "POST",
            f"{ROOT}/validate",
            '{"expression": "q = 1", "event": {"q": {"a": [{"b": 1, "b": 1}]}}}',
            "b",
        ),
    ],
    ids=lambda one: str(one)[:60],
)
def test_duplicate_name_is_refused(
    run: Running, ann: Caller, method: str, path: str, text: str, name: str
) -> None:
    ann("PUT", f"{ROOT}/s", {"expression": "q = 9"})
    before = ann("GET", ROOT).json()
    found = problem(ann(method, path, content=text, headers=HEADERS), 400, "request-invalid")
    assert found["detail"] == f"the key {name!r} stands twice in one object"
    assert ann("GET", ROOT).json() == before


@pytest.mark.parametrize(
    "text",
    [
        '{"event": {"attributes": {"q": 1}}, "event": {"attributes": {"q": 2}}}',
        '{"event": {"attributes": {"q": 1}, "attributes": {"q": 1}}}',
        '{"event": {"attributes": {"q": 1}, "weights": {"q": 1, "q": 2}}}',
        '{"event": {"weights": {"q": 1, "q": 1}, "attributes": {"q": 1, "q": 1}}}',
        '{"event": {"attributes": {"q": {"a": 1, "a": 1}}}}',
    ],
)
def test_duplicate_name_in_a_match_request_is_refused(ann: Caller, text: str) -> None:
    found = problem(ann("POST", "/v1/match", content=text, headers=HEADERS), 400, "event-syntax")
    assert "stands twice" in found["detail"]


def test_duplicate_name_in_a_line_is_refused(ann: Caller) -> None:
    text = '{"id": "a", "expression": "q = 1", "id": "b"}\n{"id": "c", "expression": "q = 1"}'
    found = [json.loads(line) for line in ann.lines(f"{ROOT}/import", text).text.splitlines()]
    assert [line.get("status") for line in found[:-1]] == ["refused", "created"]
    assert (found[0]["code"], found[0]["message"]) == (
        "request-invalid",
        "the key 'id' stands twice in one object",
    )


def test_duplicate_name_in_keys_and_quotas_is_refused(run: Running) -> None:
    made = run.admin(
        "POST", "/v1/keys", content='{"owner": "a", "scopes": [], "owner": "b"}', headers=HEADERS
    )
    problem(made, 400, "request-invalid")
    text = '{"events": 1, "events": 2}'
    problem(run.admin("PUT", "/v1/owners/a", content=text, headers=HEADERS), 400, "request-invalid")


@pytest.mark.parametrize(
    "body",
    [
        {"expression": 'text = \'": 1, "expression": \''},
        {"expression": "q = 1", "event": {"q": {"q": [{"q": 1}, {"q": 1}]}}},
    ],
    ids=str,
)
def test_repeated_name_is_accepted_when_objects_differ(ann: Caller, body: Any) -> None:
    assert ann("POST", f"{ROOT}/validate", body).json()["valid"]
