"""Waiting for a query that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.waiting import eventually


def until(done: Callable[[], Any], query: Any) -> None:
    """Until it is done, unless the query fails."""

    def is_sound() -> None:
        assert query.exception() is None, query.exception()

    eventually(done, is_sound, every=0.05)
