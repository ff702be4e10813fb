"""HTTP at its edges: every error is a problem document, and a duplicate header is refused."""

from __future__ import annotations

import json

import pytest

from tests.service.service import Caller, Running, ended, opened, problem

ROOT = "/v1/subscriptions"


def answer(run: Running, *lines: str, body: str = "") -> tuple[int, str, bytes]:
    """Send a request as written; return the status, the media type and the body of the response."""
    text = "\r\n".join([*lines, "Host: x", "Connection: close", "", body])
    with opened(run, text.encode()) as connection:
        head, _, content = ended(connection).partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    named = dict(line.lower().split(": ", 1) for line in headers)
    return int(first.split()[1]), named.get("content-type", ""), content


def refused(run: Running, status: int, code: str, *lines: str, body: str = "") -> dict[str, object]:
    """Return the problem that a request gets."""
    found, media, content = answer(run, *lines, body=body)
    assert (found, media) == (status, "application/problem+json"), content
    told: dict[str, object] = json.loads(content)
    assert told["code"] == code
    return told


@pytest.mark.parametrize(
    "path",
    [
        "*",
        "/v1/subscriptions/a/notifications/1%0A/replay",
        "/v1/subscriptions/a%0Ab/notifications/1/replay",
        "/v1/subscriptions/a%0A",
        "/v1/dead-letters/1%0A/retry",
        "/v1/subscriptions/a/pause%0A",
        "/%0A",
        "//",
    ],
)
def test_unknown_path_gets_a_problem(run: Running, path: str) -> None:
    key = run.key("ann", "publish", "subscribe")
    for method in ("OPTIONS", "GET", "POST", "DELETE"):
        status, media, content = answer(run, f"{method} {path} HTTP/1.1", f"Authorization: Bearer {key}")
        assert (status in (400, 404, 405), media) == (True, "application/problem+json"), (method, content)


@pytest.mark.parametrize("part", ["1%2F2", "..", "%2E%2E", "1%0A2", "%00", "%FF", "1%0D%0A2"])
def test_replay_with_an_invalid_number_gets_a_problem(ann: Caller, part: str) -> None:
    ann("PUT", f"{ROOT}/s", {"expression": "a = 1"})
    for path in (f"{ROOT}/s/notifications/{part}/replay", f"/v1/dead-letters/{part}/retry"):
        found = ann("POST", path)
        assert found.status_code in (404, 405), path
        problem(found, found.status_code, found.json()["code"])


def test_duplicate_header_is_refused(run: Running) -> None:
    key, other = run.key("ann", "subscribe"), run.key("bob", "subscribe")
    for header, first, second in (
        ("Authorization", f"Bearer {key}", f"Bearer {other}"),
        ("Authorization", f"Bearer {key}", f"Bearer {key}"),
        ("Content-Type", "application/json", "text/csv"),
        ("Content-Encoding", "identity", "gzip"),
        ("Idempotency-Key", "one", "two"),
        ("Last-Event-ID", "1", "2"),
        ("Host", "a", "b"),
    ):
        mine = [] if header == "Authorization" else [f"Authorization: Bearer {key}"]
        told = refused(
            run,
            400,
            "request-invalid",
            f"POST {ROOT} HTTP/1.1",
            *mine,
            f"{header}: {first}",
            f"{header.lower()}: {second}",
            "Content-Length: 22",
            body='{"expression":"a = 1"}',
        )
        assert told["header"] == header.lower()
    assert run.caller("ann")("GET", ROOT).json()["items"] == []


def test_two_content_lengths_are_refused(run: Running) -> None:
    key = run.key("ann", "subscribe")
    for more in (("Content-Length: 22", "Content-Length: 23"), ("Content-Length: 22", "Content-Length: 22")):
        told = ("Content-Type: application/json", f"Authorization: Bearer {key}", *more)
        body = '{"expression":"a = 1"}'
        refused(run, 400, "request-invalid", f"POST {ROOT} HTTP/1.1", *told, body=body)


def test_if_match_in_two_lines_is_one_list(ann: Caller, run: Running) -> None:
    version = ann("PUT", f"{ROOT}/s", {"expression": "a = 1"}).json()["version"]
    mine = f"Authorization: Bearer {ann.key}"
    change = f"POST {ROOT}/s/pause HTTP/1.1"
    assert answer(run, change, mine, 'If-Match: "1000000"', f'If-Match: "{version}"')[0] == 200
    refused(run, 412, "version-conflict", change, mine, 'If-Match: "1000000"', 'If-Match: "1000001"')
    refused(run, 400, "request-invalid", change, mine, "If-Match: *", "If-Match: *")
