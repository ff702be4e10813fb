"""Counts events and matches in each of the last seconds."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

KEPT = 120  # seconds


class Rates:
    """Events and matches, second by second."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds: deque[list[int]] = deque(maxlen=KEPT)  # [second, events, matches]
        self.events = self.matches = 0

    def add(self, events: int, matches: int) -> None:
        """Count events and matches now."""
        second = int(self._clock())
        with self._lock:
            if not self._seconds or self._seconds[-1][0] != second:
                self._seconds.append([second, 0, 0])
            self._seconds[-1][1] += events
            self._seconds[-1][2] += matches
            self.events += events
            self.matches += matches

    def per_second(self, seconds: int = 60) -> list[dict[str, int]]:
        """Return the last complete seconds, oldest first, including empty ones."""
        with self._lock:
            counted = {second: (events, matches) for second, events, matches in self._seconds}
        until = int(self._clock())
        return [
            {"second": second, "events": counts[0], "matches": counts[1]}
            for second in range(until - seconds, until)
            for counts in [counted.get(second, (0, 0))]
        ]
