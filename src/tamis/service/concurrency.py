"""ConcurrencyLimiter: how many requests may be open at once, of one owner and of all together."""

from __future__ import annotations

from collections import Counter

from tamis.errors import RateExceeded, ServiceBusy


class ConcurrencyLimiter:
    """Room for what stays open for a while; one owner may take a share of it, not all."""

    def __init__(self, what: str, quota: str, limit: str, most: int) -> None:
        self._what, self._quota, self._limit, self._most = what, quota, limit, most
        self._held: Counter[str] = Counter()

    def take(self, owner: str, most: int) -> Place:
        """Return a place for an owner that may have ``most``; it is to be left in any case."""
        if self.count(owner) >= most:
            raise RateExceeded(
                f"{owner} may have {most} {self._what} open at once; end one, or wait",
                limit=self._quota,
                retry_after=1,
            )
        if self.count() >= self._most:
            raise ServiceBusy(f"too many {self._what} are open; ask again", limit=self._limit)
        self._held[owner] += 1
        return Place(self, owner)

    def count(self, owner: str | None = None) -> int:
        """Return how many are taken; by one owner or by all."""
        return self._held.total() if owner is None else self._held[owner]

    def free(self, owner: str) -> None:
        """One is left."""
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]


class Place:
    """One of them."""

    def __init__(self, places: ConcurrencyLimiter, owner: str) -> None:
        self._places, self._owner = places, owner

    def leave(self) -> None:
        """Let others have it."""
        self._places.free(self._owner)
