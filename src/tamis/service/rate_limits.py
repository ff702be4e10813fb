"""Limits request rates per owner with token buckets; each process counts on its own."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from tamis.errors import RateExceeded


class TokenBucket:
    """A token bucket that holds one second's worth of tokens; one large amount may overdraw it."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._level, self._at = rate, clock()

    def wait(self) -> float:
        """Return the seconds until a token is available, or 0."""
        self._fill()
        return max(0.0, (1.0 - self._level) / self.rate)

    def check(self, message: str, limit: str) -> None:
        """Raise ``RateExceeded`` if no token is available."""
        if (seconds := self.wait()) > 0:
            raise RateExceeded(message, limit=limit, retry_after=math.ceil(seconds))

    def take(self, amount: float = 1.0) -> None:
        """Take tokens; an overdrawn bucket makes the next caller wait longer."""
        self._fill()
        self._level -= amount

    async def pause(self, amount: float) -> None:
        """Wait until a token is available, then take the amount."""
        if (seconds := self.wait()) > 0:
            await asyncio.sleep(seconds)
        self.take(amount)

    def _fill(self) -> None:
        moment = self._clock()
        self._level = min(max(self.rate, 1.0), self._level + (moment - self._at) * self.rate)
        self._at = moment


class TokenBuckets:
    """A token bucket for each owner; the rate may change at any time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}

    def of(self, owner: str, rate: int) -> TokenBucket:
        """Return the bucket of an owner."""
        bucket = self._buckets.get(owner)
        if bucket is None:
            bucket = self._buckets[owner] = TokenBucket(rate, self._clock)
        bucket.rate = rate
        return bucket
