"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 30.0  # seconds until a test gives up


def eventually(
    holds: Callable[[], Any],
    seconds: float = PATIENCE,
    meanwhile: Callable[[], Any] = lambda: None,
    every: float = 0.01,
) -> Any:
    """What ``holds`` says as soon as it is true; ``meanwhile`` may see that it never will be."""
    until = time.monotonic() + seconds
    while not (found := holds()):
        meanwhile()
        assert time.monotonic() < until, "it did not come true"
        time.sleep(every)
    return found
