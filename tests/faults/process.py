"""Run a real service in a process that tests may kill at any moment and start again."""

from __future__ import annotations

import contextlib
import http.client
import json
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamis.failpoint import VARIABLE
from tests.faults.nursery import Child, Nursery
from tests.waiting import PATIENCE, eventually


class Process:
    """``tamis serve`` on one folder; every start uses a free port."""

    def __init__(self, nursery: Nursery, folder: Path, *more: str) -> None:
        self._nursery, self.folder, self._more = nursery, folder, more
        self.port, self.key = 0, ""
        self.started = 0
        self._process: Child | None = None

    def start(self, failpoint: str = "") -> None:
        """Start and wait until it listens; with a failpoint it may die during the start."""
        self.started += 1
        out, errors = (self.folder / f"serve-{self.started}.{name}" for name in ("out", "log"))
        out.touch()
        words = ["serve", "--data", str(self.folder / "data"), "--port", "0", *self._more]
        self._process = self._nursery.start(words, out, errors, **{VARIABLE: failpoint})
        lines = 1 if self.key else 2  # the first start also prints a key
        eventually(lambda: out.read_text().count("\n") >= lines or not self.is_alive())
        self._read(out.read_text().splitlines())

    def _read(self, lines: list[str]) -> None:
        if lines:  # otherwise its failpoint killed it
            self.port = int(lines[0].split("/")[2].split(":")[1])
        if len(lines) > 1:
            self.key = lines[1].split()[-1]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Send ``SIGKILL``."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Send ``SIGTERM`` and return the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait()

    def insist(self, method: str, path: str, body: Any = None) -> Any:
        """Repeat a request until it succeeds; return the answer."""
        caller = Caller(self)
        try:
            return caller.insist(method, path, body)
        finally:
            caller.close()

    def allow_files_of(self, size: int) -> None:
        """Limit files to ``size`` bytes, which acts like a full disk; -1 removes the limit."""
        hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))


class Caller:
    """A client that reconnects when its connection breaks; a request without an answer returns ``None``."""

    def __init__(self, process: Process, key: str | None = None) -> None:
        self._process, self._key = process, key
        self._connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any] | None:
        headers = {"Authorization": f"Bearer {self._key or self._process.key}"}
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        if raw is not None:
            kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
            headers["Content-Type"] = kind
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(
                    "127.0.0.1", self._process.port, timeout=PATIENCE
                )
            self._connection.request(method, path, raw, headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return None
        if "ndjson" in answer.headers.get("content-type", ""):
            return answer.status, [json.loads(line) for line in text.splitlines()]
        return answer.status, json.loads(text) if text[:1] == b"{" else text

    def insist(self, method: str, path: str, body: Any = None) -> Any:
        """Repeat a request until it succeeds; return the answer."""
        return eventually(lambda: self._well(method, path, body), every=0.05)[0]

    def _well(self, method: str, path: str, body: Any) -> tuple[Any] | None:
        found = self.call(method, path, body)
        return (found[1],) if found is not None and found[0] < 300 else None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextlib.contextmanager
def service(nursery: Nursery, folder: Path, *more: str) -> Iterator[Process]:
    """Yield a service that ends with the block."""
    process = Process(nursery, folder, *more)
    try:
        yield process
    finally:
        if process.started:
            process.kill()
