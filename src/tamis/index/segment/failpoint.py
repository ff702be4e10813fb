"""Failpoints: named places where a test may make the process fail. Off unless armed."""

from __future__ import annotations

from collections.abc import Callable

_armed: dict[str, Callable[[], None]] = {}


def failpoint(name: str) -> None:
    """Do what a test armed ``name`` with; normally nothing."""
    if _armed and name in _armed:
        _armed[name]()


def arm(name: str, action: Callable[[], None]) -> None:
    """Make ``failpoint(name)`` call ``action``."""
    _armed[name] = action


def disarm() -> None:
    """Switch all failpoints off."""
    _armed.clear()
