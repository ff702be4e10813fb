"""Compiles kernels, and keeps the code in files that any number of processes may read and write at once.

Numba numbers the files of a function and keeps an index of them. Two processes that compile different
signatures of one function at the same time may take the same number; then one of them, or a later process,
runs the code of the other signature. A process may also read a file that an older version of the source left
under a number that is new in the index. Here the name of each file is a digest of everything that decides its
content, so there is no index, and each file is written once and renamed into place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile


def kernel(
    function: Callable[..., Any] | None = None, *, inline: Literal["never", "always"] = "never"
) -> Any:
    """Decorate a function that Numba compiles when it is called, for each new signature once per machine."""
    if function is None:
        return lambda decorated: kernel(decorated, inline=inline)
    dispatcher: Any = njit(nogil=True, inline=inline)(function)
    if dispatcher is not function:  # it is if NUMBA_DISABLE_JIT is set
        dispatcher._cache = _KernelCache(function)
    return dispatcher


class _KernelCache(FunctionCache):
    """The cache of one kernel: that of Numba, but for the names of the files."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, locator.get_source_stamp())


class KernelFiles(IndexDataCacheFile):
    """The files of one kernel, one for each signature, processor and version of the sources."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code for ``key``."""
        self._save_data(self._name(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return the code for ``key``, or ``None`` if there is no file of it."""
        try:
            found, data = self._load_data(self._name(key))
        except OSError:
            return None
        return data if found == key else None

    def _name(self, key: Any) -> str:
        decisive = (self._version, self._source_stamp, _stamp_of_all_kernels(), key)
        digest = hashlib.sha256(repr(decisive).encode()).hexdigest()[:20]
        return f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"


@cache
def _stamp_of_all_kernels() -> list[tuple[str, int, int]]:
    """Return the time and size of all kernel sources: the code of a kernel contains that of its callees."""
    root = Path(__file__).parent
    files = sorted(root.rglob("_kernels.py"))
    return [(str(path.relative_to(root)), *_time_and_size(path)) for path in files]


def _time_and_size(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
