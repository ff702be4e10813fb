"""The desk: what is claimed here, and how much more may be.

Claims are made ahead, some for each sender, so that none waits for the database. Endpoints and owners get
their part of them as they get their part of the senders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tamis.notify.breaker import Breakers, State
from tamis.notify.line import owner_in
from tamis.notify.settings import Settings
from tamis.store.claims import Claimed

AHEAD = 4  # claims for each sender


class Desk:
    """Counts claims; used by one thread."""

    def __init__(self, settings: Settings, breakers: Breakers) -> None:
        self._settings, self._breakers = settings, breakers
        self._claims: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._claims)

    @property
    def free(self) -> int:
        """Claims that can be made."""
        return AHEAD * self._settings.workers - len(self._claims)

    def take(self, claimed: Iterable[Claimed]) -> None:
        """These are being worked on."""
        self._claims |= {one.id: one.endpoint for one in claimed}

    def done(self, identity: int) -> None:
        """It is over."""
        self._claims.pop(identity, None)

    def shares(self) -> Shares:
        """What each endpoint may get in the next claim."""
        return Shares(self._settings, self._breakers, list(self._claims.values()))


class Shares:
    """The shares of one claim; asking for an endpoint's share gives it away."""

    def __init__(self, settings: Settings, breakers: Breakers, endpoints: list[str]) -> None:
        self._settings, self._breakers = settings, breakers
        self._by_endpoint = Counter(endpoints)
        self._by_owner = Counter(map(owner_in, endpoints))

    def room(self, endpoint: str) -> int:
        """Deliveries that ``endpoint`` gets."""
        if self._breakers.state(endpoint) is State.OPEN:
            return 0
        owner = owner_in(endpoint)
        most = 1 if self._breakers.is_doubtful(endpoint) else AHEAD * self._settings.per_endpoint
        left = AHEAD * self._settings.per_owner - self._by_owner[owner]
        room = max(0, min(most - self._by_endpoint[endpoint], left))
        self._by_endpoint[endpoint] += room
        self._by_owner[owner] += room
        return room
