"""Makes one attempt to send a claim and returns its result; no error gets past it."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable

from tamis.contract.delivery import Delivery, stored_delivery
from tamis.errors import DeliveryError, SendFailed, SendRefused, StoreError, TamisError
from tamis.failpoint import failpoint
from tamis.notify.breaker import Breakers, State
from tamis.notify.message_builder import message_of
from tamis.notify.metrics import NotifyMetrics
from tamis.notify.settings import Settings
from tamis.notify.transports import Transports
from tamis.store import Store
from tamis.store.claims import Claimed, Result
from tamis.store.deliveries import DEAD, DELIVERED, WAITING

SECOND = 1_000_000
ERROR_CHARACTERS = 500

_log = logging.getLogger(__name__)


class Sender:
    """Sends claims; threads may share it."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        breakers: Breakers,
        metrics: NotifyMetrics,
        clock: Callable[[], int],
        rng: random.Random,
    ) -> None:
        self._store, self._settings, self._breakers, self._metrics = store, settings, breakers, metrics
        self._clock, self._rng = clock, rng
        self._transports = Transports(settings)

    def close(self) -> None:
        """Close all connections."""
        self._transports.close()

    def check(self, delivery: Delivery) -> None:
        """Raise the reason why ``delivery`` cannot be sent, as far as the settings show it."""
        self._transports.check(delivery)

    def attempt(self, claimed: Claimed, until: int) -> Result:
        """Send a claim, unless the rest of the lease is too short or a breaker is open."""
        at = self._clock()
        if at + self._settings.longest_send * SECOND > until:
            return self._given_back(claimed, at)
        if self._breakers.state(claimed.endpoint) is State.OPEN:
            return self._given_back(claimed, int(self._breakers.reopens(claimed.endpoint) * SECOND))
        began = time.monotonic()
        try:
            self._send(claimed)
        except StoreError as away:
            _log.warning("a delivery waits for the store: %s", away.message)
            return self._given_back(claimed, at)
        except Exception as bad:
            return self._failed(claimed, bad, time.monotonic() - began)
        failpoint("notify.after_send")
        seconds = time.monotonic() - began
        self._breakers.succeeded(claimed.endpoint, seconds)
        self._record(claimed, DELIVERED, seconds)
        return Result(claimed.id, DELIVERED, self._clock())

    def _send(self, claimed: Claimed) -> None:
        try:
            delivery = stored_delivery(claimed.delivery)
        except DeliveryError as bad:  # its transport is not installed here
            raise SendFailed(bad.message) from None
        message = message_of(claimed, self._store, self._settings.limits)
        self._transports[delivery.transport].send(delivery, message)

    def _given_back(self, claimed: Claimed, due: int) -> Result:
        self._metrics.returned()
        return Result(claimed.id, WAITING, due, was_tried=False)

    def _failed(self, claimed: Claimed, bad: Exception, seconds: float) -> Result:
        at, error = self._clock(), reason_of(bad)
        if isinstance(bad, SendRefused):
            if "status" in bad.details:  # it answered, so the endpoint works
                self._breakers.succeeded(claimed.endpoint, seconds)
            self._record(claimed, DEAD, seconds, error)
            return Result(claimed.id, DEAD, at, error)
        if isinstance(bad, TamisError):
            self._breakers.failed(claimed.endpoint)
        else:  # a defect of ours, not the endpoint's fault
            _log.exception("a message to %s failed: this is a defect", claimed.endpoint)
        if self._is_hopeless(claimed, at):
            self._record(claimed, DEAD, seconds, error)
            return Result(claimed.id, DEAD, at, error)
        asked = bad.retry_after if isinstance(bad, SendFailed) else None
        wait = self._settings.backoff.wait(claimed.attempts, asked, self._rng)
        self._record(claimed, WAITING, seconds, error, wait)
        return Result(claimed.id, WAITING, at + int(wait * SECOND), error)

    def _is_hopeless(self, claimed: Claimed, at: int) -> bool:
        age = (at - claimed.ordered_at) / SECOND
        return self._settings.backoff.is_spent(claimed.attempts) or age > self._settings.give_up_seconds

    def _record(
        self, claimed: Claimed, state: str, seconds: float, error: str = "", wait: float = 0.0
    ) -> None:
        result = {DELIVERED: "delivered", DEAD: "dead", WAITING: "failed"}[state]
        self._metrics.attempted(claimed.transport, result, seconds)
        fields = {
            "id": f"msg_{claimed.outbox_id}",
            "owner": claimed.owner,
            "subscription": claimed.subscription_id,
            "transport": claimed.transport,
            "attempt": claimed.attempts,
            "ms": round(seconds * 1_000, 2),
        }
        if error:
            fields |= {"error": error, "wait": round(wait, 1)}
        level = logging.INFO if state == DELIVERED else logging.WARNING
        _log.log(level, "%s", result, extra={"fields": fields})


def reason_of(bad: Exception) -> str:
    """Return the reason for a dead letter in one bounded line."""
    said = f"{bad.code}: {bad.message}" if isinstance(bad, TamisError) else f"{type(bad).__name__}: {bad}"
    return " ".join(said.replace("\0", "").split())[:ERROR_CHARACTERS]
