"""Measure the memory of this process and all below it over time; shared pages are divided among them."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

EVERY = 2.0


def tree(root: int) -> list[int]:
    """Return a process and all below it."""
    below: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            below.setdefault(parent, []).append(int(folder.name))
    found, left = [], [root]
    while left:
        found.append(left.pop())
        left += below.get(found[-1], [])
    return found


def memory_of(process: int) -> dict[str, int]:
    """Return proportional, private and shared bytes of a process; nothing once it has ended."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    return {}


def command_of(process: int) -> str:
    """Return the command line of a process, as ``ps`` shows it."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


class Memory:
    """A sampler that runs every two seconds inside its block.

    ``line`` has (seconds, bytes of Java, bytes of Python).
    """

    def __init__(self) -> None:
        self.line: list[tuple[float, int, int]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        self._began = time.monotonic()
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(EVERY):
            held = {True: 0, False: 0}
            for process in tree(os.getpid()):
                # Pages of files, such as the index, belong to the page cache; only anonymous memory can leak.
                held["java" in command_of(process)[:200]] += memory_of(process).get("Anonymous", 0)
            self.line.append((time.monotonic() - self._began, held[True], held[False]))
