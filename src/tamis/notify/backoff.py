"""When to try again: ever longer, at random within that, and never before the receiver asked for it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tamis.errors import InputError


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential waits with full jitter: with these numbers, fourteen attempts in about a day."""

    first: float = 10.0  # seconds; the most that the second attempt waits
    factor: float = 3.0
    longest: float = 6 * 3_600.0
    attempts: int = 14

    def __post_init__(self) -> None:
        if not (0 < self.first <= self.longest and self.factor >= 1 and self.attempts >= 1):
            raise InputError(
                f"a backoff has 0 < first <= longest, factor >= 1 and attempts >= 1, unlike {self}"
            )

    def wait(self, attempts: int, asked: float | None = None, chance: random.Random | None = None) -> float:
        """Seconds until the next attempt, after so many; ``asked`` is what the receiver wants at least.

        Jitter is over the whole stretch: receivers that came back are not met by all at once.
        """
        ceiling = min(self.longest, self.first * self.factor ** min(attempts - 1, 64))
        drawn = (chance or _chance).uniform(0, ceiling)
        return max(drawn, min(asked or 0.0, self.longest))

    def is_spent(self, attempts: int) -> bool:
        """Return whether that was the last attempt."""
        return attempts >= self.attempts


_chance = random.Random()
