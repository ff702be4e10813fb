"""Drawing at random, vectorised: Zipf ranks, distinct attributes, blocks with seeds of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BLOCK = 65_536
"""Subscriptions per block. A block has its own seed, so a book is the beginning of every larger one."""

EVENT_BLOCK = 4_096
"""Events per block."""

_ROUNDS = 64
_POPULAR = 64


def generator(seed: int, stream: str, *more: int) -> np.random.Generator:
    """A generator of its own for each purpose, so that changing one draw leaves the others alone."""
    return np.random.default_rng([seed, *stream.encode(), *more])


def blocks(count: int, size: int) -> Iterator[tuple[int, int]]:
    """(number, rows used) of each block that ``count`` rows need; at least one block."""
    for number in range(max(1, -(-count // size))):
        yield number, min(size, count - number * size)


def zipf(count: int, alpha: float) -> Floats:
    """The cumulated popularity of ``count`` ranks, P(r) = C / r^alpha; alpha 0 is uniform."""
    popularity = np.arange(1, count + 1, dtype=np.float64) ** -alpha
    cumulated: Floats = np.cumsum(popularity / popularity.sum())
    cumulated[-1] = 1.0
    return cumulated


def ranks(rng: np.random.Generator, cumulated: Floats, shape: int | tuple[int, ...]) -> Ints:
    """Ranks (from 0) with the given cumulated popularity."""
    if len(cumulated) > 1 and abs(cumulated[0] * len(cumulated) - 1.0) < 1e-9:
        return rng.integers(0, len(cumulated), shape)
    return np.searchsorted(cumulated, rng.random(shape), side="right").astype(np.int64)


def distinct(
    rng: np.random.Generator, cumulated: Floats, rows: int, width: int, fixed: Ints | None = None
) -> Ints:
    """Per row ``width`` different ranks, as if drawn one after the other without replacement.

    ``fixed`` gives the first columns of each row (-1 where there is none). Repeats are drawn again;
    under a steep Zipf law the few rows that still repeat are drawn among the most popular ranks only.
    """
    if width > len(cumulated):
        raise ValueError(f"cannot draw {width} different attributes out of {len(cumulated)}")
    drawn = ranks(rng, cumulated, (rows, width))
    if fixed is not None:
        given = fixed >= 0
        drawn[:, : fixed.shape[1]][given] = fixed[given]
    todo = np.arange(rows)
    for _ in range(_ROUNDS):
        part = drawn[todo]
        repeats = _repeats(part)
        busy = repeats.any(axis=1)
        if not busy.any():
            return drawn
        todo, part, repeats = todo[busy], part[busy], repeats[busy]
        part[repeats] = ranks(rng, cumulated, int(repeats.sum()))
        drawn[todo] = part
    drawn[todo] = _without_replacement(
        rng, cumulated, drawn[todo], fixed[todo] if fixed is not None else None
    )
    return drawn


def _repeats(drawn: Ints) -> npt.NDArray[np.bool_]:
    """Where a value stands for the second or a later time in its row."""
    order = np.argsort(drawn, axis=1, kind="stable")
    in_order = np.take_along_axis(drawn, order, axis=1)
    again = np.zeros(drawn.shape, np.bool_)
    again[:, 1:] = in_order[:, 1:] == in_order[:, :-1]
    repeats = np.zeros(drawn.shape, np.bool_)
    np.put_along_axis(repeats, order, again, axis=1)
    return repeats


def _without_replacement(
    rng: np.random.Generator, cumulated: Floats, drawn: Ints, fixed: Ints | None
) -> Ints:
    """Gumbel's trick: the largest keys log(p) + noise are a weighted sample without replacement."""
    rows, width = drawn.shape
    choice = min(len(cumulated), max(_POPULAR, 4 * width))
    popularity = np.diff(cumulated[:choice], prepend=0.0)
    keys = np.log(np.maximum(popularity, 1e-300)) + rng.gumbel(size=(rows, choice))
    if fixed is not None:
        row, column = np.nonzero((fixed >= 0) & (fixed < choice))
        keys[row, fixed[row, column]] = np.inf
    picked: Ints = np.argsort(-keys, axis=1)[:, :width]
    return picked


def pick(rng: np.random.Generator, weights: Any, count: int) -> Ints:
    """``count`` places in ``weights``, each as likely as its weight."""
    cumulated = np.cumsum(np.asarray(weights, np.float64))
    return np.searchsorted(cumulated / cumulated[-1], rng.random(count), side="right").astype(np.int64)
