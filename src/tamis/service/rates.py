"""Rates: how often an owner may ask. Each process counts for itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class Bucket:
    """Fills at a steady rate up to one second's worth; may be overdrawn by one large helping."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._level, self._at = rate, clock()

    def wait(self) -> float:
        """Seconds until something may be taken; 0 if that is now."""
        self._fill()
        return max(0.0, (1.0 - self._level) / self.rate)

    def take(self, amount: float = 1.0) -> None:
        """Take some; more than there is makes the next one wait longer."""
        self._fill()
        self._level -= amount

    async def pause(self, amount: float) -> None:
        """Wait until something may be taken, and take it."""
        if (seconds := self.wait()) > 0:
            await asyncio.sleep(seconds)
        self.take(amount)

    def _fill(self) -> None:
        moment = self._clock()
        self._level = min(max(self.rate, 1.0), self._level + (moment - self._at) * self.rate)
        self._at = moment


class Buckets:
    """A bucket for each owner; its rate may change at any time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}

    def of(self, owner: str, rate: int) -> Bucket:
        """Return the bucket of an owner."""
        bucket = self._buckets.get(owner)
        if bucket is None:
            bucket = self._buckets[owner] = Bucket(rate, self._clock)
        bucket.rate = rate
        return bucket
