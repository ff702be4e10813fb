"""A real service in a process of its own, which may be killed at any moment and started again."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamis.failpoint import VARIABLE

SOURCE = Path(__file__).resolve().parents[2] / "src"
RUN = "from tamis.cli import main; main()"


class Process:
    """``tamis serve`` on one folder: started, killed, started again."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder, self._more = folder, more
        self.port, self.key = 0, ""
        self.started = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self, failpoint: str = "") -> None:
        """Start, and wait until it listens; with a failpoint it may die while it starts."""
        self.started += 1
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), VARIABLE: failpoint}
        log = (self.folder / f"serve-{self.started}.log").open("w")
        command = [sys.executable, "-c", RUN, "serve", "--data", str(self.folder / "data")]
        command += ["--port", str(self.port), *self._more]
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        log.close()
        self._read_address()

    def _read_address(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], 60)
        assert ready, "the service said nothing for a minute"
        line = self._process.stdout.readline()
        if not line:  # it died by its failpoint
            return
        self.port = int(line.split("/")[2].split(":")[1])
        if not self.key:
            self.key = self._process.stdout.readline().split()[-1]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def wait_dead(self, seconds: float) -> bool:
        """Whether it dies by itself in that time."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return not self.is_alive()

    def kill(self) -> None:
        """``kill -9``."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(number)
        code = self._process.wait(60)
        self._process.stdout.close()
        return code

    def insist(self, method: str, path: str, body: Any = None) -> Any:
        """A request, again until it is answered with success."""
        caller = Caller(self)
        try:
            return caller.insist(method, path, body)
        finally:
            caller.close()

    def allow_files_of(self, size: int) -> None:
        """No file may grow beyond ``size`` bytes: what a full disk looks like; -1 takes that back."""
        hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))


class Caller:
    """Requests on a connection that is made again when it breaks; ``None`` where no answer came."""

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
                self._connection = http.client.HTTPConnection("127.0.0.1", self._process.port, timeout=30)
            self._connection.request(method, path, raw, headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return None
        if "ndjson" in answer.headers.get("content-type", ""):
            return answer.status, [json.loads(line) for line in text.splitlines()]
        return answer.status, json.loads(text) if text[:1] == b"{" else text

    def insist(self, method: str, path: str, body: Any = None, seconds: float = 60) -> Any:
        """Until it is answered with success."""
        end = time.monotonic() + seconds
        while True:
            found = self.call(method, path, body)
            if found is not None and found[0] < 300:
                return found[1]
            assert time.monotonic() < end, (method, path, found)
            time.sleep(0.1)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextlib.contextmanager
def service(folder: Path, *more: str) -> Iterator[Process]:
    """A service that is not left behind."""
    process = Process(folder, *more)
    try:
        yield process
    finally:
        if process.started:
            process.kill()
