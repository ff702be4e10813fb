"""Name places in the code where a test can make the process fail; they do nothing unless armed.

A test arms one in its own process with :func:`arm`, and in a process that it starts with the environment
variable ``TAMIS_FAILPOINT=name`` or ``name:3``: the third time that the place is passed, the process ends at
once, as by ``kill -9``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

VARIABLE = "TAMIS_FAILPOINT"

_armed: dict[str, Callable[[], None]] = {}


def failpoint(name: str) -> None:
    """Run the action that a test has armed here, if any."""
    if _armed and name in _armed:
        _armed[name]()


def arm(name: str, action: Callable[[], None]) -> None:
    """Make ``failpoint(name)`` call ``action``."""
    _armed[name] = action


def disarm() -> None:
    """Switch all failpoints off."""
    _armed.clear()


def _arm_from_environment() -> None:
    name, _, times = os.environ.get(VARIABLE, "").partition(":")
    if name:
        left = [int(times or 1)]

        def die() -> None:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        arm(name, die)


_arm_from_environment()
