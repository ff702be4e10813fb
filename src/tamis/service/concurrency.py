"""Limits how many requests may be open at once, for one owner and for all owners together."""

from __future__ import annotations

from collections import Counter

from tamis.errors import RateExceeded, ServiceBusy


class ConcurrencyLimiter:
    """A limit of open requests or streams; each owner may use only a part of it."""

    def __init__(self, what: str, quota: str, limit: str, most: int) -> None:
        self._what, self._quota, self._limit, self._most = what, quota, limit, most
        self._held: Counter[str] = Counter()

    def acquire(self, owner: str, most: int) -> Slot:
        """Return a slot for an owner that may hold ``most``; the caller must release it."""
        if self.count(owner) >= most:
            raise RateExceeded(
                f"{owner} may have {most} {self._what} open at once; end one, or wait",
                limit=self._quota,
                retry_after=1,
            )
        if self.count() >= self._most:
            raise ServiceBusy(f"too many {self._what} are open; ask again", limit=self._limit)
        self._held[owner] += 1
        return Slot(self, owner)

    def count(self, owner: str | None = None) -> int:
        """Return the number of slots in use, by one owner or by all."""
        return self._held.total() if owner is None else self._held[owner]

    def _free(self, owner: str) -> None:
        """Return an owner's slot."""
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]


class Slot:
    """A slot in use."""

    def __init__(self, limiter: ConcurrencyLimiter, owner: str) -> None:
        self._limiter, self._owner = limiter, owner

    def release(self) -> None:
        """Release the slot."""
        self._limiter._free(self._owner)
