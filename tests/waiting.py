"""Wait for conditions that other threads and processes bring about.

A test that waits for a condition fails only when the condition never holds: there is one deadline, and it is
so long that a busy machine does not reach it. No other test file names a number of seconds to wait.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 120.0  # seconds until a test gives up


def eventually(
    holds: Callable[[], Any],
    meanwhile: Callable[[], Any] = lambda: None,
    every: float = 0.01,
    progress: Callable[[], Any] = lambda: None,
) -> Any:
    """Return the value of ``holds`` as soon as it is true.

    ``meanwhile`` runs between two checks and may raise. Long work shows its ``progress``: whenever that value
    changes, the deadline starts again.
    """
    seen, until = progress(), time.monotonic() + PATIENCE
    while not (found := holds()):
        meanwhile()
        if (now := progress()) != seen:
            seen, until = now, time.monotonic() + PATIENCE
        assert time.monotonic() < until, f"it did not come true in {PATIENCE:.0f} seconds"
        time.sleep(every)
    return found


@contextmanager
def ending() -> Iterator[None]:
    """Fail when the block does not end: for work that a defect would make endless."""

    def give_up(*_: object) -> None:
        raise AssertionError(f"it did not end in {PATIENCE:.0f} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
