"""The entry table, subscriptions through HTTP and the client."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tamis.errors import TamisError
from tests.client import faces
from tests.entries.outcome import needs, refused
from tests.entries.strange_subscriptions import KINDS, Kind
from tests.entries.subscription_entries import EVENT, Verdict, line_of, row_of
from tests.entries.test_subscriptions import judge
from tests.service.service import Caller, Running, file_url, running

ALL = [pytest.param(kind, id=kind.name) for kind in KINDS]
NO_ID = frozenset({"null id"})  # the service assigns an id where none is given
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(file_url(tmp_path_factory.mktemp("service"))) as started:
        yield started


@pytest.fixture
def ann(run: Running) -> Caller:
    return run.caller(f"ann{next(_numbers)}")


@pytest.fixture(params=faces.FACES)
def client(request: pytest.FixtureRequest, run: Running, ann: Caller) -> Iterator[Any]:
    with faces.client(request.param, str(run.http.base_url), ann.key) as opened:
        yield opened


def _verdict(ann: Caller, response: httpx.Response) -> Verdict:
    """Return whether the stored subscription matches the event, or the problem."""
    if response.is_success:
        found = ann("POST", "/v1/match", {"event": {"attributes": EVENT}}).json()["matches"]
        return bool(found)
    assert 400 <= response.status_code < 500, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    return refused(problem["code"], problem["detail"])


def _sent(
    ann: Caller, method: str, path: str, body: bytes, media: str = "application/json"
) -> httpx.Response:
    return ann(method, path, content=body, headers={"content-type": media})


@pytest.mark.parametrize("kind", ALL)
def test_post_stores_or_refuses(ann: Caller, kind: Kind) -> None:
    needs(kind.name not in NO_ID, "the service gives it an id")
    judge(_verdict(ann, _sent(ann, "POST", "/v1/subscriptions", line_of(kind))), kind)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_put_and_patch_store_or_refuse(ann: Caller, kind: Kind, method: str) -> None:
    needs(kind.id == "s", "the id stands in the path")
    body = row_of(kind)
    del body["id"]
    needs(kind.is_json, "JSON has no such value")
    assert ann("PUT", "/v1/subscriptions/s", {"expression": "x = 9"}).status_code == 201
    media = "application/json" if method == "PUT" else "application/merge-patch+json"
    judge(_verdict(ann, _sent(ann, method, "/v1/subscriptions/s", json.dumps(body).encode(), media)), kind)


@pytest.mark.parametrize("kind", ALL)
def test_validate_agrees_with_post(ann: Caller, kind: Kind) -> None:
    needs(kind.id == "s" and kind.fields is None and kind.is_json, "validate takes an expression")
    body = json.dumps({"expression": kind.expression, "event": EVENT}).encode()
    answer = _sent(ann, "POST", "/v1/subscriptions/validate", body)
    if not answer.is_success:
        judge(_verdict(ann, answer), kind)
        return
    found = answer.json()
    errors = found["errors"]
    verdict = refused(errors[0]["code"], errors[0]["message"]) if errors else found["explanation"]["matched"]
    judge(verdict, kind)


@pytest.mark.parametrize("kind", ALL)
def test_import_stores_the_other_rows_and_reports(ann: Caller, kind: Kind) -> None:
    needs(kind.name not in NO_ID, "the service gives it an id")
    good = b'{"id": "before", "expression": "x = 9"}\n', b'{"id": "after", "expression": "x = 9"}\n'
    answer = ann.lines("/v1/subscriptions/import", good[0] + line_of(kind) + b"\n" + good[1])
    assert answer.status_code == 200, answer.text
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [rows[0]["status"], rows[2]["status"]] == ["created", "created"]
    found: Verdict
    if rows[1]["status"] == "refused":
        found = refused(rows[1]["code"], rows[1]["message"])
    else:
        found = bool(ann("POST", "/v1/match", {"event": {"attributes": EVENT}}).json()["matches"])
    judge(found, kind)


@pytest.mark.parametrize("kind", ALL)
def test_client_adds_or_refuses(client: Any, kind: Kind) -> None:
    needs(kind.name not in NO_ID, "the service gives it an id")
    fields = kind.fields or {}
    needs(set(fields) <= {"priority"}, "add has no such argument")
    try:
        client.add(kind.id, kind.expression, **fields)
        found: Verdict = client.match(EVENT) != []
    except TamisError as bad:
        found = refused(bad.code, bad.message)
    judge(found, kind)


@pytest.mark.parametrize("kind", ALL)
def test_client_imports_or_reports(client: Any, kind: Kind) -> None:
    needs(kind.name not in NO_ID, "the service gives it an id")
    report = client.import_([("before", "x = 9"), row_of(kind), ("after", "x = 9")])
    assert report.counts["created"] >= 2
    found: Verdict
    if report.refused:
        (one,) = report.refused
        found = refused(one.error.code, one.error.message)
    else:
        found = client.match(EVENT) != []
    judge(found, kind)
