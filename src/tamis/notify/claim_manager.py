"""Makes claims and records results, in one transaction for all pending results.

While the store is unavailable, results are kept for the next attempt.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

from sqlalchemy.engine import Connection

from tamis.failpoint import failpoint
from tamis.notify.breaker import Breakers, State
from tamis.notify.claim_budget import ClaimBudget
from tamis.notify.lease_holder import holder_name, is_dead
from tamis.notify.metrics import NotifyMetrics
from tamis.notify.sender import SECOND
from tamis.notify.settings import Settings
from tamis.store import Store, claims, deliveries
from tamis.store.claims import Claimed, ClaimRequest, Result

MAINTENANCE_SECONDS = 5.0  # seconds between updates of the lag, and releases of expired claims


class ClaimManager:
    """The claims of one notifier; only one thread may use it, except for :meth:`finished`."""

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
        self.name = holder_name()
        self._claims: dict[int, str] = {}  # endpoints, by delivery
        self._results: queue.SimpleQueue[tuple[Claimed, Result]] = queue.SimpleQueue()
        self._unwritten: list[tuple[Claimed, Result]] = []
        self._after = ""  # the endpoint served last
        self._maintained = -MAINTENANCE_SECONDS

    @property
    def is_clear(self) -> bool:
        """Whether nothing is claimed and all results are recorded."""
        return not self._claims and not self._unwritten

    def finished(self, claimed: Claimed, result: Result) -> None:
        """Accept the result of a claim."""
        self._results.put((claimed, result))

    def record_and_claim(self, wants_more: bool) -> list[Claimed]:
        """Record results, and claim deliveries within the budget; return the new claims."""
        self._collect()
        at = self._clock()
        budget = ClaimBudget(self._settings, self._breakers, self._claims.values())
        wants_more = wants_more and budget.free > 0 and self._is_due(at)
        if not self._unwritten and not wants_more:
            return []
        with self._store.database.writing() as connection:
            claims.record(connection, self.name, [result for _, result in self._unwritten], at)
            self._give_up_old(connection, at)
            claimed, after = self._claim(connection, budget, at) if wants_more else ([], self._after)
        failpoint("notify.after_claim")
        self._after = after
        self._unwritten.clear()
        self._claims |= {one.id: one.endpoint for one in claimed}
        self._metrics.state(len(self._claims), self._breakers.count_open())
        return claimed

    def _collect(self) -> None:
        while not self._results.empty():
            claimed, result = self._results.get()
            self._unwritten.append((claimed, result))
            del self._claims[claimed.id]

    def _is_due(self, at: int) -> bool:
        with self._store.database.reading() as connection:
            first = claims.next_due(connection)
        return first is not None and first <= at

    def _claim(self, connection: Connection, budget: ClaimBudget, at: int) -> tuple[list[Claimed], str]:
        until = at + int(self._settings.lease_seconds * SECOND)
        request = ClaimRequest(self.name, until, budget.free, budget.room, self._after)
        claimed, after = claims.claim(connection, request, at)
        if not claimed and self._after:  # the round began in the middle of the endpoints
            claimed, after = claims.claim(connection, request._replace(after=""), at)
        return claimed, after

    def _give_up_old(self, connection: Connection, at: int) -> None:
        """Give up old deliveries to endpoints that do not answer, without an attempt for each."""
        before = at - int(self._settings.give_up_seconds * SECOND)
        failed = {claimed.endpoint: result.error for claimed, result in self._unwritten if result.error}
        for endpoint, error in failed.items():
            if self._breakers.state(endpoint) is State.OPEN:
                claims.give_up(connection, endpoint, before, f"given up: {error}", at)

    def maintain(self) -> bool:
        """Update lag metrics and release expired claims. Return whether any claim was released."""
        if time.monotonic() - self._maintained < MAINTENANCE_SECONDS:
            return False
        self._maintained = time.monotonic()
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
