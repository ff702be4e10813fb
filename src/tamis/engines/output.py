"""Collect the pairs of a kernel that stops when its output is full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Run = Callable[[int, Any, Any], tuple[int, int]]
Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
FIRST_ROOM = 1 << 12
MOST_EACH = 1 << 12
FEW = 64  # fewer events say little about the number of matches of the next ones


class Room:
    """The expected number of matches per event: that of earlier batches plus a quarter."""

    def __init__(self) -> None:
        self.each = 16

    def learn(self, events: int, pairs: int) -> None:
        """Take the matches of a batch into account."""
        if events >= FEW:
            self.each = min(max(self.each, 5 * pairs // (4 * events)), MOST_EACH)


def collect(events: int, run: Run, each: int = 16) -> Pairs:
    """Call ``run(begin, out_event, out_clause)`` until all events are done, with more room each time.

    The first call has room for ``each`` pairs per event.
    """
    room = max(FIRST_ROOM, each * events)
    out_event, out_clause = np.empty(room, np.int64), np.empty(room, np.int64)
    begin, written = run(0, out_event, out_clause)
    if begin == events:
        return out_event[:written], out_clause[:written]
    parts: list[Pairs] = [(out_event[:written], out_clause[:written])]
    while begin < events:
        room *= 4
        out_event, out_clause = np.empty(room, np.int64), np.empty(room, np.int64)
        begin, written = run(begin, out_event, out_clause)
        parts.append((out_event[:written], out_clause[:written]))
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
