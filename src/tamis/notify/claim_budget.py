"""Distributes claims over endpoints and owners in the same proportions as the senders.

Claims are made ahead of the senders, so that no sender waits for the database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tamis.notify.breaker import Breakers, State
from tamis.notify.send_queue import owner_in
from tamis.notify.settings import Settings

AHEAD = 16  # claims for each sender


class ClaimBudget:
    """The claims of one round; a call for an endpoint's share uses it up."""

    def __init__(self, settings: Settings, breakers: Breakers, claimed: Iterable[str]) -> None:
        self._settings, self._breakers = settings, breakers
        self._by_endpoint = Counter(claimed)
        self._by_owner: Counter[str] = Counter()
        for endpoint, number in self._by_endpoint.items():
            self._by_owner[owner_in(endpoint)] += number

    @property
    def free(self) -> int:
        """The number of claims that can be made in all."""
        return max(0, AHEAD * self._settings.workers - self._by_endpoint.total())

    def room(self, endpoint: str) -> int:
        """Return the number of deliveries for ``endpoint``."""
        if self._breakers.state(endpoint) is State.OPEN:
            return 0
        owner = owner_in(endpoint)
        most = 1 if self._breakers.is_doubtful(endpoint) else AHEAD * self._settings.per_endpoint
        left = AHEAD * self._settings.per_owner - self._by_owner[owner]
        room = max(0, min(most - self._by_endpoint[endpoint], left))
        self._by_endpoint[endpoint] += room
        self._by_owner[owner] += room
        return room
