"""Matches published events in order, against the subscriptions of their time, into the outbox.

Of any number of services, one matches at a time. The rows of a batch and the position in the stream of events
are one transaction: a crash loses nothing and repeats nothing.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pyarrow as pa

from tamis.errors import EventError, StoreUnavailable, TamisError
from tamis.failpoint import failpoint
from tamis.index.batches import VERSIONED
from tamis.index.warm import warm
from tamis.live.index_follower import STEP, IndexFollower
from tamis.store import Store, events, outbox, positions, subscriptions
from tamis.store.bulk import table_of
from tamis.store.events import StoredEvent
from tamis.store.positions import LIVE
from tamis.store.subscriptions import Refused
from tamis.store.timestamps import now

BATCH = 4_096  # events
ROWS = 200_000  # target number of matches per transaction, which sets the size of the next batch
LEASE = 5_000_000  # microseconds; another service takes over after this
LAG_CHANGES, LAG_SECONDS = 512, 0.5  # changes and seconds by which the index may lag while no event waits
POLL = 0.25  # seconds between polls, because other processes write to the store too
QUERY = "live"

_log = logging.getLogger(__name__)


class Step(NamedTuple):
    """The result of one batch."""

    events: int
    matches: int
    seconds: float  # duration
    waited: float  # of its first event, from acceptance to the outbox


class Matcher:
    """A thread that follows the log and matches published events."""

    def __init__(self, store: Store, follower: IndexFollower, on_step: Callable[[Step], None]) -> None:
        self._store, self._follower, self._on_step = store, follower, on_step
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._wake, self._stopped = threading.Event(), threading.Event()
        self.is_warm = False  # whether the kernels are compiled for this machine
        self._size, self._advanced_at = BATCH, 0.0
        self._thread = threading.Thread(target=self._run, name="tamis-matcher", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the current batch, release the lease, and save the index."""
        self._stopped.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            with self._store.database.writing() as connection:
                positions.release(connection, LIVE, self.name)
            self._follower.save()
        except TamisError as bad:
            _log.warning("stopped without releasing the lease: %s", bad.message)

    def wake(self) -> None:
        """Signal that the store has changed."""
        self._wake.set()

    def _run(self) -> None:
        self._warm_up()
        while not self._stopped.is_set():
            self._wake.clear()
            try:
                did_work = self.step()
                self._follower.save_if_due()
            except StoreUnavailable as bad:
                _log.warning("matching waits for the store: %s", bad.message)
                did_work = self._stopped.wait(1.0)
            except Exception:
                _log.exception("matching failed and will be retried")
                did_work = self._stopped.wait(1.0)
            if not did_work:
                self._wake.wait(POLL)

    def _warm_up(self) -> None:
        try:
            warm(self._follower.index.info()["engine"])
        except Exception:  # the first event will fail in the same way and show more
            _log.exception("the kernels could not be warmed up")
        self.is_warm = True

    def step(self) -> bool:
        """Match the next batch; return whether there was one."""
        with self._store.database.reading() as connection:
            last = subscriptions.last_change(
                connection
            )  # before the events, so that no change before them is missed
            place = positions.read(connection, LIVE)
            batch = events.waiting(connection, place.value, self._size)
        if batch:
            self._advance(batch[0].known)
        elif self._is_far_behind(last):
            self._advance(last)
        is_mine = place.holder == self.name or place.until < now()
        if not batch or not is_mine:
            return False
        batch = [event for event in batch if event.known - batch[0].known <= STEP]
        began = time.monotonic()
        rows = self._commit(place.value, batch, *self._match(batch))
        if rows is not None:
            self._size = max(16, min(BATCH, ROWS * len(batch) // max(rows, 1)))
            waited = (now() - batch[0].received_at) / 1e6
            self._on_step(Step(len(batch), rows, time.monotonic() - began, waited))
        return True

    def _is_far_behind(self, last: int) -> bool:
        """Return whether to apply changes without events; many changes together are cheaper."""
        waited = time.monotonic() - self._advanced_at
        return last - self._follower.position >= LAG_CHANGES or waited > LAG_SECONDS

    def _advance(self, until: int) -> None:
        self._advanced_at = time.monotonic()
        refused = self._follower.advance(until)
        if refused:  # accepted under other limits, perhaps; the quarantine shows it
            rows = [Refused(name, bad.code, None, bad.message, "") for name, bad in refused]
            self._store.quarantine_subscriptions(rows, QUERY, until)
            _log.error("%d subscriptions cannot be used, see the quarantine", len(rows))

    def _match(self, batch: Sequence[StoredEvent]) -> tuple[pa.Table, Sequence[tuple[int, EventError]]]:
        """Return all matches; an event that cannot be matched does not affect the others."""
        try:
            return self._follower.match_stored(batch)
        except Exception as bad:
            if isinstance(bad, StoreUnavailable):
                raise
            if len(batch) == 1:
                _log.exception("the event %s cannot be matched and is quarantined", batch[0].event_id)
                return VERSIONED.empty_table(), [
                    (0, EventError(f"matching failed: {type(bad).__name__}: {bad}"))
                ]
        tables, refused = [], []
        for row, event in enumerate(batch):
            table, bad_rows = self._match([event])
            shifted = pa.array([row] * table.num_rows, pa.int64())
            tables.append(table.set_column(0, "event", shifted))
            refused += [(row, bad_row) for _, bad_row in bad_rows]
        return pa.concat_tables(tables), refused

    def _commit(
        self,
        place: int,
        batch: Sequence[StoredEvent],
        found: pa.Table,
        refused: Sequence[tuple[int, EventError]],
    ) -> int | None:
        """Write matches and position in one transaction; return ``None`` if another service was faster."""
        last = batch[-1].id
        with self._store.database.writing() as connection:
            if positions.lock(connection, LIVE).value != place:
                return None
            rows = outbox.add_matches(connection, _outbox_table(batch, found), QUERY, last)
            if refused:
                outbox.quarantine_rows(
                    connection, _refused(batch, refused), outbox.REFUSED_EVENT, QUERY, last
                )
            failpoint("live.before_move")
            positions.move(connection, LIVE, last, self.name, LEASE)
        failpoint("live.after_move")
        return rows


def _outbox_table(batch: Sequence[StoredEvent], found: pa.Table) -> pa.Table:
    ids = pa.array([event.event_id for event in batch], pa.string())
    times = pa.array([event.event_time for event in batch], pa.timestamp("us", tz="UTC"))
    row = found["event"].combine_chunks()
    return pa.table(
        {
            "event_id": ids.take(row),
            "subscription_id": found["subscription"],
            "version": found["version"],
            "event_time": times.take(row),
        }
    )


def _refused(batch: Sequence[StoredEvent], refused: Sequence[tuple[int, EventError]]) -> pa.Table:
    rows = [(batch[row].event_id, bad.code, bad.message, batch[row].text) for row, bad in refused]
    return table_of(rows, outbox.REFUSED_EVENT)
