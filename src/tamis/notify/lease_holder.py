"""Names lease holders, so that notifiers on the same host can see whether the holder of a claim has died.

The name contains the process id, its start time, and where this id is valid: the boot of the host and the
container. The death of a holder on another host is unknown; its claims end with their lease.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def holder_name() -> str:
    """Return a unique name for a notifier of this process."""
    pid = os.getpid()
    return f"{os.uname().nodename}/{_pid_scope()}/{pid}/{_start_time(pid)}/{os.urandom(4).hex()}"


def is_dead(name: str) -> bool:
    """Return whether the process of that name is known to have ended."""
    parts = name.rsplit("/", 4)
    if (
        len(parts) != 5
        or not (parts[2].isascii() and parts[2].isdecimal())
        or not _pid_scope()
        or parts[1] != _pid_scope()
    ):
        return False
    return _start_time(int(parts[2])) != parts[3]


def _pid_scope() -> str:
    """Return the boot and the container in which process ids are valid, or an empty string if unknown."""
    with contextlib.suppress(OSError):
        return f"{_BOOT.read_text().strip()[:13]}-{os.stat('/proc/self/ns/pid').st_ino}"
    return ""


def _start_time(pid: int) -> str:
    """Return the start time of a process in clock ticks, or an empty string if there is none with this id."""
    with contextlib.suppress(OSError):
        # The program's name is in parentheses and may contain anything; the rest is numbers.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
