"""Run a real PostgreSQL that tests kill and restart."""

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
            warnings.simplefilter("ignore")  # pgserver warns about folders that this machine lacks
            self._server = pgserver.get_server(folder, start=False)
            start(self._server)
        self.url = new_database(self._server)

    def kill(self) -> None:
        """Send ``SIGKILL`` to the server and all its processes."""
        main = psutil.Process(self._server.get_pid())
        everyone = [main, *main.children(recursive=True)]
        for process in everyone:
            with contextlib.suppress(psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs(everyone, timeout=PATIENCE)

    def start(self) -> None:
        """Start the server again; it recovers from its log."""
        eventually(self._starts, every=0.1)

    def _starts(self) -> bool:
        with contextlib.suppress(Exception):  # the remains of the killed server are still being cleared
            self._server.start()
            return True
        return False

    def stop(self) -> None:
        """Stop the server."""
        self._server.cleanup()
