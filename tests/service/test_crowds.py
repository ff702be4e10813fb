"""Those who hold what they do not use: connections, places, streams. Others are served all the same."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tamis.limits import Limits
from tamis.service.bodies import BodyDeadline
from tests.service.service import Running, ended, file_url, opened, problem, running
from tests.waiting import eventually

ROOT, STREAM = "/v1/subscriptions", "/v1/stream"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
edges = pytest.mark.parametrize("edge", [-1, 0, 1], ids=["below", "at", "above"])


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Running]:
    """A service that waits for a second."""
    with running(file_url(tmp_path), Limits(request_seconds=1, connections_at_once=10)) as started:
        yield started


def post(path: str, length: int, key: str | None = None) -> bytes:
    """The head of a request whose body is yet to come."""
    words = [
        f"POST {path} HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    words += [] if key is None else [f"Authorization: Bearer {key}"]
    return ("\r\n".join(words) + "\r\n\r\n").encode()


@contextlib.contextmanager
def held(run: Running, number: int, said: bytes) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(opened(run, said)) for _ in range(number)]


# -- connections -------------------------------------------------------------------------------------------


def test_who_was_answered_without_a_body_cannot_stay(quick: Running) -> None:
    """A byte of it now and then does not help."""
    with held(quick, 9, post("/v1/events", 1_000_000)) as connections:
        for connection in connections:
            assert connection.recv(65_536).startswith(b"HTTP/1.1 401")
            connection.sendall(b"x")
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 10:
                connections[0].sendall(b"x")
                time.sleep(0.1)
        assert 0.5 < time.monotonic() - began < 10
        for connection in connections[1:]:
            assert ended(connection) == b""  # nothing is said to who was answered
    eventually(lambda: quick.http.get("/healthz").status_code == 200)


def test_a_body_that_comes_after_its_answer_ends_nothing(quick: Running) -> None:
    with opened(quick, post("/v1/events", 8)) as connection:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 401")
        connection.sendall(b"1234567")
        time.sleep(0.2)
        connection.sendall(b"8")
        time.sleep(1.2)  # request_seconds, and some: the connection waits for the next request now
        for body in (b"", b"8" * 8 + HEALTH):
            connection.sendall(post("/v1/events", 8) if body else HEALTH)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 401" if body else b"HTTP/1.1 200")
            connection.sendall(body)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


def test_what_comes_between_requests_must_become_one(quick: Running) -> None:
    with opened(quick, HEALTH) as connection:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"\r\n")
        assert ended(connection).startswith(b"HTTP/1.1 408")


# -- bodies ------------------------------------------------------------------------------------------------


@edges
def test_body_bytes_per_second(edge: int) -> None:
    """For two hours a piece each five seconds, which is waited for as long as there is deadline left."""
    deadline = BodyDeadline(Limits(request_seconds=10, body_bytes_per_second=100))
    for _ in range(1_440):
        deadline.spend(5.0, 500 + edge)
    assert (deadline.left >= 5.0) == (edge >= 0)


def test_a_burst_does_not_buy_patience_for_long() -> None:
    deadline = BodyDeadline(Limits(request_seconds=10, body_bytes_per_second=100))
    deadline.spend(0.0, 10**9)
    assert deadline.left == 10
    deadline.spend(12.0, 100)
    assert deadline.left == 1


def test_a_long_body_may_take_long(quick: Running) -> None:
    """Three times request_seconds, in pieces."""

    def pieces() -> Iterator[bytes]:
        for number in range(15):
            yield b'{"attributes": {"a": %d, "text": "%s"}}\n' % (number, b"x" * 400)
            time.sleep(0.2)

    answer = quick.caller("ann").lines("/v1/events", pieces())
    assert answer.text.endswith('{"summary":{"accepted":15}}\n')


def test_a_byte_now_and_then_does_not_do(quick: Running) -> None:
    with opened(quick, post("/v1/events", 1_000, quick.key("ann", "publish"))) as connection:
        connection.settimeout(0.2)
        began, found = time.monotonic(), b""
        while not found and time.monotonic() - began < 10:
            connection.sendall(b"{")
            with contextlib.suppress(TimeoutError):
                found = connection.recv(65_536)
    assert found.startswith(b"HTTP/1.1 408")
    assert b"body_bytes_per_second" in found
    assert 0.9 < time.monotonic() - began < 5


# -- places ------------------------------------------------------------------------------------------------


@edges
def test_owner_requests_at_once(tmp_path: Path, edge: int) -> None:
    """One owner's requests that wait for their bodies stand in nobody else's way."""
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


def test_an_administrator_gives_an_owner_more(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(owner_requests_at_once=1)) as run:
        ann = run.caller("ann")
        given = run.admin("PUT", "/v1/owners/ann", {"requests_at_once": 2}).json()
        assert given["given"] == {"requests_at_once": 2}
        with held(run, 1, post("/v1/events", 100, ann.key)):
            eventually(lambda: run.service.open_requests.count("ann") == 1)
            assert ann("GET", ROOT).status_code == 200


def test_who_has_no_key_takes_no_place(tmp_path: Path) -> None:
    with (
        running(file_url(tmp_path), Limits(requests_at_once=1)) as run,
        held(run, 20, post("/v1/events", 100)) as connections,
    ):
        for connection in connections:
            assert connection.recv(65_536).startswith(b"HTTP/1.1 401")
        assert run.service.open_requests.count() == 0
        assert run.caller("ann")("GET", ROOT).status_code == 200


def test_a_stream_takes_no_place_of_a_request(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(owner_requests_at_once=1)) as run:
        ann = run.caller("ann")
        with ann.http.stream("GET", STREAM, headers=ann.headers):
            assert ann("GET", ROOT).status_code == 200


def test_no_more_streams_than_allowed_however_they_come(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(owner_streams=4)) as run:
        ann, together = run.caller("ann"), threading.Barrier(24)

        def read(_: int) -> int:
            together.wait()
            with ann.http.stream("GET", STREAM, headers=ann.headers) as response:
                together.wait()  # all are open, or refused
                return response.status_code

        with ThreadPoolExecutor(24) as pool:
            found = list(pool.map(read, range(24)))
        assert (found.count(200), found.count(429)) == (4, 20)
        eventually(lambda: run.service.open_streams.count() == 0)
