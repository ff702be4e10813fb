"""The notifier: a thread that dispatches, one that claims and writes down results, and those that send.

Any number of notifiers may share a store. When the database goes away they wait for it; what was sent
meanwhile is written down when it is back.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections.abc import Callable

from sqlalchemy.engine import Connection

from tamis.errors import StoreUnavailable
from tamis.failpoint import failpoint
from tamis.notify.breaker import Breakers, State
from tamis.notify.desk import Desk
from tamis.notify.holder import is_dead, own_name
from tamis.notify.line import Line
from tamis.notify.metrics import NotifyMetrics
from tamis.notify.sending import SECOND, Sender
from tamis.notify.settings import Settings
from tamis.store import Store, claims, deliveries, dispatch
from tamis.store.claims import Ask, Claimed, Result
from tamis.store.moments import now

LINGER = 0.01  # seconds in which results and rows come together, so that a transaction holds more
REST = 1.0  # seconds to wait when the store is away
LOOK = 5.0  # seconds between looks at the lag, and at claims that have expired

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
        self.name = own_name()
        self._clock = clock
        self._breakers = Breakers(self.settings.breaker, lambda: clock() / SECOND)
        self._sender = Sender(
            store, self.settings, self._breakers, self.metrics, clock, chance or random.Random()
        )
        self._desk = Desk(self.settings, self._breakers)
        self._line = Line(self.settings, self._breakers)
        self._results: queue.SimpleQueue[tuple[Claimed, Result]] = queue.SimpleQueue()
        self._unwritten: list[tuple[Claimed, Result]] = []
        self._after = ""
        self._looked = -LOOK
        self._is_away = False
        self._rounds = self._idle = 0  # of the desk: all, and those in a row that found nothing to do
        self._to_dispatch, self._to_claim = threading.Event(), threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    # -- from outside ---------------------------------------------------------------------------------

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

    def _is_due(self) -> bool:
        with self.store.database.reading() as connection:
            return dispatch.is_due(connection, self._clock())

    def __enter__(self) -> Notifier:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- dispatching ------------------------------------------------------------------------------------

    def _dispatching(self) -> None:
        while not self._stopping.is_set():
            self._to_dispatch.clear()
            if not self._safely(self.dispatch):
                self._to_dispatch.wait(self.settings.poll_seconds)
                self._stopping.wait(LINGER)

    def dispatch(self) -> bool:
        """One transaction of the outbox, if there is anything; whether there may be more."""
        at = self._clock()
        with self.store.database.reading() as connection:
            if not dispatch.is_due(connection, at):
                return False
        chosen = self.settings
        rules = dispatch.Rules(self.name, chosen.rows, chosen.digests, chosen.digest_events)
        with self.store.database.writing() as connection:
            done = dispatch.dispatch(connection, rules, at)
        failpoint("notify.after_dispatch")
        self.metrics.dispatched(done)
        if done.deliveries:
            self._to_claim.set()
        return done.read == chosen.rows or done.digests > 0

    # -- claiming and writing down ------------------------------------------------------------------------

    def _claiming(self) -> None:
        while not (self._stopping.is_set() and not len(self._desk)):
            self._to_claim.clear()
            self._safely(self._write_down)
            if self._stopping.is_set():
                self._line.close()
            else:
                is_idle = not self._safely(self._claim) and not len(self._desk)
                self._idle = self._idle + 1 if is_idle else 0
                self._safely(self._look)
            self._rounds += 1
            self.metrics.state(len(self._desk), self._breakers.count_open())
            self._to_claim.wait(self.settings.poll_seconds)
            time.sleep(LINGER)
        self._line.close()

    def _claim(self) -> bool:
        """Claim what there is room for; whether that was anything."""
        if self._desk.free <= 0:
            return False
        at = self._clock()
        with self.store.database.reading() as connection:
            first = claims.next_due(connection)
        if first is None or first > at:
            return False
        until = at + int(self.settings.lease_seconds * SECOND)
        taken = self._claimed(until, at)
        if not taken and self._after:  # the turn began in the middle
            self._after = ""
            taken = self._claimed(until, at)
        failpoint("notify.after_claim")
        self._desk.take(taken)
        self._line.put(taken)
        return bool(taken)

    def _claimed(self, until: int, at: int) -> list[Claimed]:
        ask = Ask(self.name, until, self._desk.free, self._desk.shares().room, self._after)
        with self.store.database.writing() as connection:
            taken, self._after = claims.claim(connection, ask, at)
        return taken

    def _write_down(self) -> bool:
        """What became of claims; if the store is away, it is kept for the next time."""
        while not self._results.empty():
            self._unwritten.append(self._results.get())
        if not self._unwritten:
            return False
        at = self._clock()
        with self.store.database.writing() as connection:
            claims.record(connection, self.name, [result for _, result in self._unwritten], at)
            self._bury(connection, at)
        for claimed, _ in self._unwritten:
            self._desk.done(claimed.id)
        self._unwritten.clear()
        return True

    def _bury(self, connection: Connection, at: int) -> None:
        """What is too old for an endpoint that does not answer is given up, without a try for each."""
        before = at - int(self.settings.give_up_seconds * SECOND)
        failed = {claimed.endpoint: result.error for claimed, result in self._unwritten if result.error}
        for endpoint, error in failed.items():
            if self._breakers.state(endpoint) is State.OPEN:
                claims.bury(connection, endpoint, before, f"given up: {error}", at)

    def _look(self) -> bool:
        """Now and then: free what nobody came back for, and see how far behind all are."""
        if time.monotonic() - self._looked < LOOK:
            return False
        self._looked = time.monotonic()
        at = self._clock()
        with self.store.database.reading() as connection:
            self.metrics.lag(deliveries.lag(connection, at))
            ends = claims.holders(connection)
        dead = [name for name in ends if name != self.name and is_dead(name)]
        if not dead and all(end >= at for end in ends.values()):
            return False
        with self.store.database.writing() as connection:
            self.metrics.freed(claims.release(connection, dead, self.settings.backoff.attempts, at))
        self._to_claim.set()
        return True

    # -- sending ------------------------------------------------------------------------------------------

    def _sending(self) -> None:
        while (claimed := self._line.take()) is not None:
            until = 0 if self._stopping.is_set() else claimed.until
            result = self._sender.attempt(claimed, until)
            self._line.done(claimed)
            self._results.put((claimed, result))
            self._to_claim.set()

    # -- both ---------------------------------------------------------------------------------------------

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
