"""Check the invariants of the tree: every number points inside its array, and the nodes form one tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arrays
from tamis.engines.bestar.nodes import (
    BEGIN,
    COUNT,
    DIM,
    HI,
    LEFT,
    LO,
    OWN_HI,
    OWN_LO,
    P_COUNT,
    P_DIM,
    P_DIRECTORY,
    P_FIRST,
    P_HOME,
    RIGHT,
    ROOT,
)
from tamis.engines.proof import Proof

Ints = npt.NDArray[np.int64]
_ensure = Proof("bestar").ensure


def check_tree(arrays: Arrays, own: Arrays) -> None:
    """Raise :class:`IndexCorrupt` unless the engine's ``own`` nodes form a tree over all clauses."""
    dimensions, clauses = len(arrays["cells"]), len(arrays["start"]) - 1
    c_node, p_node, hull = own["c_node"], own["p_node"], own["hull"]
    _ensure(len(c_node) > 0 and len(hull) == dimensions, "the tables have another length")
    c_node, p_node = c_node.astype(np.int64), p_node.astype(np.int64)
    _check_family(c_node, p_node)
    _ensure(_tile(c_node[:, BEGIN], c_node[:, COUNT], clauses), "the l-nodes do not hold every clause once")
    named = np.concatenate([c_node[1:, DIM], p_node[:, P_DIM]])
    _ensure(bool(np.all(named < dimensions)), "a node names no dimension")
    _check_bounds(c_node)


def _check_family(c_node: Ints, p_node: Ints) -> None:
    """Raise unless each c-node but the root follows its one parent and each p-node is in one p-directory."""
    parent, child = [], []
    for side in (LEFT, RIGHT):
        has = np.flatnonzero(c_node[:, side] != ROOT)
        parent.append(has)
        child.append(c_node[has, side])
    parent.append(p_node[:, P_HOME])
    child.append(p_node[:, P_DIRECTORY])
    children, parents = np.concatenate(child), np.concatenate(parent)
    single = np.array_equal(np.sort(children), np.arange(1, len(c_node)))
    _ensure(single and bool(np.all(parents < children)), "the c-nodes are no tree")
    _ensure(_tile(c_node[:, P_FIRST], c_node[:, P_COUNT], len(p_node)), "a p-node is in no p-directory")
    home = np.repeat(np.arange(len(c_node)), c_node[:, P_COUNT])
    place = _members(c_node)
    _ensure(np.array_equal(p_node[place, P_HOME], home), "a p-node is in a foreign p-directory")
    rising = np.diff(p_node[place, P_DIM]) > 0
    _ensure(bool(np.all(rising | (np.diff(home) != 0))), "a p-directory is not sorted by dimension")
    for side in (LEFT, RIGHT):
        has = np.flatnonzero(c_node[:, side] != ROOT)
        _ensure(
            np.array_equal(c_node[has, DIM], c_node[c_node[has, side], DIM]), "a bucket changes dimension"
        )
    same = np.array_equal(p_node[:, P_DIM], c_node[p_node[:, P_DIRECTORY], DIM])
    _ensure(same, "a c-directory is on another dimension than its p-node")


def _members(c_node: Ints) -> Ints:
    """Return the p-nodes of all p-directories, one directory after the other."""
    count = c_node[:, P_COUNT]
    return np.repeat(c_node[:, P_FIRST] - (np.cumsum(count) - count), count) + np.arange(count.sum())


def _check_bounds(c_node: Ints) -> None:
    """Raise unless children and overlap lie inside their bucket and left and right repel each other."""
    inner = c_node[1:]
    full = (inner[:, COUNT] > 0) | (inner[:, P_COUNT] > 0)
    inside = (inner[:, LO] <= inner[:, OWN_LO]) & (inner[:, OWN_HI] <= inner[:, HI])
    _ensure(bool(np.all(inside | ~full)), "what a bucket holds itself reaches beyond it")
    for side in (LEFT, RIGHT):
        has = np.flatnonzero(c_node[:, side] != ROOT)
        child = c_node[c_node[has, side]]
        inside = (c_node[has, LO] <= child[:, LO]) & (child[:, HI] <= c_node[has, HI])
        _ensure(bool(np.all(inside)), "a bucket reaches beyond its parent")
    both = np.flatnonzero((c_node[:, LEFT] != ROOT) & (c_node[:, RIGHT] != ROOT))
    left, right = c_node[c_node[both, LEFT]], c_node[c_node[both, RIGHT]]
    _ensure(bool(np.all(left[:, HI] < right[:, LO])), "left and right bucket overlap")


def _tile(begin: Ints, count: Ints, length: int) -> bool:
    """Return whether the runs cover 0..length without gap or overlap."""
    used = np.flatnonzero(count)
    used = used[np.argsort(begin[used], kind="stable")]
    ends = np.cumsum(count[used])
    tiled = np.array_equal(begin[used], ends - count[used])
    return tiled and int(ends[-1] if len(ends) else 0) == length
