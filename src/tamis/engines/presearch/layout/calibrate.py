"""Measure the three times of the cost function on this machine with a short run of the kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tamis.engines.presearch.layout._kernels import run_ands, run_checks, run_outputs

_ROUNDS = 3
_RUNS = 4_096
_ROWS = 1 << 12  # the terms that are ANDed most: the more frequent ones of a query
_CLAUSES = 1 << 19  # more than the nearer caches hold, as in a book worth searching
_SIZE = 3  # literals of a clause
_CELLS = 1 << 15
_ENTRIES = 512  # of a document


class Times(NamedTuple):
    """Nanoseconds to evaluate a candidate, to AND a bit array, and to read the matches from one."""

    check: float
    one_and: float
    avoid: float


def times(check: float, one_and: float, avoid: float, batch: int) -> Times:
    """Return the given times; measure those that are 0 (once per process and batch size)."""
    given = Times(check, one_and, avoid)
    if min(given) > 0.0:
        return given
    return Times(*(known or found for known, found in zip(given, measured(-(-batch // 64)), strict=True)))


@lru_cache
def measured(width: int) -> Times:
    """Run the calibration for bit arrays of ``width`` words and return the times."""
    chance = np.random.default_rng(0)
    bits = np.full(_ROWS * width, 3, np.uint64)
    words = np.arange(width)
    partial = np.full(2 * width, np.uint64(0xFFFFFFFFFFFFFFFF))
    one_and = _fastest(lambda rows: run_ands(rows, bits, width, partial, words), chance, _ROWS) / _RUNS
    literal = np.ones((_CLAUSES * _SIZE, 4), np.uint16)
    literal[:, 0], literal[:, 1] = np.arange(len(literal)) % _CELLS, 0
    literal.setflags(write=False)
    start = np.arange(0, len(literal) + 1, _SIZE, dtype=np.uint32)
    cell, entries = np.ones(_CELLS, np.uint32), chance.integers(0, _CELLS, _ENTRIES)
    flat = literal.reshape(-1)
    check = _fastest(lambda picked: run_checks(picked, start, flat, cell, entries), chance, _CLAUSES) / _RUNS
    decided, hits = np.ones(1, np.uint8), np.empty(64 * (width + 1), np.int64)
    partial[:] = 0
    partial[0] = 1
    avoid = _fastest(lambda _: run_outputs(_RUNS, decided, partial, words, hits), chance, 1) / _RUNS
    return Times(check, one_and, avoid)


def _fastest(run: Callable[[Any], Any], chance: np.random.Generator, among: int) -> float:
    """Return the nanoseconds of the fastest of a few runs, each over other rows, after one that compiles."""
    spent = []
    for _ in range(_ROUNDS + 1):
        picked = chance.integers(0, among, _RUNS)
        begin = time.perf_counter_ns()
        run(picked)
        spent.append(time.perf_counter_ns() - begin)
    return float(max(min(spent[1:]), 1))
