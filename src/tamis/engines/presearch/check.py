"""Check the arrays of ``presearch``: kernels rely only on what is proved here."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.presearch.layers._kernels import CLAUSE, DEPTH, END, LEAPFROG, TERM
from tamis.engines.presearch.layout._kernels import subtree_ends
from tamis.engines.presearch.layout.build import first_layers
from tamis.engines.proof import Proof

Arrays = dict[str, npt.NDArray[Any]]
Ints = npt.NDArray[np.int64]

MOST_BATCH = 4_096
_WAYS = 4


def check_arrays(arrays: Arrays, clauses: int, cells: Ints) -> None:
    """Raise :class:`~tamis.errors.IndexCorrupt` at the first fault."""
    proof, layout = Proof("presearch"), arrays["layout"].astype(np.int64)
    proof.ensure(len(layout) in (LEAPFROG, LEAPFROG + 1), "the layout has another number of fields")
    sound = 1 <= layout[0] <= MOST_BATCH and layout[1] < _WAYS and np.all(layout[LEAPFROG:] < 2)
    proof.ensure(sound, "the layout is no batch size, way and leapfrog")
    proof.ensure(len(arrays["decided"]) == clauses, "decided does not fit the clauses")
    proof.below("decided", arrays["decided"], 2)
    _check_nodes(proof, arrays["node"].astype(np.int64), len(arrays["top"]), clauses)
    _check_first_layers(proof, arrays)
    _check_levels(proof, arrays, cells)


def _check_nodes(proof: Proof, node: Ints, places: int, clauses: int) -> None:
    """Raise unless nodes stand in preorder, each before all nodes below it, and so do their clauses."""
    proof.ensure(len(node) > 0, "there is no node, not even the last")
    count = len(node) - 1
    end, depth, start = node[:-1, END], node[:, DEPTH], node[:, CLAUSE]
    proof.ensure(depth[0] == depth[-1] == 0 and np.all(np.diff(depth) <= 1), "a node has no parent")
    # A wrong end would make the search read nodes below others again and again.
    expected = np.empty(count, np.int64)
    subtree_ends(np.ascontiguousarray(depth), expected)
    proof.ensure(np.array_equal(end, expected), "a node ends outside its subtree")
    residual = int(start[-1])
    proof.ensure(residual <= clauses, "nodes name clauses that are not there")
    proof.starts("the clauses of nodes", start, residual, count)
    proof.below("a node", node[:-1, TERM], places)


def _check_first_layers(proof: Proof, arrays: Arrays) -> None:
    """Raise unless roots and their children are the nodes of depth 0 and 1, in order."""
    # A place that two roots claim leads to the later one only: the other's clauses would never be found.
    node, top = arrays["node"].astype(np.int64), arrays["top"]
    terms = node[:-1, TERM][node[:-1, DEPTH] == 0]
    proof.ensure(len(np.unique(terms)) == len(terms), "a term represents two roots")
    for name, expected in first_layers(node, len(top)).items():
        proof.ensure(np.array_equal(arrays[name], expected), f"{name} does not fit the nodes")


def _check_levels(proof: Proof, arrays: Arrays, cells: Ints) -> None:
    """Raise unless every level of every dimension leads to places that exist."""
    heads, levels = arrays["heads"].astype(np.int64), arrays["levels"].astype(np.int64)
    fitting = len(heads) == len(arrays["hull"]) == len(cells)
    proof.ensure(fitting, "heads and hull do not fit the dimensions")
    count, first = heads[:, 0], heads[:, 3]
    used = np.flatnonzero(count)
    in_order = np.array_equal(first[used], np.cumsum(count[used]) - count[used])
    proof.ensure(in_order and count.sum() == len(levels), "the levels do not fit their dimensions")
    proof.ensure(np.array_equal(heads[used, 1:3], levels[first[used]]), "a head differs from its first level")
    level, base = levels[:, 0], levels[:, 1]
    last = base + (np.repeat(cells[used], count[used]) >> np.clip(level - 1, 0, 62))
    proof.ensure(np.all(level < 63) and np.all(last < len(arrays["top"])), "a level leads beyond its places")
