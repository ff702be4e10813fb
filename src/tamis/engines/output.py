"""Collect the pairs of a kernel that stops when its output is full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tamis.engines.protocol import Candidates
from tamis.space.located import Located

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


class Buffers(Protocol):
    """Scratch memory whose room for hits can grow."""

    def __iter__(self) -> Iterator[Any]: ...

    def with_hits(self, room: int) -> Self:
        """Return the same buffers with room for more hits."""
        ...


Scratch = TypeVar("Scratch", bound=Buffers)


def run_kernel(kernel: Any, events: Located, arrays: tuple[Any, ...]) -> Candidates:
    """Return all pairs that a kernel finds; it adds to ``work``: probed, verified, visited."""
    work = np.zeros(3, np.int64)

    def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
        done: tuple[int, int] = kernel(begin, events.count, *events, *arrays, out_event, out_clause, work)
        return done

    event, clause = collect(events.count, run)
    return Candidates(event, clause, *work.tolist())


def run_growing(
    kernel: Any, events: Located, scratch: Scratch, arrays: tuple[Any, ...], room: Room
) -> tuple[Candidates, Scratch]:
    """Return all pairs that a kernel finds, and the scratch memory, with as much room as it asked for.

    The kernel adds to ``work`` (probed, verified, –, visited) and asks for more hits in ``work[2]``.
    """
    work = np.zeros(5, np.int64)

    def run(begin: int, out_event: Any, out_clause: Any) -> tuple[int, int]:
        nonlocal scratch
        if work[2]:
            scratch, work[2] = scratch.with_hits(int(work[2])), 0
        done: tuple[int, int] = kernel(
            begin, events.count, *events, *scratch, *arrays, out_event, out_clause, work
        )
        return done

    event, clause = collect(events.count, run, room.each)
    room.learn(events.count, len(event))
    return Candidates(event, clause, int(work[0]), int(work[1]), int(work[3])), scratch
