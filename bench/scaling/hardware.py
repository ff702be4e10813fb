"""Measure this machine's memory: reads in order, anywhere, and one load after the other."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.scaling._kernels import follow, read_anywhere, read_in_order
from bench.timing import timed

_BYTES = 1 << 29
_LOADS = 2_000_000


def hardware(size: int = _BYTES, loads: int = _LOADS) -> dict[str, Any]:
    """Return GB/s in order, ns per cache line anywhere, ns per dependent load, and cache sizes."""
    rng = np.random.default_rng(1)
    words = rng.permutation(size // 8).astype(np.uint64)
    places = rng.integers(0, len(words), loads)
    for warm in (partial(read_in_order, words[:8]), partial(read_anywhere, words, places[:8])):
        warm()
    follow(words, 8)
    in_order = min(timed(partial(read_in_order, words), 3))
    anywhere = min(timed(partial(read_anywhere, words, places), 3))
    chased = min(timed(partial(follow, words, loads // 4), 3))
    return {
        "bandwidth_gb_s": size / in_order / 1e9,
        "anywhere_ns": anywhere / loads * 1e9,
        "latency_ns": chased / (loads // 4) * 1e9,
        "caches": caches(),
    }


def caches() -> dict[str, int]:
    """Return the bytes of each data cache of the first core, if this system reports them."""
    found = {}
    for place in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((place / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            found[f"L{level}"] = _bytes(size)
    return found


def _bytes(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)
