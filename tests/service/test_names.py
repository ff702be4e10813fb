"""Invalid names are refused or unknown on either database, and never a server error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import KINDS, new_of_kind
from tests.service.service import Running, opened, problem, running
from tests.service.test_events import lines

ROOT, NUL = "/v1/subscriptions", "a%00b"
EVENT = {"attributes": {"a": 1}}


@pytest.fixture(scope="module", params=KINDS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a service on either kind of database."""
    with running(new_of_kind(request, tmp_path_factory.mktemp("names"))) as started:
        yield started


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{ROOT}/{NUL}", None),
        ("PATCH", f"{ROOT}/{NUL}", {"priority": 1}),
        ("DELETE", f"{ROOT}/{NUL}", None),
        ("POST", f"{ROOT}/{NUL}/pause", None),
        ("POST", f"{ROOT}/{NUL}/resume", None),
        ("GET", f"{ROOT}/{NUL}/notifications", None),
        ("POST", f"{ROOT}/{NUL}/notifications/1/replay", None),
        ("POST", "/v1/match", {"event": EVENT, "subscription": "a\0b"}),
    ],
)
def test_subscription_with_an_invalid_name_is_unknown(
    served: Running, method: str, path: str, body: Any
) -> None:
    assert problem(served.caller("ann")(method, path, body), 404, "subscription-unknown")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{ROOT}?text=%00", None),
        ("GET", f"{ROOT}?text=a%00b", None),
        ("GET", f"{ROOT}?owner={NUL}", None),
        ("GET", f"{ROOT}?cursor=AAAA", None),
        ("GET", f"{ROOT}?owner=ann%0A", None),
        ("PUT", f"{ROOT}/s?owner=ann%0A", {"expression": "a = 1"}),
        ("PUT", f"{ROOT}/{NUL}", {"expression": "a = 1"}),
        ("POST", ROOT, {"id": "a\0b", "expression": "a = 1"}),
        ("POST", "/v1/events", {"id": "a\0b", **EVENT}),
        ("POST", "/v1/keys", {"owner": "ann", "scopes": ["publish"], "name": "a\0b"}),
        ("GET", f"/v1/keys?of={NUL}", None),
        ("GET", f"/v1/owners/{NUL}", None),
        ("PUT", f"/v1/owners/{NUL}", {}),
    ],
)
def test_value_that_no_store_can_hold_is_refused(served: Running, method: str, path: str, body: Any) -> None:
    problem(served.admin(method, path, body), 400, "request-invalid")


def test_key_with_an_invalid_name_is_unknown(served: Running) -> None:
    problem(served.admin("DELETE", f"/v1/keys/{NUL}"), 404, "resource-unknown")


def test_line_that_no_store_can_hold_is_refused(served: Running) -> None:
    text = '{"a\\u0000b": 1}\n{"id": "a\\u0000b", "attributes": {}}\n{"attributes": {"a": "\0"}}\n'
    found = lines(served.caller("ann").lines("/v1/events", text))
    assert found[-1] == {"summary": {"refused": 3}}
    found = lines(served.caller("ann").lines(f"{ROOT}/import", text))
    assert found[-1] == {"summary": {"refused": 3}}


@pytest.mark.parametrize("name", [".", ".."])
def test_dot_segments_are_refused_as_names(served: Running, name: str) -> None:
    """A client would resolve ``/v1/subscriptions/..`` before it sends the request."""
    ann, body = served.caller("ann"), {"id": name, "expression": "a = 1"}
    refused = problem(ann("POST", ROOT, body), 400, "request-invalid")
    assert (refused["field"], "step in a path" in refused["detail"]) == ("id", True)
    problem(ann("POST", "/v1/events", {"id": name, **EVENT}), 400, "request-invalid")
    (line, _) = lines(ann.lines(f"{ROOT}/import", f'{{"id": "{name}", "expression": "a = 1"}}'))
    assert (line["status"], line["code"]) == ("refused", "request-invalid")
    heads = ["Host: x", f"Authorization: Bearer {ann.key}", "Content-Length: 22"]
    put = "\r\n".join([f"PUT {ROOT}/{name} HTTP/1.1", *heads, "", '{"expression":"a = 1"}'])
    with opened(served, put.encode()) as connection:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 400")
    assert ann("POST", ROOT, body | {"id": f"{name}x"}).status_code == 201
