"""Reads the end of the outbox once for all open streams.

A listener buffers a bounded number of rows. A listener that is too slow loses none: it reads the rows that it
missed from the store, then continues here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from sqlalchemy.engine import Connection

from tamis.contract.names import owner_of
from tamis.errors import TamisError
from tamis.limits import Limits
from tamis.store import listing
from tamis.store.listing import OutboxRow
from tamis.store.pages import Page

POLL = 1.0  # seconds; other processes also write to the outbox
PAGE = 1_000

Read = Callable[[Callable[[Connection], Any]], Awaitable[Any]]
_log = logging.getLogger(__name__)


class Listener:
    """The buffered rows of one stream: rows of its owner after number ``since``."""

    def __init__(self, since: int, limits: Limits) -> None:
        self.since = since  # rows up to this number must be read from the store
        self.rows: deque[OutboxRow] = deque()
        self.ready = asyncio.Event()
        self._limits, self._bytes = limits, 0

    def push(self, row: OutboxRow) -> None:
        """Add a row; if the buffer is full, empty it and leave its rows to the store."""
        self._bytes += len(row.payload or "")
        if len(self.rows) >= self._limits.stream_rows or self._bytes > self._limits.stream_bytes:
            self.rows.clear()
            self.since, self._bytes = row.id, 0
        else:
            self.rows.append(row)
        self.ready.set()

    def skip(self, until: int) -> None:
        """Leave the rows up to a number to the store."""
        self.since = max(self.since, until)
        self.ready.set()

    def take(self) -> list[OutboxRow]:
        """Return all buffered rows and empty the buffer."""
        taken = list(self.rows)
        self.rows.clear()
        self._bytes = 0
        self.ready.clear()
        return taken


class MatchFeed:
    """Follows the outbox while at least one stream is open."""

    def __init__(self, read: Read, limits: Limits) -> None:
        self._read, self._limits = read, limits
        self._listeners: defaultdict[str, set[Listener]] = defaultdict(set)
        self._position: int | None = None  # None: no stream is open
        self._woken = asyncio.Event()
        self.is_stopping = False

    def wake(self) -> None:
        """Signal that the outbox has grown."""
        self._woken.set()

    def stop(self) -> None:
        """End all streams."""
        self.is_stopping = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.ready.set()

    @contextlib.contextmanager
    def listening(self, owner: str, last: int) -> Iterator[Listener]:
        """Provide a listener for the rows of an owner; ``last`` is the last outbox number that was read."""
        if self._position is None:
            self._position = last
        listener = Listener(self._position, self._limits)
        self._listeners[owner].add(listener)
        try:
            yield listener
        finally:
            self._listeners[owner].discard(listener)
            if not self._listeners[owner]:
                del self._listeners[owner]
            if not self._listeners:
                self._position = None

    async def run(self) -> None:
        """Read new rows until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL):
                    await self._woken.wait()
            self._woken.clear()
            try:
                while self._position is not None and await self._step(self._position):
                    pass
            except TamisError as bad:
                _log.warning("streams are delayed, the outbox cannot be read: %s", bad.message)

    async def _step(self, position: int) -> bool:
        owners = frozenset(self._listeners)
        page: Page[OutboxRow, int] = await self._read(lambda connection: _page(connection, position, owners))
        if page.next is None or self._position is None:
            return False
        for row in page.items:
            for listener in self._listeners.get(owner_of(row.subscription_id), ()):
                if row.id > listener.since:
                    listener.push(row)
        for owner in self._listeners.keys() - owners:  # they began during the read, which left out their rows
            for listener in self._listeners[owner]:
                listener.skip(page.next)
        self._position = page.next
        return True


def _page(connection: Connection, position: int, owners: frozenset[str]) -> Page[OutboxRow, int]:
    page = listing.rows_after(connection, position, PAGE)
    wanted = [row for row in page.items if owner_of(row.subscription_id) in owners]
    return Page(listing.with_event_texts(connection, wanted), page.next)
