"""The matcher: published events in order, against the subscriptions of their moment, into the outbox.

One of any number of services matches at a time. The rows of a batch and the place in the stream of events
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
from tamis.live.following import STEP, Following
from tamis.store import Store, events, outbox, positions, subscriptions
from tamis.store.events import StoredEvent
from tamis.store.positions import LIVE
from tamis.store.subscriptions import Refused
from tamis.store.timestamps import now

BATCH = 4_096  # events
ROWS = 200_000  # matches that a transaction should hold: the next batch is as long as that allows
TURN = 5_000_000  # microseconds until another may match in the place of one that does not
MANY, REST = 512, 0.5  # changes, and seconds, that an index may be behind while no event waits
POLL = 0.25  # seconds between looks at a store that other processes write to
QUERY = "live"

_log = logging.getLogger(__name__)


class Step(NamedTuple):
    """What one batch came to."""

    events: int
    matches: int
    seconds: float  # that it took
    waited: float  # of its first event, from acceptance to the outbox


class Matcher:
    """A thread that follows the log and matches what is published."""

    def __init__(self, store: Store, following: Following, told: Callable[[Step], None]) -> None:
        self._store, self._following, self._told = store, following, told
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._wake, self._stopped = threading.Event(), threading.Event()
        self.is_warm = False  # until what it needs was compiled for this machine
        self._size, self._advanced_at = BATCH, 0.0
        self._thread = threading.Thread(target=self._run, name="tamis-matcher", daemon=True)

    def start(self) -> None:
        """Begin to match."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch at hand; let another go on at once; save the index."""
        self._stopped.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            with self._store.database.writing() as connection:
                positions.release(connection, LIVE, self.name)
            self._following.save()
        except TamisError as bad:
            _log.warning("stopped without a last word to the store: %s", bad.message)

    def wake(self) -> None:
        """Something was written."""
        self._wake.set()

    def _run(self) -> None:
        self._warm_up()
        while not self._stopped.is_set():
            self._wake.clear()
            try:
                went_on = self.step()
                self._following.save_if_due()
            except StoreUnavailable as bad:
                _log.warning("matching waits: %s", bad.message)
                went_on = self._stopped.wait(1.0)
            except Exception:
                _log.exception("matching failed; it is tried again")
                went_on = self._stopped.wait(1.0)
            if not went_on:
                self._wake.wait(POLL)

    def _warm_up(self) -> None:
        try:
            warm(self._following.index.info()["engine"])
        except Exception:  # which the first event will meet again, and say more about
            _log.exception("the kernels could not be warmed up")
        self.is_warm = True

    def step(self) -> bool:
        """Take the next batch; whether there was one."""
        with self._store.database.reading() as connection:
            last = subscriptions.last_change(connection)  # before the events: none of those it sees is missed
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
        rows = self._tell(place.value, batch, *self._match(batch))
        if rows is not None:
            self._size = max(16, min(BATCH, ROWS * len(batch) // max(rows, 1)))
            waited = (now() - batch[0].received_at) / 1e6
            self._told(Step(len(batch), rows, time.monotonic() - began, waited))
        return True

    def _is_far_behind(self, last: int) -> bool:
        """Without events there is no hurry: changes are cheaper to take in when there are many."""
        waited = time.monotonic() - self._advanced_at
        return last - self._following.position >= MANY or waited > REST

    def _advance(self, until: int) -> None:
        self._advanced_at = time.monotonic()
        refused = self._following.advance(until)
        if refused:  # it was accepted, but perhaps under other limits: out of force, for all to see
            rows = [Refused(name, bad.code, None, bad.message, "") for name, bad in refused]
            self._store.quarantine_subscriptions(rows, QUERY, until)
            _log.error("%d subscriptions are out of force, see the quarantine", len(rows))

    def _match(self, batch: Sequence[StoredEvent]) -> tuple[pa.Table, Sequence[tuple[int, EventError]]]:
        """Return all matches; an event that cannot be matched harms only itself."""
        try:
            return self._following.match_accepted(batch)
        except Exception as bad:
            if isinstance(bad, StoreUnavailable):
                raise
            if len(batch) == 1:
                _log.exception("the event %s cannot be matched; it is put aside", batch[0].event_id)
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

    def _tell(
        self,
        place: int,
        batch: Sequence[StoredEvent],
        found: pa.Table,
        refused: Sequence[tuple[int, EventError]],
    ) -> int | None:
        """Matches and place, in one transaction; none if another was quicker."""
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
            positions.move(connection, LIVE, last, self.name, TURN)
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
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(column, pa.string()) for column in columns], list(outbox.REFUSED_EVENT))
