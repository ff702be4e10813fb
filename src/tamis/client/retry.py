"""Limits retries: the pauses grow, differ between clients, and end after a given time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from tamis.errors import TamisError

FIRST, LONGEST = 0.1, 5.0  # seconds


class RetryBudget:
    """The pauses between attempts, until ``seconds`` have passed since the first."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._until = clock, clock() + seconds
        self.attempts = 1

    def pause(self, error: TamisError) -> float | None:
        """Return the seconds to wait, at least those that the service asked for; ``None`` means give up."""
        longest = min(LONGEST, FIRST * 2.0 ** min(self.attempts - 1, 10))
        wait = longest * random.uniform(0.5, 1.0) + error.details.get("retry_after", 0.0)
        if self._clock() + wait > self._until:
            return None
        self.attempts += 1
        return float(wait)
