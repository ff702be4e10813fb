"""Announce compilation.

Kernels are compiled for the machine they run on and kept beside the package (or in ``NUMBA_CACHE_DIR``). The
first use ever takes some seconds; without a message it would look like a hang.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

log = logging.getLogger("tamis")
_said = False


def announce(kernel: Any) -> None:
    """Log once that kernels are being compiled, if ``kernel`` has never been compiled here."""
    global _said
    stats = getattr(kernel, "stats", None)  # a plain function when compilation is switched off
    if _said or stats is None or not stats.cache_path:
        return
    _said = True
    if not any(Path(stats.cache_path).glob(f"_kernels.{kernel.py_func.__name__}-*.nbc")):
        log.warning(
            "compiling the matching kernels for this machine; this happens once and takes some seconds"
        )
