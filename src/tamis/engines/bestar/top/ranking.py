"""Bound the scores of the clauses below each node with weight summaries."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar.nodes import P_DIRECTORY
from tamis.engines.bestar.top._kernels import greatest_below, sizes_below, summarise
from tamis.engines.protocol import Weights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Bounds(NamedTuple):
    """Bounds as ``r * a + b`` for event weights of at most r: of subtrees, of l-nodes, of clauses."""

    tree_a: Floats
    tree_b: Floats
    leaf_a: Floats
    leaf_b: Floats
    clause_a: Floats
    clause_b: Floats


class Summaries(NamedTuple):
    """Per p-node, the greatest weight of each attribute below it (the paper's sum_wt), and of the rest."""

    of_directory: Ints  # the p-node of a c-directory, by its root bucket
    start: Ints
    attribute: Ints
    share: Floats
    rest: Floats
    priority: Floats


class Ranking:
    """The summaries of one tree; those that only weighted events need are computed on first use."""

    def __init__(self, c_node: Any, p_node: Any, weights: Weights) -> None:
        self._c_node, self._p_node, self._weights = c_node, p_node, weights

    def bounds(self, weighted: bool) -> Bounds:
        """Return the bounds for events with or without weights."""
        return self._weighted if weighted else self._plain

    @cached_property
    def _plain(self) -> Bounds:
        return self._bounds(self._weights.total, np.zeros(len(self._weights.total)))

    @cached_property
    def _weighted(self) -> Bounds:
        return self._bounds(self._weights.weight, self._weights.priority)

    def _bounds(self, a: Floats, b: Floats) -> Bounds:
        below = np.empty((4, len(self._c_node)))
        for row, part in ((0, a), (1, b)):
            greatest_below(self._c_node, self._p_node, part, below[row], below[row + 2])
        return Bounds._make([*below, a, b])

    @cached_property
    def summaries(self) -> Summaries:
        """The summaries of all p-nodes."""
        c_node, p_node, weights = self._c_node, self._p_node, self._weights
        size = sizes_below(c_node, p_node)
        of_directory = np.full(len(c_node), -1, np.int64)
        of_directory[p_node[:, P_DIRECTORY]] = np.arange(len(p_node))
        attributes = int(weights.attribute.max(initial=-1)) + 1
        return Summaries(of_directory, *summarise(c_node, p_node, size, *weights[2:], attributes))
