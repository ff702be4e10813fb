"""Idle clients that hold connections, request slots and streams do not block the other clients."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from tamis.limits import Limits
from tamis.service import bodies
from tamis.service.bodies import BodyDeadline
from tests.service.service import Running, Wire, answered, ended, file_url, opened, problem, running
from tests.service.timed import Timed
from tests.waiting import PATIENCE, eventually

ROOT, STREAM = "/v1/subscriptions", "/v1/stream"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
edges = pytest.mark.parametrize("edge", [-1, 0, 1], ids=["below", "at", "above"])


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Timed:
    """Return the clock of a service whose timeout is 30 seconds."""
    timed = Timed()
    monkeypatch.setattr(bodies, "time", SimpleNamespace(monotonic=timed.time))
    return timed


@pytest.fixture
def strict(tmp_path: Path, loop: Timed) -> Iterator[Running]:
    """Start a service on that clock."""
    limits = Limits(request_seconds=30, body_bytes_per_second=100, connections_at_once=10)
    with running(file_url(tmp_path), limits, loop=loop) as started:
        yield started


def post(path: str, length: int, key: str | None = None) -> bytes:
    """Return the head of a request whose body follows later."""
    words = [
        f"POST {path} HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    words += [] if key is None else [f"Authorization: Bearer {key}"]
    return ("\r\n".join(words) + "\r\n\r\n").encode()


@contextlib.contextmanager
def held(run: Running, number: int, said: bytes) -> Iterator[list[Wire]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(opened(run, said)) for _ in range(number)]


# -- connections -------------------------------------------------------------------------------------------


def test_connection_is_closed_when_the_unread_body_does_not_arrive(strict: Running, loop: Timed) -> None:
    """Single bytes of the body do not extend the timeout."""
    with held(strict, 9, post("/v1/events", 1_000_000)) as connections:
        for connection in connections:
            assert answered(connection).startswith(b"HTTP/1.1 401")
        for _ in range(29):
            for connection in connections:
                connection.sendall(b"x")
            loop.advance(1, *connections)
        assert all(loop.seen(connection).is_open for connection in connections)
        loop.advance(1)
        for connection in connections:
            assert ended(connection) == b""  # no second response
    eventually(lambda: strict.http.get("/healthz").status_code == 200)


def test_connection_is_kept_when_the_body_arrives_after_the_response(strict: Running, loop: Timed) -> None:
    with opened(strict, post("/v1/events", 8)) as connection:
        assert answered(connection).startswith(b"HTTP/1.1 401")
        connection.sendall(b"1234567")
        loop.advance(20, connection)
        connection.sendall(b"8")
        loop.advance(31, connection)  # more than request_seconds: it waits for the next request now
        for body in (b"", b"8" * 8 + HEALTH):
            connection.sendall(post("/v1/events", 8) if body else HEALTH)
            assert answered(connection).startswith(b"HTTP/1.1 401" if body else b"HTTP/1.1 200")
            connection.sendall(body)
        assert answered(connection).startswith(b"HTTP/1.1 200")


def test_bytes_between_requests_start_the_header_timeout(strict: Running, loop: Timed) -> None:
    with opened(strict, HEALTH) as connection:
        assert answered(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(b"\r\n")
        loop.advance(29, connection)
        assert loop.seen(connection).is_open
        loop.advance(1)
        assert ended(connection).startswith(b"HTTP/1.1 408")


# -- bodies ------------------------------------------------------------------------------------------------


@edges
def test_body_bytes_per_second_limit_holds_at_its_edge(edge: int) -> None:
    """Two hours of a piece every five seconds; the deadline must last exactly at the minimum rate."""
    deadline = BodyDeadline(Limits(request_seconds=10, body_bytes_per_second=100))
    for _ in range(1_440):
        deadline.spend(5.0, 500 + edge)
    assert (deadline.left >= 5.0) == (edge >= 0)


def test_burst_extends_the_body_deadline_only_to_its_maximum() -> None:
    deadline = BodyDeadline(Limits(request_seconds=10, body_bytes_per_second=100))
    deadline.spend(0.0, 10**9)
    assert deadline.left == 10
    deadline.spend(12.0, 100)
    assert deadline.left == 1


def test_long_body_is_accepted_at_the_minimum_rate(strict: Running, loop: Timed) -> None:
    """The body takes three times request_seconds; each piece earns slightly more time than it takes."""
    pieces = [b'{"attributes": {"a": %d, "text": "%s"}}\n' % (at, b"x" * 400) for at in range(30)]
    key, length = strict.key("ann", "publish"), sum(map(len, pieces))
    with opened(strict, post("/v1/events", length, key).replace(b"json", b"x-ndjson")) as connection:
        eventually(lambda: strict.service.open_requests.count("ann") == 1)
        for piece in pieces:
            loop.advance(3, connection)
            connection.sendall(piece)
        assert b'{"summary":{"accepted":30}}' in until(connection, b"0\r\n\r\n")


def until(connection: socket.socket, end: bytes) -> bytes:
    """Return all bytes of a connection up to ``end``."""
    found = b""
    while not found.endswith(end):
        piece = connection.recv(65_536)
        assert piece, found
        found += piece
    return found


def test_body_times_out_below_the_minimum_rate(strict: Running, loop: Timed) -> None:
    """A byte a second earns a hundredth of a second."""
    with opened(strict, post("/v1/events", 1_000, strict.key("ann", "publish"))) as connection:
        eventually(lambda: strict.service.open_requests.count("ann") == 1)
        sent = 0
        while not loop.seen(connection).answers:
            connection.sendall(b"{")
            loop.advance(1, connection)
            sent += 1
        found = answered(connection)
    assert found.startswith(b"HTTP/1.1 408")
    assert b"body_bytes_per_second" in found
    assert sent == 31  # 30 seconds, and a third of one that 30 bytes have earned


# -- slots -------------------------------------------------------------------------------------------------


@edges
def test_owner_requests_at_once_limit_holds_at_its_edge(tmp_path: Path, edge: int) -> None:
    """Requests of one owner that wait for their bodies do not block other owners."""
    with running(file_url(tmp_path), Limits(owner_requests_at_once=3, requests_at_once=5)) as run:
        ann, bob = run.caller("ann"), run.caller("bob")
        with held(run, 3 + edge - 1, post("/v1/events", 100, ann.key)) as connections:
            eventually(lambda: run.service.open_requests.count("ann") == len(connections))
            answer = ann("GET", ROOT)
            if edge > 0:
                assert problem(answer, 429, "rate-exceeded")["limit"] == "requests_at_once"
                assert answer.headers["retry-after"] == "1"
            else:
                assert answer.status_code == 200
            assert bob("GET", ROOT).status_code == 200
        eventually(lambda: run.service.open_requests.count() == 0)
        assert ann("GET", ROOT).status_code == 200


def test_administrator_raises_an_owners_request_limit(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(owner_requests_at_once=1)) as run:
        ann = run.caller("ann")
        given = run.admin("PUT", "/v1/owners/ann", {"requests_at_once": 2}).json()
        assert given["given"] == {"requests_at_once": 2}
        with held(run, 1, post("/v1/events", 100, ann.key)):
            eventually(lambda: run.service.open_requests.count("ann") == 1)
            assert ann("GET", ROOT).status_code == 200


def test_request_without_a_key_takes_no_slot(tmp_path: Path) -> None:
    with (
        running(file_url(tmp_path), Limits(requests_at_once=1)) as run,
        held(run, 20, post("/v1/events", 100)) as connections,
    ):
        for connection in connections:
            assert connection.recv(65_536).startswith(b"HTTP/1.1 401")
        assert run.service.open_requests.count() == 0
        assert run.caller("ann")("GET", ROOT).status_code == 200


def test_stream_takes_no_request_slot(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(owner_requests_at_once=1)) as run:
        ann = run.caller("ann")
        with ann.http.stream("GET", STREAM, headers=ann.headers):
            assert ann("GET", ROOT).status_code == 200


def test_concurrent_streams_stay_within_the_limit(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(owner_streams=4)) as run:
        ann, together = run.caller("ann"), threading.Barrier(24, timeout=PATIENCE)

        def read(_: int) -> int:
            together.wait()
            with ann.http.stream("GET", STREAM, headers=ann.headers) as response:
                together.wait()  # all streams are open or refused
                return response.status_code

        with ThreadPoolExecutor(24) as pool:
            found = list(pool.map(read, range(24)))
        assert (found.count(200), found.count(429)) == (4, 20)
        eventually(lambda: run.service.open_streams.count() == 0)
