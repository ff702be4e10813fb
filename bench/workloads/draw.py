"""Draw at random, vectorised: Zipf ranks, distinct attributes, blocks with their own seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

BLOCK = 65_536
"""Subscriptions per block. A block has its own seed, so a book is the beginning of every larger one."""

EVENT_BLOCK = 4_096
"""Events per block."""

_STEEP = 0.6  # share of the popularity on as many ranks as a row has cells
_NEVER = 1e-300


def generator(seed: int, stream: str, *more: int) -> np.random.Generator:
    """Return a separate generator for each purpose, so that changing one draw leaves the others alone."""
    return np.random.default_rng([seed, *stream.encode(), *more])


def blocks(rows: range, size: int) -> Iterator[tuple[int, slice]]:
    """Yield (number, part of it) of each block of ``size`` that ``rows`` lie in; at least one block."""
    first = rows.start // size
    for number in range(first, max(first + 1, -(-rows.stop // size))):
        start = number * size
        yield number, slice(max(0, rows.start - start), max(0, min(size, rows.stop - start)))


def zipf(count: int, alpha: float) -> Floats:
    """Return the cumulated popularity of ``count`` ranks, P(r) = C / r^alpha; alpha 0 is uniform."""
    popularity = np.arange(1, count + 1, dtype=np.float64) ** -alpha
    cumulated: Floats = np.cumsum(popularity / popularity.sum())
    cumulated[-1] = 1.0
    return cumulated


def ranks(rng: np.random.Generator, cumulated: Floats, shape: int | tuple[int, ...]) -> Ints:
    """Return ranks (from 0) drawn with the given cumulated popularity."""
    if len(cumulated) > 1 and abs(cumulated[0] * len(cumulated) - 1.0) < 1e-9:
        return rng.integers(0, len(cumulated), shape)
    return np.searchsorted(cumulated, rng.random(shape), side="right").astype(np.int64)


def distinct(
    rng: np.random.Generator, cumulated: Floats, rows: int, width: int, fixed: Ints | None = None
) -> Ints:
    """Return per row ``width`` different ranks, as if drawn one after the other without replacement.

    ``fixed`` gives some cells of each row (-1 for none). Repeats are drawn again. If a few ranks have most of
    the popularity, that would take for ever, so there the ranks race each other.
    """
    if width > len(cumulated):
        raise ValueError(f"cannot draw {width} different attributes out of {len(cumulated)}")
    if fixed is not None:
        fixed = np.pad(fixed, ((0, 0), (0, width - fixed.shape[1])), constant_values=-1)
    if width and cumulated[width - 1] > _STEEP:
        return _race(rng, cumulated, rows, width, fixed)
    drawn = ranks(rng, cumulated, (rows, width))
    if fixed is not None:
        drawn = np.where(fixed >= 0, fixed, drawn)
    todo = np.arange(rows)
    while len(todo):
        part = drawn[todo]
        repeats = _repeats(part, None if fixed is None else fixed[todo] >= 0)
        busy = repeats.any(axis=1)
        todo, part, repeats = todo[busy], part[busy], repeats[busy]
        part[repeats] = ranks(rng, cumulated, int(repeats.sum()))
        drawn[todo] = part
    return drawn


def _repeats(drawn: Ints, fixed: Mask | None = None) -> Mask:
    """Return the cells whose value already stands earlier in their row, or in a fixed cell."""
    key = 2 * drawn + (1 if fixed is None else ~fixed)  # a fixed cell comes before its equals
    order = np.argsort(key, axis=1, kind="stable")
    in_order = np.take_along_axis(drawn, order, axis=1)
    again = np.zeros(drawn.shape, np.bool_)
    again[:, 1:] = in_order[:, 1:] == in_order[:, :-1]
    repeats = np.zeros(drawn.shape, np.bool_)
    np.put_along_axis(repeats, order, again, axis=1)
    return repeats


def _race(rng: np.random.Generator, cumulated: Floats, rows: int, width: int, fixed: Ints | None) -> Ints:
    """Return the first ``width`` of a race: every rank takes an exponential time, popular ones a short one.

    Each of the most popular ranks runs on its own. The others arrive as one stream, and each arrival then
    draws its rank. That is drawing without replacement, and no rank has to be drawn twice.
    """
    head = min(len(cumulated), 4 * width)
    popularity = np.diff(cumulated, prepend=0.0)
    time = rng.exponential(size=(rows, head)) / np.maximum(popularity[:head], _NEVER)
    runner = np.broadcast_to(np.arange(head), (rows, head))
    if head < len(cumulated):
        late, who = _stream(rng, popularity, head, (rows, 2 * width))
        time, runner = np.hstack([time, late]), np.hstack([runner, who])
    if fixed is not None:
        time[(runner[:, :, None] == fixed[:, None, :]).any(axis=2)] = np.inf
    first = np.take_along_axis(runner, np.argsort(time, axis=1)[:, :width], axis=1)
    if fixed is None:
        return first
    free = fixed < 0
    place = np.maximum(np.cumsum(free, axis=1) - 1, 0)
    return np.where(free, np.take_along_axis(first, place, axis=1), fixed)


def _stream(
    rng: np.random.Generator, popularity: Floats, head: int, shape: tuple[int, int]
) -> tuple[Floats, Ints]:
    """Return times and ranks of the first arrivals beyond ``head``; a rank that arrived never comes again."""
    rest = np.cumsum(popularity[head:])
    time = np.cumsum(rng.exponential(size=shape), axis=1) / max(rest[-1], _NEVER)
    who = ranks(rng, rest / rest[-1], shape)
    time[_repeats(who)] = np.inf
    return time, who + head


def pick(rng: np.random.Generator, weights: Any, count: int) -> Ints:
    """Return ``count`` places in ``weights``, each as likely as its weight."""
    cumulated = np.cumsum(np.asarray(weights, np.float64))
    return np.searchsorted(cumulated / cumulated[-1], rng.random(count), side="right").astype(np.int64)
