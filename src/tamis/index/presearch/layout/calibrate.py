"""The three times of the cost function, measured on this machine by a short run of the kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tamis.index.presearch.layout._kernels import run_ands, run_checks, run_outputs

_ROUNDS = 3
_RUNS = 4_096
_ROWS = 1 << 15  # terms of a batch
_CLAUSES = 1 << 18  # more than the nearer caches hold, as in a book worth searching
_SIZE = 3  # literals of a clause


class Times(NamedTuple):
    """Nanoseconds: to evaluate a candidate, to AND a bit array, to read the matches from one."""

    check: float
    one_and: float
    avoid: float


def times(check: float, one_and: float, avoid: float, batch: int) -> Times:
    """The given times; those that are 0 are measured (once per process and batch size)."""
    given = Times(check, one_and, avoid)
    if min(given) > 0.0:
        return given
    return Times(*(known or found for known, found in zip(given, measured(-(-batch // 64)), strict=True)))


@lru_cache
def measured(width: int) -> Times:
    """The calibration run for bit arrays of ``width`` words."""
    chance = np.random.default_rng(0)
    bits = np.full(_ROWS * width, 3, np.uint64)
    words = np.arange(width)
    partial = np.full(2 * width, np.uint64(0xFFFFFFFFFFFFFFFF))
    rows = chance.integers(0, _ROWS, _RUNS)
    one_and = _fastest(lambda: run_ands(rows, bits, width, partial, words)) / _RUNS
    literal = np.ones((_CLAUSES * _SIZE, 4), np.uint32)
    literal[:, 0], literal[:, 1] = np.arange(len(literal)) * 40_503 % _CLAUSES, 0
    literal.setflags(write=False)
    cell = np.ones(_CLAUSES, np.uint32)
    clauses = chance.integers(0, _CLAUSES, _RUNS)
    check = _fastest(lambda: run_checks(clauses, _SIZE, literal.reshape(-1), cell)) / _RUNS
    decided, hits = np.ones(1, np.uint8), np.empty(64 * (width + 1), np.int64)
    partial[:] = 0
    partial[0] = 1
    avoid = _fastest(lambda: run_outputs(_RUNS, decided, partial, words, hits)) / _RUNS
    return Times(check, one_and, avoid)


def _fastest(run: Callable[[], Any]) -> float:
    """Nanoseconds of the quickest of a few runs; one more before compiles the kernel."""
    run()
    spent = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter_ns()
        run()
        spent.append(time.perf_counter_ns() - begin)
    return float(max(min(spent), 1))
