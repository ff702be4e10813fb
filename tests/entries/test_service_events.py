"""The entry table, events through HTTP and the client."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import pytest

from tamis import Event
from tamis.errors import TamisError
from tests.client import faces
from tests.entries.book import BOOK
from tests.entries.outcome import Outcome, check, outcome_of, refused
from tests.entries.strange_events import KINDS, REFUSED, Kind
from tests.service.service import Caller, Running, file_url, running
from tests.waiting import eventually

# A body that is unreadable as a whole, or too large, is refused as a request.
HTTP = REFUSED | {"!request-invalid", "!request-too-large"}
LINES = [pytest.param(kind, id=kind.name) for kind in KINDS if kind.line is not None]
OBJECTS = [pytest.param(kind, id=kind.name) for kind in KINDS if kind.object is not None]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(file_url(tmp_path_factory.mktemp("service"))) as started:
        yield started


@pytest.fixture(scope="module")
def ann(run: Running) -> Caller:
    caller = run.caller("ann")
    for name, text in BOOK.items():
        assert caller("PUT", f"/v1/subscriptions/{name}", {"expression": text}).status_code == 201
    return caller


@pytest.fixture(scope="module", params=faces.FACES)
def client(request: pytest.FixtureRequest, run: Running, ann: Caller) -> Iterator[Any]:
    with faces.client(request.param, str(run.http.base_url), ann.key) as opened:
        yield opened


def _wanted(kind: Kind) -> Outcome:
    return HTTP if kind.wanted <= REFUSED else kind.wanted


def _problem(response: httpx.Response) -> Outcome:
    assert 400 <= response.status_code < 500, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    return refused(found["code"], found["detail"])


def _post(caller: Caller, path: str, body: bytes) -> httpx.Response:
    return caller("POST", path, content=body, headers={"content-type": "application/json"})


@pytest.mark.parametrize("kind", LINES)
def test_match_answers_or_refuses(ann: Caller, kind: Kind) -> None:
    assert kind.line is not None
    answer = _post(ann, "/v1/match", b'{"event": {"attributes": ' + kind.line + b"}}")
    found = (
        frozenset(one["id"] for one in answer.json()["matches"]) if answer.is_success else _problem(answer)
    )
    check(found, _wanted(kind))


@pytest.mark.parametrize("kind", LINES)
def test_validate_matches_an_event_or_refuses_it(ann: Caller, kind: Kind) -> None:
    assert kind.line is not None
    answer = _post(ann, "/v1/subscriptions/validate", b'{"expression": "x = 1", "event": ' + kind.line + b"}")
    if not answer.is_success:
        check(_problem(answer), HTTP)
        return
    found = answer.json()
    if kind.wanted <= REFUSED:
        assert [fault["field"] for fault in found["errors"]] == ["event"]
        check(refused(found["errors"][0]["code"], found["errors"][0]["message"]), HTTP)
    else:
        assert found["explanation"]["matched"] == ("one" in kind.wanted)


def _matches(run: Running, prefix: str) -> dict[str, set[str]]:
    """Return the outbox rows of events whose ids begin so."""
    with run.store.database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT event_id, subscription_id FROM outbox").all()
    found: dict[str, set[str]] = {}
    for event, subscription in rows:
        if event.startswith(f"ann/{prefix}"):
            found.setdefault(event.removeprefix("ann/"), set()).add(subscription.removeprefix("ann/"))
    return found


def _settled(run: Running, ann: Caller, prefix: str) -> dict[str, set[str]]:
    """Return the matches of all events so far: the event published last is matched last."""
    assert ann("POST", "/v1/events", {"id": f"{prefix}-last", "attributes": {}}).status_code == 202
    eventually(lambda: f"{prefix}-last" in _matches(run, prefix))
    return _matches(run, prefix)


def test_published_events_are_matched_or_refused(run: Running, ann: Caller) -> None:
    outcomes: dict[str, Outcome | None] = {}
    for at, (kind,) in enumerate(one.values for one in LINES):
        answer = _post(ann, "/v1/events", b'{"id": "single-%d", "attributes": %s}' % (at, kind.line))
        outcomes[f"single-{at}"] = None if answer.status_code == 202 else _problem(answer)
    matched = _settled(run, ann, "single")
    _compare(outcomes, matched, "single")


def test_each_line_is_matched_or_refused_alone(run: Running, ann: Caller) -> None:
    body = b"".join(
        b'{"id": "many-%d", "attributes": %s}\n' % (at, kind.line)
        for at, (kind,) in enumerate(one.values for one in LINES)
    )
    answer = ann.lines("/v1/events", body)
    assert answer.status_code == 202, answer.text
    rows = [json.loads(line) for line in answer.text.splitlines()][: len(LINES)]
    outcomes = {
        f"many-{at}": None if row["status"] == "accepted" else refused(row["code"], row["message"])
        for at, row in enumerate(rows)
    }
    assert len(outcomes) == len(LINES)
    _compare(outcomes, _settled(run, ann, "many"), "many")


def _compare(outcomes: dict[str, Outcome | None], matched: dict[str, set[str]], prefix: str) -> None:
    for at, (kind,) in enumerate(one.values for one in LINES):
        outcome = outcomes[f"{prefix}-{at}"]
        found = frozenset(matched.get(f"{prefix}-{at}", ())) if outcome is None else outcome
        try:
            check(found, _wanted(kind))
        except AssertionError as bad:
            raise AssertionError(f"{kind.name}: {bad}") from None


@pytest.mark.parametrize("kind", OBJECTS)
def test_client_matches_or_refuses(client: Any, kind: Kind) -> None:
    assert kind.object is not None
    event = kind.object()
    check(outcome_of(lambda: client.match(event)), _wanted(kind))
    check(outcome_of(lambda: [name for name, _ in client.top_k(event, 50)]), _wanted(kind))
    check(outcome_of(lambda: _explained(client, event)), _wanted(kind))


def _explained(client: Any, event: Any) -> Iterable[str]:
    return [name for name in BOOK if client.explain(name, event).matched]


@pytest.mark.parametrize("kind", OBJECTS)
def test_client_publishes_or_refuses(client: Any, kind: Kind) -> None:
    assert kind.object is not None
    event = kind.object()
    is_bad = kind.wanted <= REFUSED
    if isinstance(event, dict | Event):  # any other iterable means many events
        single = outcome_of(lambda: [client.publish(event).status])
        check(single, HTTP if is_bad else frozenset({"accepted"}))
    report = client.publish([{"x": 1}, event, {"x": 1}])
    assert report.counts == ({"accepted": 2, "refused": 1} if is_bad else {"accepted": 3})


def test_client_weights_beyond_floats_are_refused(client: Any) -> None:
    with pytest.raises(TamisError):
        client.match(Event({"x": (1,)}, weights={"x": 10**400}))
