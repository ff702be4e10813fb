"""Start processes quickly: forks of one that has imported Tamis and loaded its kernels.

The campaigns start a hundred processes. Each is a process of its own that runs the real command and can be
killed like any other. ``python -m tests.faults.nursery`` reads requests as lines of JSON and answers each.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from tests.waiting import PATIENCE, eventually

ROOT = Path(__file__).resolve().parents[2]
# What the commands import when they run: each fork would import it anew.
PARTS = (
    *("tamis.cli.serve", "tamis.cli.notify", "tamis.live.retention", "tamis.notify.metrics"),
    *("tamis.service.server", "tamis.service.logs", "alembic.command", "psycopg"),
)


class Child:
    """A process that the nursery forked."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery, self.pid = nursery, pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative after a signal; None while it runs."""
        if self._code is None:
            self._code = self._nursery.ask(poll=self.pid)
        return self._code

    def wait(self) -> int:
        """Wait until it has ended and return the exit code."""
        eventually(lambda: self.poll() is not None)
        assert self._code is not None
        return self._code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Nursery:
    """The process from which all others are forked."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, words: list[str], out: Path, errors: Path, **variables: str) -> Child:
        """Start ``tamis`` with these arguments."""
        asked = {"words": words, "out": str(out), "errors": str(errors), "variables": variables}
        return Child(self, self.ask(**asked))

    def ask(self, **asked: Any) -> Any:
        """Send a request and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the nursery, whose children have already ended."""
        self._process.communicate(timeout=PATIENCE)


def main() -> None:
    """Answer requests until the input ends."""
    from tamis.index.warm import warm

    warm()
    for part in PARTS:
        importlib.import_module(part)
    gc.freeze()  # no collection in a fork visits what all forks share
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(_poll(asked["poll"]) if "poll" in asked else _fork(asked)), flush=True)


def _poll(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _fork(asked: dict[str, Any]) -> int:
    return os.fork() or _run(asked)


def _run(asked: dict[str, Any]) -> NoReturn:
    """Become the command."""
    from tamis import failpoint
    from tamis.cli import main as command

    for number, path in enumerate((os.devnull, asked["out"], asked["errors"])):
        file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
    os.environ.update(asked["variables"])
    failpoint._arm_from_environment()
    code = 1
    try:
        command(asked["words"], prog_name="tamis")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
