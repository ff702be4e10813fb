"""Wait for a running query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.waiting import eventually


def until(done: Callable[[], Any], query: Any) -> None:
    """Wait until the condition holds; fail if the query fails."""

    def is_sound() -> None:
        assert query.exception() is None, query.exception()

    eventually(done, is_sound, every=0.05)
