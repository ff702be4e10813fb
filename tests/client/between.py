"""Run a real HTTP server that misbehaves as scripted, alone or in front of a service."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import httpx

from tests.trust import TLS
from tests.waiting import PATIENCE

Act = Callable[["Handler"], None]


class Seen(NamedTuple):
    """A request that the server received."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Between(ThreadingHTTPServer):
    """A server that applies one act of ``script`` to each request, then forwards every later request."""

    daemon_threads = True

    def __init__(self, behind: str | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind, self.seen = behind, list[Seen]()
        self.script: deque[Act] = deque()
        self.done = threading.Event()  # releases the requests that hang

    @property
    def url(self) -> str:
        """The server's base URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that disconnect early."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Between

    def handle_any(self) -> None:
        """Record one request and apply the next act to it."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.request_seen = Seen(self.command, self.path, headers, body)
        self.server.seen.append(self.request_seen)
        act = self.server.script.popleft() if self.server.script else passed
        act(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        """Send a complete response."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def forward(self) -> httpx.Response:
        """Send the request to the service behind and return its response."""
        seen = self.request_seen
        headers = {name: value for name, value in seen.headers.items() if name not in ("host", "connection")}
        with httpx.Client(timeout=PATIENCE, verify=TLS) as http:
            return http.request(
                seen.method, f"{self.server.behind}{seen.path}", headers=headers, content=seen.body
            )

    def log_message(self, format: str, *given: Any) -> None:
        """Log nothing."""


# -- acts --------------------------------------------------------------------------------------------------


def passed(handler: Handler) -> None:
    """Forward the request and return the response."""
    answer = handler.forward()
    kept = ("content-type", "retry-after", "x-request-id")
    handler.answer(
        answer.status_code,
        {name: answer.headers[name] for name in kept if name in answer.headers},
        answer.content,
    )


def lost(handler: Handler) -> None:
    """Forward the request and drop the connection instead of responding."""
    assert handler.forward().status_code < 500
    dropped(handler)


def dropped(handler: Handler) -> None:
    """Close the connection without a response."""
    handler.close_connection = True
    handler.connection.close()


def hanging(handler: Handler) -> None:
    """Send nothing until the test ends."""
    handler.server.done.wait(PATIENCE)
    handler.close_connection = True


def cut(handler: Handler) -> None:
    """Announce a longer body than is sent."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"version": "1')
    handler.close_connection = True


def saying(status: int, content: Any = b"", **headers: str) -> Act:
    """Return an act that sends this response."""
    said = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda handler: handler.answer(status, {n.replace("_", "-"): v for n, v in headers.items()}, said)


def problem(status: int, code: str, **more: Any) -> Act:
    """Return an act that sends a problem document, as the service does."""
    headers = {"retry_after": str(more.pop("retry_after"))} if "retry_after" in more else {}
    body = {"type": f"urn:tamis:{code}", "title": "t", "status": status, "detail": "no", "code": code, **more}
    return saying(status, body, content_type="application/problem+json", x_request_id="r1", **headers)


def streaming(*pieces: bytes, then: Act = dropped, **headers: str) -> Act:
    """Return an act that sends these pieces of a chunked response and then applies ``then``."""

    def act(handler: Handler) -> None:
        handler.send_response(200)
        for name, value in ({"content_type": "text/event-stream"} | headers).items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        then(handler)

    return act


def ended(handler: Handler) -> None:
    """End a chunked response properly."""
    handler.wfile.write(b"0\r\n\r\n")


@contextmanager
def between(behind: str | None = None) -> Iterator[Between]:
    """Run a server in front of ``behind``, or alone; yield it."""
    with Between(behind) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.done.set()
            server.shutdown()
            thread.join()
