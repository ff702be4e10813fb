"""Keep a few recently matched events, so that a merge lays out the index for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from tamis.values.event import Event

KEPT = 512
ENOUGH = 256  # with fewer, the user's sample is the better evidence
EVERY = 64  # one of this many single events is kept
PER_BATCH = 4  # rows kept of a batch; only one if there are enough


class Recent:
    """The latest events, thinned out. If threads offer events at the same time, at worst one is lost."""

    def __init__(self) -> None:
        self._events: deque[Any] = deque(maxlen=KEPT)
        self._offered = 0

    def one(self, event: Any) -> None:
        """Offer a single event."""
        self._offered += 1
        if not self._offered % EVERY:
            self._events.append(event)

    def batch(self, count: int, refused: set[int], event_at: Callable[[int], Event]) -> None:
        """Offer the events of a batch."""
        most = 1 if len(self._events) >= ENOUGH else PER_BATCH
        for row in range(0, count, -(-count // most) or 1):
            if row not in refused:
                self._events.append(event_at(row))

    def sample(self) -> list[Any] | None:
        """Return the kept events; ``None`` if they are too few for a layout."""
        kept = list(self._events)
        return kept if len(kept) >= ENOUGH else None

    def few(self) -> list[Any]:
        """Return the kept events, even if they are few."""
        return list(self._events)
