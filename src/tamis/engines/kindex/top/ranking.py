"""Bound the scores of the clauses of each size, and of each size in each list (flat bounds)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.kindex.top._kernels import greatest_of_runs
from tamis.engines.protocol import Weights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Parts(NamedTuple):
    """Every list divided by size: list ``n`` consists of parts ``of_list[n]:of_list[n + 1]``."""

    of_list: Ints
    start: Ints
    size: npt.NDArray[np.uint32]


class Shares(NamedTuple):
    """Per size, the greatest share of each attribute, greatest rest and priority, and most attributes."""

    start: Ints
    attribute: Ints
    share: Floats
    rest: Floats
    priority: Floats
    most: Ints


class Bounds(NamedTuple):
    """Bounds as ``r * a + b`` for event weights of at most r: of the parts of lists, of sizes."""

    part_a: Floats
    part_b: Floats
    size_a: Floats
    size_b: Floats


class Ranking:
    """The bounds of one index; those that only weighted events need are computed on first use."""

    def __init__(self, own: dict[str, Any], weights: Weights) -> None:
        self.weights = weights
        self._size_start = own["size_start"].astype(np.int64)
        self._asked_start, self._asked = own["asked_start"], own["asked"]

    def bounds(self, weighted: bool) -> Bounds:
        """Return the bounds for events with or without weights."""
        return self._weighted if weighted else self._plain

    @cached_property
    def _plain(self) -> Bounds:
        return self._bounds(self.weights.total, np.zeros(len(self.weights.total)))

    @cached_property
    def _weighted(self) -> Bounds:
        return self._bounds(self.weights.weight, self.weights.priority)

    def _bounds(self, a: Floats, b: Floats) -> Bounds:
        parts = [greatest_of_runs(self.parts.start, self._asked, value) for value in (a, b)]
        return Bounds(*parts, *(self._of_sizes(value) for value in (a, b)))

    def _of_sizes(self, value: Floats) -> Floats:
        every = np.arange(len(value), dtype=np.uint32)
        return np.asarray(greatest_of_runs(self._size_start, every, value))

    @cached_property
    def parts(self) -> Parts:
        """The parts of all lists. Lists are sorted by size, so each size in a list is one part."""
        size_of = np.repeat(np.arange(len(self._size_start) - 1, dtype=np.uint32), np.diff(self._size_start))
        size = size_of[self._asked]
        fresh = np.ones(len(size), np.bool_)
        fresh[1:] = size[1:] != size[:-1]
        starts = self._asked_start[:-1].astype(np.int64)
        fresh[starts[starts < len(fresh)]] = True
        start = np.flatnonzero(fresh)
        of_list = np.searchsorted(start, self._asked_start)
        return Parts(of_list, np.append(start, len(size)), size[start])

    @cached_property
    def shares(self) -> Shares:
        """The upper bounds of attributes, for each size; the original keeps them for keys."""
        weights, sizes = self.weights, len(self._size_start) - 1
        many = np.diff(weights.start)
        size = np.repeat(np.repeat(np.arange(sizes), np.diff(self._size_start)), many)
        attributes = int(weights.attribute.max(initial=-1)) + 1
        code, place = np.unique(size * attributes + weights.attribute, return_inverse=True)
        share = np.zeros(len(code))
        np.maximum.at(share, place, weights.share)
        start = np.searchsorted(code, np.arange(sizes + 1) * attributes)
        rest, priority = self._of_sizes(weights.rest), self._of_sizes(weights.priority)
        most = self._of_sizes(many.astype(np.float64))
        return Shares(
            start, code % max(attributes, 1), share, rest, priority, np.maximum(most, 0).astype(np.int64)
        )
