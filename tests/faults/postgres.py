"""A real PostgreSQL that is killed and started again."""

from __future__ import annotations

import contextlib
import os
import signal
import warnings
from pathlib import Path
from typing import Any

import psutil

from tests.databases import new_database, start
from tests.waiting import PATIENCE, eventually


class Postgres:
    """A server of its own, with one empty database."""

    def __init__(self, pgserver: Any, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders that this machine lacks
            self._server = pgserver.get_server(folder, start=False)
            start(self._server)
        self.url = new_database(self._server)

    def kill(self) -> None:
        """``kill -9`` of the server and all its processes."""
        main = psutil.Process(self._server.get_pid())
        everyone = [main, *main.children(recursive=True)]
        for process in everyone:
            with contextlib.suppress(psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs(everyone, timeout=PATIENCE)

    def start(self) -> None:
        """Start it again; it recovers from its log."""
        eventually(self._starts, every=0.1)

    def _starts(self) -> bool:
        with contextlib.suppress(Exception):  # what the killed one has left behind is still being cleared
            self._server.start()
            return True
        return False

    def stop(self) -> None:
        """The end."""
        self._server.cleanup()
