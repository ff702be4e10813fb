"""Every limit on connections and requests at its edge: heads, bodies that do not arrive, and their number."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.limits import Limits
from tests.service.service import Caller, Running, Wire, answered, ended, file_url, opened, problem, running
from tests.service.timed import Timed
from tests.waiting import PATIENCE, eventually

ROOT = "/v1/subscriptions"
edges = pytest.mark.parametrize("edge", [-1, 0, 1], ids=["below", "at", "above"])


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = Limits(request_bytes=300, line_bytes=200, lines_bytes=2_000)
    with running(file_url(tmp_path_factory.mktemp("tight")), limits) as started:
        yield started


@pytest.fixture(scope="module")
def loop() -> Timed:
    """Return the clock of a service whose timeout is 30 seconds."""
    return Timed()


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, loop: Timed) -> Iterator[Running]:
    """Start a service on that clock."""
    with running(
        file_url(tmp_path_factory.mktemp("strict")), Limits(request_seconds=30), loop=loop
    ) as started:
        yield started


def raw(run: Running, head: str, *pieces: bytes, end: bytes = b"\r\n\r\n") -> bytes:
    """Send raw bytes and return the response until the connection ends."""
    with opened(run, head.replace("\n", "\r\n").encode() + end) as connection:
        with contextlib.suppress(ConnectionError):  # the service may close the connection early
            for piece in pieces:
                connection.sendall(piece)
        return ended(connection)


def head(run: Running, path: str, *more: str) -> str:
    key = run.key("ann", "publish", "subscribe")
    return "\n".join([f"POST {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {key}", *more])


def test_body_is_refused_unread_when_its_announced_length_is_too_long(tight: Running) -> None:
    """The response arrives although no byte of the body was sent."""
    for path, media in ((ROOT, "application/json"), ("/v1/events", "application/x-ndjson")):
        said = head(tight, path, f"Content-Type: {media}", "Content-Length: 999999999999")
        found = raw(tight, said)
        assert found.startswith(b"HTTP/1.1 413")
        assert b"request-too-large" in found


def test_endless_body_is_not_read_beyond_the_limit(tight: Running) -> None:
    said = head(tight, ROOT, "Content-Type: application/json", "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    found = raw(tight, said, *([chunk] * 400))  # 26 MB, if the service read them all
    assert found.startswith(b"HTTP/1.1 413") or found == b""


def test_request_seconds_limit_holds_at_its_edge(strict: Running, loop: Timed) -> None:
    said = head(strict, ROOT, "Content-Type: application/json", "Content-Length: 100")
    with opened(strict, said.replace("\n", "\r\n").encode() + b'\r\n\r\n{"expression":') as connection:
        eventually(lambda: strict.service.open_requests.count() == 1)
        found = lapsed(connection, loop)
    assert found.startswith(b"HTTP/1.1 408")
    assert b"request_seconds" in found


def lapsed(connection: Wire, loop: Timed) -> bytes:
    """Return the response after request_seconds; check that none came before."""
    loop.advance(29, connection)
    assert (loop.seen(connection).answers, loop.seen(connection).is_open) == (0, True)
    loop.advance(1)
    loop.advance(31)  # the rest of a body is read for a while
    return ended(connection)


def test_connection_that_ends_within_a_body_is_dropped(tight: Running) -> None:
    said = head(tight, ROOT, "Content-Type: application/json", "Content-Length: 100")
    opened(tight, said.replace("\n", "\r\n").encode() + b'\r\n\r\n{"expr').close()
    assert tight.caller("ann")("GET", ROOT).status_code == 200


@edges
def test_header_bytes_limit_holds_at_its_edge(tmp_path: Path, edge: int) -> None:
    """The head from its method to its empty line, in one piece or in several."""
    with running(file_url(tmp_path), Limits(header_bytes=1_000)) as run:
        begin, end = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ", b"\r\n\r\n"
        fill = b"a" * (1_000 + edge - len(begin) - len(end))
        for pieces in ([begin + fill + end], [begin, fill, end], [begin, fill[:-3], fill[-3:] + end]):
            with opened(run) as connection:
                for piece in pieces:
                    connection.sendall(piece)
                    eventually(lambda: run.http.get("/healthz").status_code == 200)
                found = ended(connection)
            assert found.startswith(b"HTTP/1.1 431" if edge > 0 else b"HTTP/1.1 200")
            assert (b"header_bytes" in found) == (edge > 0)


@pytest.mark.parametrize("size", [66_000, 100_000, 200_000])
def test_header_beyond_the_default_limit_is_refused_in_one_piece(ann: Caller, size: int) -> None:
    problem(ann("GET", ROOT, headers={"x-long": "a" * size}), 431, "header-too-large")
    assert ann("GET", ROOT, headers={"x-long": "a" * 60_000}).status_code == 200


@edges
def test_header_bytes_limit_holds_for_a_second_request_in_one_piece(tmp_path: Path, edge: int) -> None:
    """Two requests in one piece: the head of each is measured alone."""
    with running(file_url(tmp_path), Limits(header_bytes=1_000)) as run:
        first = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        begin, end = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ", b"\r\n\r\n"
        with opened(run, first + begin + b"a" * (1_000 + edge - len(begin) - len(end)) + end) as connection:
            found = ended(connection)
        # A head that is too long ends the connection.
        assert (found.count(b"HTTP/1.1 200") == 2) == (edge <= 0)


def test_endless_head_costs_no_memory(tight: Running) -> None:
    for pieces in ([b"a" * 65_536] * 100, [b"a: b\r\n" * 10_000] * 100):
        found = raw(tight, "GET /healthz HTTP/1.1\nHost: x\nY: z", *pieces, end=b"\r\nX: ")
        assert found.startswith(b"HTTP/1.1 431") or found == b"", found[:100]
    trailers = [b"1\r\n{\r\n0\r\n", *[b"a: b\r\n" * 10_000] * 100]
    said = head(tight, ROOT, "Content-Type: application/json", "Transfer-Encoding: chunked")
    raw(tight, said, *trailers)
    assert tight.http.get("/healthz").status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\n"])
def test_missing_head_times_out(strict: Running, loop: Timed, sent: bytes) -> None:
    with opened(strict, sent) as connection:
        assert lapsed(connection, loop).startswith(b"HTTP/1.1 408")


def test_request_that_is_not_http_is_refused(tight: Running) -> None:
    found = raw(tight, "NONSENSE")
    assert found.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in found


def test_connection_waits_longer_between_requests_than_for_a_head(strict: Running, loop: Timed) -> None:
    with opened(strict) as connection:
        for _ in range(2):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answered(connection).startswith(b"HTTP/1.1 200")
            loop.advance(31)  # more than request_seconds
            assert loop.seen(connection).is_open


@edges
def test_connections_at_once_limit_holds_at_its_edge(tmp_path: Path, edge: int) -> None:
    with running(file_url(tmp_path), Limits(connections_at_once=3)) as run:
        held = [opened(run) for _ in range(3 + edge)]
        try:
            for connection in held[:3]:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
            if edge > 0:
                assert held[3].recv(65_536).startswith(b"HTTP/1.1 503")
        finally:
            for connection in held:
                connection.close()


@edges
def test_requests_at_once_limit_holds_at_its_edge(tmp_path: Path, edge: int) -> None:
    """Requests whose bodies do not arrive keep their slots."""
    with running(file_url(tmp_path), Limits(requests_at_once=3, request_seconds=2 * int(PATIENCE))) as run:
        said = head(run, ROOT, "Content-Type: application/json", "Content-Length: 100")
        held = [opened(run, said.replace("\n", "\r\n").encode() + b"\r\n\r\n") for _ in range(3 + edge - 1)]
        gate = run.service
        eventually(lambda: gate.open_requests.count() == len(held))
        answer = run.caller("ann")("GET", ROOT)
        if edge > 0:
            assert problem(answer, 503, "service-busy")["limit"] == "requests_at_once"
            assert run.http.get("/healthz").status_code == 200
        else:
            assert answer.status_code == 200
        for connection in held:
            connection.close()
        eventually(lambda: run.caller("ann")("GET", ROOT).status_code == 200)
