"""Runs the notifier's threads: one dispatches, one claims and records results, the others send.

Any number of notifiers may share a store. If the database becomes unavailable they wait for it, and record
the results of deliveries sent in the meantime when it is back.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable

from tamis.contract.delivery import Delivery
from tamis.errors import StoreError, StoreUnavailable
from tamis.failpoint import failpoint
from tamis.notify.breaker import Breakers
from tamis.notify.claim_manager import ClaimManager
from tamis.notify.metrics import NotifyMetrics
from tamis.notify.send_queue import SendQueue
from tamis.notify.sender import SECOND, Sender, reason_of
from tamis.notify.settings import Settings
from tamis.store import Store, dispatch
from tamis.store.timestamps import now

LINGER = 0.005  # seconds in which results and rows accumulate, so that a transaction has more of them
RETRY_SECONDS = 1.0  # seconds to wait when the store is unavailable

_log = logging.getLogger(__name__)


class Notifier:
    """Delivers the notifications in a store's outbox until it is stopped."""

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        metrics: NotifyMetrics | None = None,
        clock: Callable[[], int] = now,
        rng: random.Random | None = None,
    ) -> None:
        self.store, self.settings = store, settings or Settings()
        self.metrics = metrics or NotifyMetrics()
        self._clock = clock
        breakers = Breakers(self.settings.breaker, lambda: clock() / SECOND)
        shared = store, self.settings, breakers, self.metrics, clock
        self._sender = Sender(*shared, rng or random.Random())
        self._claim_manager = ClaimManager(*shared)
        self._send_queue = SendQueue(self.settings, breakers)
        self._is_store_away = False
        self._rows = self.settings.rows  # outbox rows dispatched together
        self._rounds = self._idle = 0  # of the claim loop: all, and consecutive ones without work
        self._to_dispatch, self._to_claim = threading.Event(), threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    # -- public ------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name under which this notifier holds claims."""
        return self._claim_manager.name

    def start(self) -> None:
        """Start the threads."""
        loops = [("dispatch", self._dispatching), ("claim", self._claiming)]
        loops += [(f"send-{number}", self._sending) for number in range(self.settings.workers)]
        for name, loop in loops:
            self._threads.append(threading.Thread(target=loop, name=f"tamis-{name}", daemon=True))
            self._threads[-1].start()

    def stop(self) -> None:
        """Finish the deliveries being sent, record their results, and return the other claims."""
        self._stopping.set()
        self.wake()
        until = time.monotonic() + self.settings.grace_seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._sender.close()

    def check(self, delivery: Delivery) -> None:
        """Raise the reason why this notifier cannot send ``delivery``, as far as its settings show it."""
        self._sender.check(delivery)

    def wake(self) -> None:
        """Signal new rows or deliveries; without a signal they are found at the next poll."""
        self._to_dispatch.set()
        self._to_claim.set()

    def drain(self, seconds: float) -> bool:
        """Wait until every delivery due by now was attempted; return whether that was in time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            is_due = self._safely(self._is_due) or self._is_store_away
            seen = self._rounds
            while self._rounds < seen + 2 and time.monotonic() < until:  # the first one may have begun before
                self.wake()
                time.sleep(LINGER)
            if not is_due and self._idle >= 2:
                return True
        return False

    def __enter__(self) -> Notifier:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- threads ------------------------------------------------------------------------------------------

    def _dispatching(self) -> None:
        while not self._stopping.is_set():
            self._to_dispatch.clear()
            if not self._safely(self._dispatch):
                self._to_dispatch.wait(self.settings.poll_seconds)
                self._stopping.wait(LINGER)

    def _is_due(self) -> bool:
        with self.store.database.reading() as connection:
            return dispatch.is_due(connection, self._clock())

    def _dispatch(self) -> bool:
        """Dispatch one transaction of outbox rows, if there are any; return whether there may be more."""
        if not self._is_due():
            return False
        chosen = self.settings
        options = dispatch.DispatchOptions(self.name, self._rows, chosen.digests, chosen.digest_events)
        try:
            with self.store.database.writing() as connection:
                done = dispatch.dispatch(connection, options, self._clock())
        except StoreError:  # such as a full disk: no row's fault
            raise
        except Exception as bad:
            return self._skip_bad_row(options, bad)
        self._rows = min(chosen.rows, 2 * self._rows)
        failpoint("notify.after_dispatch")
        self.metrics.dispatched(done)
        if done.deliveries:
            self._to_claim.set()
        return done.read == options.rows or done.digests > 0

    def _skip_bad_row(self, options: dispatch.DispatchOptions, bad: Exception) -> bool:
        """Isolate a row that cannot be dispatched by reducing the number of rows, then skip it."""
        if options.rows > 1:
            self._rows = max(1, options.rows // 8)
            return True
        with self.store.database.writing() as connection:
            number = dispatch.skip_to_dead_letters(connection, options, self._clock(), reason_of(bad))
        if not number:
            raise bad  # the fault is not in a row but in a due digest
        _log.error("the row %d of the outbox cannot be dispatched and is a dead letter", number, exc_info=bad)
        return True

    def _claiming(self) -> None:
        while not (self._stopping.is_set() and self._claim_manager.is_clear):
            self._to_claim.clear()
            stops = self._stopping.is_set()
            if stops:
                self._send_queue.close()  # only this thread makes claims, so none comes afterwards
            is_busy = self._safely(self._record_and_claim) or not self._claim_manager.is_clear
            self._idle = 0 if is_busy else self._idle + 1
            self._rounds += 1
            if not stops and not self._safely(self._claim_manager.maintain):
                self._to_claim.wait(self.settings.poll_seconds)
            time.sleep(LINGER)
        self._send_queue.close()

    def _record_and_claim(self) -> bool:
        claimed = self._claim_manager.record_and_claim(wants_more=not self._stopping.is_set())
        self._send_queue.put(claimed)
        return bool(claimed)

    def _sending(self) -> None:
        while (claimed := self._send_queue.take()) is not None:
            until = 0 if self._stopping.is_set() else claimed.until
            result = self._sender.attempt(claimed, until)
            self._send_queue.done(claimed)
            self._claim_manager.finished(claimed, result)
            self._to_claim.set()

    def _safely(self, step: Callable[[], bool]) -> bool:
        """Run a step; if the store is unavailable, wait a little and continue."""
        try:
            went_on = step()
        except StoreUnavailable as away:
            if not self._is_store_away:
                _log.warning("the store is unavailable; deliveries wait: %s", away.message)
            self._is_store_away = True
        except Exception:
            _log.exception("a step of the notifier failed and will be retried")
        else:
            if self._is_store_away:
                _log.warning("the store is available again")
            self._is_store_away = False
            return went_on
        self._stopping.wait(RETRY_SECONDS)
        return False
