"""Queues claims for the senders in order of arrival, so that no endpoint or owner blocks the others.

Each endpoint and each owner can use a part of the senders. An endpoint in doubt (it failed or was slow last)
gets one sender, and all endpoints in doubt together get half.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable

from tamis.notify.breaker import Breakers
from tamis.notify.settings import Settings
from tamis.store.claims import Claimed

RECHECK_SECONDS = 0.25  # seconds until a sender checks again, since doubt may have passed


class SendQueue:
    """Queued claims and claims being sent; threads may share it."""

    def __init__(self, settings: Settings, breakers: Breakers) -> None:
        self._settings, self._breakers = settings, breakers
        # By endpoint; the endpoint served last moves to the end.
        self._waiting: dict[str, deque[Claimed]] = {}
        self._running: Counter[str] = Counter()
        self._owners: Counter[str] = Counter()
        self._is_closed = False
        self._changed = threading.Condition()

    def put(self, claimed: Iterable[Claimed]) -> None:
        """Add claims to the queue."""
        with self._changed:
            for one in claimed:
                self._waiting.setdefault(one.endpoint, deque()).append(one)
            self._changed.notify_all()

    def take(self) -> Claimed | None:
        """Wait for the next claim that may be sent; return ``None`` when the queue is closed and empty."""
        with self._changed:
            while (claimed := self._next()) is None:
                if self._is_closed and not self._waiting:
                    return None
                self._changed.wait(RECHECK_SECONDS)
            return claimed

    def done(self, claimed: Claimed) -> None:
        """Release the sender of a claim."""
        with self._changed:
            _less(self._running, claimed.endpoint)
            _less(self._owners, owner_in(claimed.endpoint))
            self._changed.notify_all()

    def close(self) -> None:
        """Close the queue; the queued claims are handed out at once, to be returned."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _next(self) -> Claimed | None:
        endpoint = next((name for name in self._waiting if self._is_closed or self._has_room(name)), None)
        if endpoint is None:
            return None
        queue = self._waiting.pop(endpoint)
        claimed = queue.popleft()
        if queue:
            self._waiting[endpoint] = queue
        self._running[endpoint] += 1
        self._owners[owner_in(endpoint)] += 1
        return claimed

    def _has_room(self, endpoint: str) -> bool:
        if self._owners[owner_in(endpoint)] >= self._settings.per_owner:
            return False
        if not self._breakers.is_doubtful(endpoint):
            return self._running[endpoint] < self._settings.per_endpoint
        doubtful = sum(map(self._breakers.is_doubtful, self._running))
        return not self._running[endpoint] and doubtful < max(1, self._settings.workers // 2)


def _less(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]


def owner_in(endpoint: str) -> str:
    """Return the owner, which is the first word of an endpoint's name."""
    return endpoint.partition(" ")[0]
