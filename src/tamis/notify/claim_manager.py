"""The desk: where claims are made, and results written down, in one transaction for all that wait.

When the store is away, results are kept for the next time.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

from sqlalchemy.engine import Connection

from tamis.failpoint import failpoint
from tamis.notify.breaker import Breakers, State
from tamis.notify.claim_budget import ClaimBudget
from tamis.notify.holder import is_dead, own_name
from tamis.notify.metrics import NotifyMetrics
from tamis.notify.sending import SECOND
from tamis.notify.settings import Settings
from tamis.store import Store, claims, deliveries
from tamis.store.claims import Claimed, ClaimRequest, Result

LOOK = 5.0  # seconds between looks at the lag, and at claims that nobody came back for


class ClaimManager:
    """The claims of one notifier; used by one thread, but for :meth:`finished`."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        breakers: Breakers,
        metrics: NotifyMetrics,
        clock: Callable[[], int],
    ) -> None:
        self._store, self._settings, self._breakers = store, settings, breakers
        self._metrics, self._clock = metrics, clock
        self.name = own_name()
        self._claims: dict[int, str] = {}  # endpoints, by delivery
        self._results: queue.SimpleQueue[tuple[Claimed, Result]] = queue.SimpleQueue()
        self._unwritten: list[tuple[Claimed, Result]] = []
        self._after = ""  # the endpoint whose turn was last
        self._looked = -LOOK

    @property
    def is_clear(self) -> bool:
        """Whether nothing is claimed, and everything is written down."""
        return not self._claims and not self._unwritten

    def finished(self, claimed: Claimed, result: Result) -> None:
        """What became of a claim."""
        self._results.put((claimed, result))

    def exchange(self, wants_more: bool) -> list[Claimed]:
        """Write down results, and claim what there is room for."""
        self._collect()
        at = self._clock()
        shares = ClaimBudget(self._settings, self._breakers, self._claims.values())
        wants_more = wants_more and shares.free > 0 and self._is_due(at)
        if not self._unwritten and not wants_more:
            return []
        with self._store.database.writing() as connection:
            claims.record(connection, self.name, [result for _, result in self._unwritten], at)
            self._bury(connection, at)
            taken, after = self._claim(connection, shares, at) if wants_more else ([], self._after)
        failpoint("notify.after_claim")
        self._after = after
        self._unwritten.clear()
        self._claims |= {one.id: one.endpoint for one in taken}
        self._metrics.state(len(self._claims), self._breakers.count_open())
        return taken

    def _collect(self) -> None:
        while not self._results.empty():
            claimed, result = self._results.get()
            self._unwritten.append((claimed, result))
            del self._claims[claimed.id]

    def _is_due(self, at: int) -> bool:
        with self._store.database.reading() as connection:
            first = claims.next_due(connection)
        return first is not None and first <= at

    def _claim(self, connection: Connection, shares: ClaimBudget, at: int) -> tuple[list[Claimed], str]:
        until = at + int(self._settings.lease_seconds * SECOND)
        ask = ClaimRequest(self.name, until, shares.free, shares.room, self._after)
        taken, after = claims.claim(connection, ask, at)
        if not taken and self._after:  # the turn began in the middle
            taken, after = claims.claim(connection, ask._replace(after=""), at)
        return taken, after

    def _bury(self, connection: Connection, at: int) -> None:
        """What is too old for an endpoint that does not answer is given up, without a try for each."""
        before = at - int(self._settings.give_up_seconds * SECOND)
        failed = {claimed.endpoint: result.error for claimed, result in self._unwritten if result.error}
        for endpoint, error in failed.items():
            if self._breakers.state(endpoint) is State.OPEN:
                claims.give_up(connection, endpoint, before, f"given up: {error}", at)

    def look(self) -> bool:
        """Now and then: see how far behind all are; free what nobody came back for; whether that was any."""
        if time.monotonic() - self._looked < LOOK:
            return False
        self._looked = time.monotonic()
        at = self._clock()
        self._metrics.state(len(self._claims), self._breakers.count_open())
        with self._store.database.reading() as connection:
            self._metrics.lag(deliveries.lag(connection, at))
            ends = claims.holders(connection)
        dead = [name for name in ends if name != self.name and is_dead(name)]
        if not dead and all(end >= at for end in ends.values()):
            return False
        with self._store.database.writing() as connection:
            self._metrics.freed(claims.release(connection, dead, self._settings.backoff.attempts, at))
        return True
