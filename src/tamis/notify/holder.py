"""Who holds a claim: a name that no other notifier has, and from which its neighbours see that it died.

The name says which process it is, since when, and where processes are counted that way: this boot of this
machine, this container. Who died elsewhere is not known; there, claims end with their lease.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def own_name() -> str:
    """Return a name for a notifier of this process."""
    pid = os.getpid()
    return f"{os.uname().nodename}/{_place()}/{pid}/{_since(pid)}/{os.urandom(4).hex()}"


def is_dead(name: str) -> bool:
    """Return whether the process of that name is known to have ended."""
    parts = name.rsplit("/", 4)
    if (
        len(parts) != 5
        or not (parts[2].isascii() and parts[2].isdecimal())
        or not _place()
        or parts[1] != _place()
    ):
        return False
    return _since(int(parts[2])) != parts[3]


def _place() -> str:
    """Where a process's number means this process: empty if that cannot be told."""
    with contextlib.suppress(OSError):
        return f"{_BOOT.read_text().strip()[:13]}-{os.stat('/proc/self/ns/pid').st_ino}"
    return ""


def _since(pid: int) -> str:
    """When a process began, in ticks of the machine; empty if there is none of that number."""
    with contextlib.suppress(OSError):
        # The name of the program stands in parentheses and may hold anything; the rest is numbers.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
