"""Find equal predicates by numbers alone, so that costly work is done once for each distinct one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

SHORT = 16  # runs up to this length are compared column by column, longer ones by their bytes


def distinct_runs(key: Ints, start: Ints, count: Ints, values: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Find the distinct (key, run) pairs; row ``i`` has the run ``values[start[i]:start[i] + count[i]]``.

    Return the number of each row, in order of appearance, and the first row of each number.
    """
    if not len(key):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    short = count <= SHORT
    code = _numbered(key * (SHORT + 1) + np.where(short, count, 0))
    for step in range(int(count[short].max(initial=0))):
        rows = np.flatnonzero(short & (count > step))
        value = _numbered(values[start[rows] + step].astype(np.int64))
        code[rows] = _numbered(code[rows] * (value.max() + 1) + value) + code.max() + 1
    seen: dict[tuple[int, bytes], int] = {}
    largest = int(code.max()) + 1
    for row in np.flatnonzero(~short).tolist():
        run = values[start[row] : start[row] + count[row]].tobytes()
        code[row] = largest + seen.setdefault((int(key[row]), run), len(seen))
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[number], first[order]


def _numbered(values: Ints) -> Ints:
    """Return small numbers that are equal where ``values`` are."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def places_of(start: Ints, count: Ints) -> Ints:
    """Return all positions of the runs that begin at ``start``, one run after the other."""
    ends = np.cumsum(count)
    return np.repeat(start - (ends - count), count) + np.arange(ends[-1] if len(ends) else 0)
