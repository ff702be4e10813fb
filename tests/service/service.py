"""Run a real service for tests: a store, a live index and a server on its own port, in this process."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.live import Live
from tamis.service import Service, Settings, health
from tamis.service.server import address_of, config_of, listen
from tamis.store import Store, keys
from tests.databases import new_sqlite
from tests.service.timed import Timed
from tests.trust import TLS
from tests.waiting import PATIENCE, eventually

health.PATIENCE = PATIENCE  # on a busy machine a healthy store may take longer to answer


class Running:
    """A running service and its clients."""

    def __init__(self, service: Service, http: httpx.Client) -> None:
        self.service, self.http = service, http
        self.store, self.live = service.store, service.live
        self.admin = self.caller("root", "admin")

    def key(self, owner: str, *scopes: str, expires: int | None = None) -> str:
        """Return a new key."""
        with self.store.database.writing() as connection:
            return keys.create(connection, owner, scopes, expires=expires)[1]

    def caller(self, owner: str, *scopes: str) -> Caller:
        """Return a client with a key of that owner, by default with the scopes publish and subscribe."""
        return Caller(self.http, self.key(owner, *(scopes or ("publish", "subscribe"))))


class Caller:
    """A client with a key."""

    def __init__(self, http: httpx.Client, key: str) -> None:
        self.http, self.key = http, key
        self.headers = {"authorization": f"Bearer {key}"}

    def __call__(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """Send a request; ``body`` is sent as JSON."""
        if body is not None:
            more["json"] = body
        return self.http.request(method, path, headers=self.headers | more.pop("headers", {}), **more)

    def lines(self, path: str, text: str | bytes, **more: Any) -> httpx.Response:
        """Send a request with lines of JSON."""
        headers = {"content-type": "application/x-ndjson"} | more.pop("headers", {})
        return self("POST", path, content=text, headers=headers, **more)


@contextmanager
def running(
    url: str, limits: Limits = DEFAULT_LIMITS, settings: Settings | None = None, loop: Timed | None = None
) -> Iterator[Running]:
    """Run a service on the store at ``url``; with ``loop``, on the clock of a test."""
    with Store.open(url, limits) as store, Live.open(store) as live:
        service = Service(store, live, settings)
        eventually(lambda: live.is_warm)
        with (
            serving(service, loop) as address,
            httpx.Client(base_url=address, timeout=PATIENCE, verify=TLS) as http,
        ):
            yield Running(service, http)


@contextmanager
def serving(service: Service, loop: Timed | None = None) -> Iterator[str]:
    """Run a server and yield its address."""
    config = config_of(service)
    if loop is not None:
        config.http = loop.watching(config.http)
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0) as listening:

        def serve() -> None:
            with asyncio.Runner(loop_factory=(lambda: loop) if loop else config.get_loop_factory()) as runner:
                runner.run(server.serve([listening]))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            eventually(lambda: server.started or not thread.is_alive())
            yield address_of(listening)
        finally:
            service.stop()
            server.should_exit = True
            if loop is not None:
                loop.let_run()
            thread.join(PATIENCE)


class Wire(socket.socket):
    """A raw connection that counts the bytes that it sends."""

    sent = 0

    def sendall(self, said: Any, flags: int = 0) -> None:
        """Send and count."""
        super().sendall(said, flags)
        self.sent += len(said)


def opened(run: Running, said: bytes = b"") -> Wire:
    """Return a raw connection on which ``said`` was sent."""
    url = run.http.base_url
    connection = Wire()
    connection.settimeout(PATIENCE)
    connection.connect((url.host, url.port or 80))
    connection.sendall(said)
    return connection


def answered(connection: socket.socket) -> bytes:
    """Return the next complete response on a connection."""
    found = b""
    while b"\r\n\r\n" not in found:
        found += connection.recv(1)
    length = re.search(rb"content-length: (\d+)", found, re.IGNORECASE)
    return found + (connection.recv(int(length[1]), socket.MSG_WAITALL) if length else b"")


def ended(connection: socket.socket) -> bytes:
    """Return all bytes until the server ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65_536):
            found += piece
    return found


def file_url(folder: Path) -> str:
    """Return the URL of the SQLite store in a folder, a new one at the first call."""
    return new_sqlite(folder / "service.db")


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that a response is this problem and return it."""
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json"), (
        response.text
    )
    found: dict[str, Any] = response.json()
    assert (found["status"], found["code"], found["type"]) == (status, code, f"urn:tamis:{code}")
    assert found["title"]
    assert found["detail"]
    return found
