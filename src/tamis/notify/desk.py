"""The desk: what is claimed here, for whom, and how much more may be.

A slow or dead receiver must not hold up others. So an endpoint and an owner get a part of the senders, an
endpoint in doubt gets one, and all endpoints in doubt together get half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tamis.notify.breaker import Breakers, State
from tamis.notify.settings import Settings
from tamis.store.claims import Claimed


class Desk:
    """Counts claims by endpoint and owner; used by one thread."""

    def __init__(self, settings: Settings, breakers: Breakers) -> None:
        self._settings, self._breakers = settings, breakers
        self._claims: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._claims)

    @property
    def free(self) -> int:
        """Claims that can be made: one for each sender, and one that waits behind it."""
        return 2 * self._settings.workers - len(self._claims)

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
        self._doubtful = sum(map(breakers.is_doubtful, endpoints))

    def room(self, endpoint: str) -> int:
        """Deliveries that ``endpoint`` gets."""
        if self._breakers.state(endpoint) is State.OPEN:
            return 0
        owner, most = owner_in(endpoint), self._settings.per_endpoint
        is_doubtful = self._breakers.is_doubtful(endpoint)
        if is_doubtful:
            most = min(1, max(1, self._settings.workers // 2) - self._doubtful)
        room = min(most - self._by_endpoint[endpoint], self._settings.per_owner - self._by_owner[owner])
        if room <= 0:
            return 0
        self._by_endpoint[endpoint] += room
        self._by_owner[owner] += room
        self._doubtful += room if is_doubtful else 0
        return room


def owner_in(endpoint: str) -> str:
    """The owner, with whose name an endpoint's begins."""
    return endpoint.partition(" ")[0]
