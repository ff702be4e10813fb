"""The notifier: a thread that dispatches, one that claims and writes down results, and those that send.

Any number of notifiers may share a store. When the database goes away they wait for it; what was sent
meanwhile is written down when it is back.
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
from tamis.notify.sending import SECOND, Sender, reason_of
from tamis.notify.settings import Settings
from tamis.store import Store, dispatch
from tamis.store.timestamps import now

LINGER = 0.005  # seconds in which results and rows come together, so that a transaction holds more
REST = 1.0  # seconds to wait when the store is away

_log = logging.getLogger(__name__)


class Notifier:
    """Delivers what the outbox of a store has to say, until it is stopped."""

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        metrics: NotifyMetrics | None = None,
        clock: Callable[[], int] = now,
        chance: random.Random | None = None,
    ) -> None:
        self.store, self.settings = store, settings or Settings()
        self.metrics = metrics or NotifyMetrics()
        self._clock = clock
        breakers = Breakers(self.settings.breaker, lambda: clock() / SECOND)
        shared = store, self.settings, breakers, self.metrics, clock
        self._sender = Sender(*shared, chance or random.Random())
        self._claim_manager = ClaimManager(*shared)
        self._send_queue = SendQueue(self.settings, breakers)
        self._is_away = False
        self._rows = self.settings.rows  # of the outbox that are dispatched together
        self._rounds = self._idle = 0  # of the desk: all, and those in a row that found nothing to do
        self._to_dispatch, self._to_claim = threading.Event(), threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    # -- from outside ---------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What claims of this notifier are held under."""
        return self._claim_manager.name

    def start(self) -> None:
        """Begin to deliver."""
        loops = [("dispatch", self._dispatching), ("desk", self._claiming)]
        loops += [(f"send-{number}", self._sending) for number in range(self.settings.workers)]
        for name, loop in loops:
            self._threads.append(threading.Thread(target=loop, name=f"tamis-{name}", daemon=True))
            self._threads[-1].start()

    def stop(self) -> None:
        """Send what is being sent, write down what became of it, give back the rest."""
        self._stopping.set()
        self.wake()
        until = time.monotonic() + self.settings.grace_seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._sender.close()

    def check(self, delivery: Delivery) -> None:
        """Raise what will keep this notifier from sending ``delivery``, as far as its settings say so."""
        self._sender.check(delivery)

    def wake(self) -> None:
        """There is something new; without this it is found at the next look."""
        self._to_dispatch.set()
        self._to_claim.set()

    def drain(self, seconds: float) -> bool:
        """Wait until everything that is due by now was tried; whether that was so in time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            is_due = self._safely(self._is_due) or self._is_away
            seen = self._rounds
            while self._rounds < seen + 2 and time.monotonic() < until:  # the first may have begun before
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

    # -- the three kinds of threads -----------------------------------------------------------------------

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
        """Return one transaction of the outbox, if there is anything; whether there may be more."""
        if not self._is_due():
            return False
        chosen = self.settings
        rules = dispatch.DispatchOptions(self.name, self._rows, chosen.digests, chosen.digest_events)
        try:
            with self.store.database.writing() as connection:
                done = dispatch.dispatch(connection, rules, self._clock())
        except StoreError:  # a full disk, say: no row's fault
            raise
        except Exception as bad:
            return self._step_over(rules, bad)
        self._rows = min(chosen.rows, 2 * self._rows)
        failpoint("notify.after_dispatch")
        self.metrics.dispatched(done)
        if done.deliveries:
            self._to_claim.set()
        return done.read == rules.rows or done.digests > 0

    def _step_over(self, rules: dispatch.DispatchOptions, bad: Exception) -> bool:
        """Return a row that cannot be dispatched must not hold up the others: it is found by taking fewer."""
        if rules.rows > 1:
            self._rows = max(1, rules.rows // 8)
            return True
        with self.store.database.writing() as connection:
            number = dispatch.skip_to_dead_letters(connection, rules, self._clock(), reason_of(bad))
        if not number:
            raise bad  # it is no row, but what is due
        _log.error("the row %d of the outbox cannot be dispatched and is a dead letter", number, exc_info=bad)
        return True

    def _claiming(self) -> None:
        while not (self._stopping.is_set() and self._claim_manager.is_clear):
            self._to_claim.clear()
            stops = self._stopping.is_set()
            if stops:
                self._send_queue.close()  # only here, where claims are made: none comes afterwards
            is_busy = self._safely(self._exchange) or not self._claim_manager.is_clear
            self._idle = 0 if is_busy else self._idle + 1
            self._rounds += 1
            if not stops and not self._safely(self._claim_manager.look):
                self._to_claim.wait(self.settings.poll_seconds)
            time.sleep(LINGER)
        self._send_queue.close()

    def _exchange(self) -> bool:
        taken = self._claim_manager.exchange(wants_more=not self._stopping.is_set())
        self._send_queue.put(taken)
        return bool(taken)

    def _sending(self) -> None:
        while (claimed := self._send_queue.take()) is not None:
            until = 0 if self._stopping.is_set() else claimed.until
            result = self._sender.attempt(claimed, until)
            self._send_queue.done(claimed)
            self._claim_manager.finished(claimed, result)
            self._to_claim.set()

    def _safely(self, step: Callable[[], bool]) -> bool:
        """Do a step; when the store is away, rest a little and go on."""
        try:
            went_on = step()
        except StoreUnavailable as away:
            if not self._is_away:
                _log.warning("the store is away; deliveries wait: %s", away.message)
            self._is_away = True
        except Exception:
            _log.exception("a step of the notifier failed; it is tried again")
        else:
            if self._is_away:
                _log.warning("the store is back")
            self._is_away = False
            return went_on
        self._stopping.wait(REST)
        return False
