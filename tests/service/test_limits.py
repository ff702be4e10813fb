"""Every limit of the service at its edge: the limit itself passes, one more is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.limits import Limits
from tamis.service.bodies import Line, _Splitter
from tamis.service.match_feed import Listener
from tamis.service.rate_limits import TokenBuckets
from tamis.store import idempotency
from tamis.store.idempotency import IdempotentRequest, StoredResponse
from tamis.store.listing import OutboxRow
from tamis.store.timestamps import now
from tests.service.service import Running, file_url, problem, running
from tests.service.test_events import kept, lines

ROOT = "/v1/subscriptions"
edges = pytest.mark.parametrize("edge", [-1, 0, 1], ids=["below", "at", "above"])
LIMITS = Limits(
    request_bytes=300,
    line_bytes=200,
    lines_bytes=2_000,
    page_items=3,
    match_items=5,
    explained_matches=2,
    highlights=3,
    idempotency_key_bytes=20,
)


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(file_url(tmp_path_factory.mktemp("tight")), LIMITS) as started:
        yield started


def padded(body: dict[str, Any], size: int) -> bytes:
    text = json.dumps(body).encode()
    return text[:-1] + b" " * (size - len(text)) + b"}"


@edges
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", ROOT, {"expression": "a = 1"}),
        ("PUT", f"{ROOT}/s", {"expression": "a = 1"}),
        ("PATCH", f"{ROOT}/s", {"priority": 1}),
        ("POST", f"{ROOT}/validate", {"expression": "a = 1"}),
        ("POST", "/v1/events", {"attributes": {"a": 1}}),
        ("POST", "/v1/match", {"event": {"attributes": {"a": 1}}}),
    ],
    ids=lambda one: str(one)[:30],
)
def test_request_bytes_limit_holds_at_its_edge(
    tight: Running, method: str, path: str, body: Any, chunked: bool, edge: int
) -> None:
    text = padded(body, 300 + edge)
    content = (text[at : at + 64] for at in range(0, len(text), 64)) if chunked else text
    headers = {"content-type": "application/json"}
    tight.caller("ann")("PUT", f"{ROOT}/s", {"expression": "a = 0"})
    answer = tight.caller("ann")(method, path, content=content, headers=headers)
    if edge > 0:
        assert problem(answer, 413, "request-too-large")["limit"] == "request_bytes"
        assert answer.headers["connection"] == "close"
    else:
        assert answer.status_code < 300, answer.text


@edges
def test_line_bytes_limit_holds_at_its_edge(tight: Running, edge: int) -> None:
    text = padded({"attributes": {"a": 1}}, 200 + edge)
    found = lines(tight.caller("ann").lines("/v1/events", text + b"\n" + b'{"attributes": {}}'))
    status = {line["line"]: line["status"] for line in found[:-1]}
    assert status == {1: "refused" if edge > 0 else "accepted", 2: "accepted"}
    found = lines(tight.caller("ann").lines(f"{ROOT}/import", padded({"expression": "a = 1"}, 200 + edge)))
    assert found[0]["status"] == ("refused" if edge > 0 else "created")
    if edge > 0:
        assert found[0]["limit"] == "line_bytes"


@edges
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_lines_bytes_limit_holds_at_its_edge(tight: Running, chunked: bool, edge: int) -> None:
    line = padded({"attributes": {"a": 1}}, 99) + b"\n"
    text = line * 20 + b"\n" * edge if edge >= 0 else line * 19 + padded({"attributes": {"a": 1}}, 99)
    assert len(text) == 2_000 + edge
    content = (text[at : at + 100] for at in range(0, len(text), 100)) if chunked else text
    caller = tight.caller(f"lines-{chunked}-{edge}")
    answer = caller.lines("/v1/events", content)
    if edge <= 0:
        assert lines(answer)[-1] == {"summary": {"accepted": 20}}
        return
    refused = problem(answer, 413, "request-too-large")
    assert refused["limit"] == "lines_bytes"
    assert refused["lines"] == len(kept(tight, caller))  # the lines up to there were accepted
    assert chunked or refused["lines"] == 0


def test_line_splitter_gives_the_same_lines_for_any_chunks() -> None:
    text = b"one\n\ntwo\r\n" + b"x" * 12 + b"\nthree\n" + b"y" * 11 + b"\n" + b"z" * 10 + b"\nlast"
    wanted = [
        Line(1, b"one"),
        Line(3, b"two\r"),
        Line(4, None),
        Line(5, b"three"),
        Line(6, None),
        Line(7, b"z" * 10),
        Line(8, b"last"),
    ]
    for size in range(1, len(text) + 1):
        splitter = _Splitter(10)
        found = [one for at in range(0, len(text), size) for one in splitter.feed(text[at : at + size])]
        assert found + splitter.end() == wanted, size


@edges
def test_page_items_limit_holds_at_its_edge(tight: Running, edge: int) -> None:
    ann = tight.caller(f"paged{edge}")
    for number in range(3 + edge):
        ann("PUT", f"{ROOT}/s{number}", {"expression": "page = 1"})
    page = ann("GET", f"{ROOT}?limit=1000").json()
    assert (len(page["items"]), page["next"] is not None) == (min(3, 3 + edge), edge > 0)
    best = ann("POST", "/v1/match", {"event": {"attributes": {"page": 1}}, "k": 3 + edge})
    if edge > 0:
        assert problem(best, 400, "request-invalid")["limit"] == "page_items"
    else:
        assert len(best.json()["matches"]) == 3 + edge


@edges
def test_match_items_limit_holds_at_its_edge(tight: Running, edge: int) -> None:
    ann = tight.caller(f"matched{edge}")
    for number in range(5 + edge):
        ann("PUT", f"{ROOT}/s{number}", {"expression": "page = 1"})
    question = {"event": {"attributes": {"page": 1}}, "limit": 1_000_000}
    found = ann("POST", "/v1/match", question).json()
    seen = (len(found["matches"]), found["total"], found["next"] is not None)
    assert seen == (min(5, 5 + edge), 5 + edge, edge > 0)


@edges
def test_explained_matches_limit_holds_at_its_edge(tight: Running, edge: int) -> None:
    ann = tight.caller(f"explained{edge}")
    for number in range(2 + edge):
        ann("PUT", f"{ROOT}/s{number}", {"expression": "why = 1"})
    found = ann("POST", "/v1/match", {"event": {"attributes": {"why": 1}}, "explain": True}).json()
    assert (len(found["matches"]), found["next"] is not None) == (min(2, 2 + edge), edge > 0)
    assert all(match["explanation"]["matched"] for match in found["matches"])


@edges
def test_highlighted_matches_are_limited_like_explained_ones(tight: Running, edge: int) -> None:
    ann = tight.caller(f"highlighted{edge}")
    for number in range(2 + edge):
        ann("PUT", f"{ROOT}/s{number}", {"expression": "why HAS 'x'"})
    found = ann("POST", "/v1/match", {"event": {"attributes": {"why": "x"}}, "highlight": True}).json()
    assert (len(found["matches"]), found["next"] is not None) == (min(2, 2 + edge), edge > 0)
    assert all(match["highlights"]["attributes"]["why"] for match in found["matches"])


@edges
def test_highlights_limit_holds_at_its_edge(tight: Running, edge: int) -> None:
    ann = tight.caller(f"words{edge}")
    ann("PUT", f"{ROOT}/s", {"expression": "words HAS 'x'"})
    event = {"attributes": {"words": "x " * (3 + edge)}}
    (match,) = ann("POST", "/v1/match", {"event": event, "highlight": True}).json()["matches"]
    found = match["highlights"]
    assert (len(found["attributes"]["words"]), found["more"]) == (min(3, 3 + edge), edge > 0)


@edges
def test_idempotency_key_bytes_limit_holds_at_its_edge(tight: Running, edge: int) -> None:
    answer = tight.caller("ann")(
        "POST", ROOT, {"expression": "a = 1"}, headers={"idempotency-key": "k" * (20 + edge)}
    )
    if edge > 0:
        assert problem(answer, 400, "request-invalid")["limit"] == "idempotency_key_bytes"
    else:
        assert answer.status_code == 201


def test_answer_seconds_limit_holds_at_its_edge(tmp_path: Path) -> None:
    """Retention drops stored responses older than the limit and keeps younger ones."""
    with running(file_url(tmp_path), Limits(answer_seconds=100)) as run:
        for age in (99, 101):
            with run.store.database.writing() as connection:
                idempotency.keep(
                    connection, [(IdempotentRequest("ann", f"k{age}", "f"), StoredResponse(201, {}, ""))]
                )
                made = now() - age * 1_000_000
                connection.exec_driver_sql(f"UPDATE answers SET created = {made} WHERE key = 'k{age}'")
        with run.store.database.writing() as connection:
            run.service._forget_responses(connection)
            found = connection.exec_driver_sql("SELECT key FROM answers").scalars().all()
        assert found == ["k99"]


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_stream_rows_limit_holds_at_its_edge(rows: int) -> None:
    listener = Listener(0, Limits(stream_rows=3))
    for number in range(1, rows + 1):
        listener.push(told(number, "x"))
    taken = [row.id for row in listener.take()]
    assert (taken, listener.since) == ([], 4) if rows > 3 else (list(range(1, rows + 1)), 0)


@pytest.mark.parametrize("size", [9, 10, 11])
def test_stream_bytes_limit_holds_at_its_edge(size: int) -> None:
    listener = Listener(0, Limits(stream_bytes=20))
    listener.push(told(1, "x" * 10))
    listener.push(told(2, "x" * size))
    assert [row.id for row in listener.take()] == ([] if size > 10 else [1, 2])
    listener.push(told(3, "x" * 20))
    assert [row.id for row in listener.take()] == [3]


def told(number: int, payload: str) -> OutboxRow:
    return OutboxRow(number, "match", "e", "ann/s", 1, None, None, payload, 0, "live")


@edges
def test_owner_requests_limit_holds_at_its_edge(tmp_path: Path, edge: int) -> None:
    with running(file_url(tmp_path), Limits(owner_requests=5)) as run:
        ann = run.caller("ann")
        run.service.requests = TokenBuckets(lambda: 0.0)  # no time passes
        together = [threading.Thread(target=ann, args=("GET", ROOT)) for _ in range(4 + edge)]
        for thread in together:
            thread.start()
        for thread in together:
            thread.join()
        assert ann("GET", ROOT).status_code == (429 if edge > 0 else 200)


def test_owner_defaults_come_from_the_limits(tmp_path: Path) -> None:
    limits = Limits(
        owner_subscriptions=2,
        owner_predicates=3,
        owner_requests=999,
        owner_events=998,
        owner_changes=997,
        owner_streams=1,
        owner_requests_at_once=7,
    )
    with running(file_url(tmp_path), limits) as run:
        ann = run.caller("ann")
        quotas = ann("GET", "/v1/status").json()["owner"]["quotas"]
        assert list(quotas.values()) == [2, 3, 999, 998, 997, 1, 7]
        assert ann("POST", ROOT, {"expression": "a IN (1, 2, 3, 4)"}).json()["quota"] == "predicates"
        assert ann("POST", ROOT, {"expression": "a IN (1, 2)"}).status_code == 201
        assert ann("POST", ROOT, {"expression": "a = 1"}).status_code == 201
        assert ann("POST", ROOT, {"expression": "a = 1"}).json()["quota"] == "subscriptions"
