"""Computes the delay before a retry: exponential with jitter, and never less than the receiver least for."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tamis.errors import InputError


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential delays with full jitter; the defaults make fourteen attempts in about a day."""

    first: float = 10.0  # seconds; the longest delay before the second attempt
    factor: float = 3.0
    longest: float = 6 * 3_600.0
    attempts: int = 14

    def __post_init__(self) -> None:
        if not (0 < self.first <= self.longest and self.factor >= 1 and self.attempts >= 1):
            raise InputError(
                f"a backoff has 0 < first <= longest, factor >= 1 and attempts >= 1, unlike {self}"
            )

    def wait(self, attempts: int, least: float | None = None, rng: random.Random | None = None) -> float:
        """Return the seconds until the next attempt; ``least`` is the minimum that the receiver wants.

        The jitter covers the whole delay, so that a recovered receiver does not get all retries at once.
        """
        ceiling = min(self.longest, self.first * self.factor ** min(attempts - 1, 64))
        drawn = (rng or _rng).uniform(0, ceiling)
        return max(drawn, min(least or 0.0, self.longest))

    def is_spent(self, attempts: int) -> bool:
        """Return whether this was the last attempt."""
        return attempts >= self.attempts


_rng = random.Random()
