"""Run a webhook receiver with scripted answers, in a thread of its own."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.waiting import PATIENCE

Behave = Callable[[BaseHTTPRequestHandler], None]


class Call(NamedTuple):
    """A request that the receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes


def answer(status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> Behave:
    """Return a plain answer."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


class Receiver:
    """The received calls and the function that answers them."""

    def __init__(self, server: ThreadingHTTPServer, scheme: str) -> None:
        self.calls: list[Call] = []
        self.behave: Behave = answer(204)
        self.port: int = server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}/hook"
        self._came = threading.Condition()

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length)
        if len(body) < length:
            return  # the caller died in the middle of its request
        with self._came:
            self.calls.append(Call(handler.path, {k.lower(): v for k, v in handler.headers.items()}, body))
            self._came.notify_all()
        with contextlib.suppress(OSError):  # the caller may have given up
            self.behave(handler)

    def wait_for(self, number: int) -> list[Call]:
        """Wait for at least so many calls and return them."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.calls) >= number, PATIENCE), len(self.calls)
            return list(self.calls)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore callers that hang up, which tests do on purpose."""


@contextlib.contextmanager
def receiving(behave: Behave | None = None, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = _Server(("", 0), Handler)  # listens on all of 127.0.0.0/8: as many endpoints as a test needs
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server, "http" if tls is None else "https")
    receiver.behave = behave or receiver.behave
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
