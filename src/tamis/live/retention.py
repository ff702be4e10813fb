"""Deletes old rows of a store in a background thread."""

from __future__ import annotations

import logging
import threading

from tamis.errors import TamisError
from tamis.store import Store
from tamis.store.timestamps import now

EVERY = 600.0  # seconds

_log = logging.getLogger(__name__)


class RetentionWorker:
    """Deletes rows older than a number of days, at the start and every ten minutes."""

    def __init__(self, store: Store, days: float) -> None:
        self._store, self._days = store, days
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tamis-retention", daemon=True)

    def __enter__(self) -> RetentionWorker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                gone = self._store.forget(now() - int(self._days * 86_400e6), self._stopped.is_set)
                _log.info("deleted %s", ", ".join(f"{n} of {name}" for name, n in gone._asdict().items()))
            except TamisError as bad:
                _log.warning("nothing was deleted: %s", bad.message)
            if self._stopped.wait(EVERY):
                return
