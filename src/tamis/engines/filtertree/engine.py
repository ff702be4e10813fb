"""The ``filtertree`` engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tamis.engines.filtertree._kernels import match_events
from tamis.engines.filtertree.names import choose_names
from tamis.engines.filtertree.paths import paths_of, ranks
from tamis.engines.filtertree.tree import arrays_of, merge
from tamis.engines.flat import FlatEngine
from tamis.engines.forms import BYTE, WORD, Forms
from tamis.engines.parameters import Declared, Whole, chosen
from tamis.engines.proof import Proof
from tamis.engines.units import Statistics, units_of
from tamis.space.space import Clauses

CHOOSE = -1


class FilterTree(FlatEngine):
    """See the package's page."""

    name: ClassVar[str] = "filtertree"
    kernel: ClassVar[Any] = match_events
    forms: ClassVar[Forms] = {
        "doubtful": BYTE,
        "joined": BYTE,
        "node_lo": WORD,
        "node_hi": WORD,
        "group_start": WORD,
        "group_dimension": WORD,
        "child_start": WORD,
        "child_split": WORD,
        "filter_start": WORD,
        "filters": WORD,
    }
    parameters: ClassVar[Declared] = {
        "names": Whole(CHOOSE, CHOOSE, 1 << 30),
        "leaf": Whole(4, 0, 1 << 20),
        "most_values": Whole(8, 0, 64),
    }

    @classmethod
    def build(
        cls, clauses: Clauses, statistics: Statistics, parameters: dict[str, Any]
    ) -> tuple[Clauses, dict[str, npt.NDArray[Any]]]:
        """Order the names, write clauses as paths and merge these into a tree."""
        given = chosen(cls.name, cls.parameters, parameters)
        names, leaf, most_values = given["names"], given["leaf"], given["most_values"]
        if not len(clauses.literal):
            return clauses, _only_a_root(clauses)
        if names == CHOOSE:
            names = choose_names(clauses, statistics, most_values, leaf)
        units = units_of(clauses, statistics)
        paths = paths_of(clauses, units, ranks(units, clauses.dimensions), names, most_values)
        tree = merge(paths, leaf)
        doubtful = ~paths.decides
        doubtful[paths.clause[~tree.whole]] = True
        joined = np.zeros(clauses.dimensions, np.uint8)
        joined[units.dimension[units.joined]] = 1
        extra = {"doubtful": doubtful.astype(np.uint8), "joined": joined}
        return clauses, arrays_of(tree, paths) | extra

    def _scratch(self) -> tuple[Any, ...]:
        """Return the event's cells, nodes still to visit, clauses found; no node is reached twice."""
        nodes, filters = len(self._own["node_lo"]), len(self._own["filters"])
        cell = np.zeros(max(len(self._own["joined"]), 1), np.uint32)
        return cell, np.empty(nodes + 1, np.int64), np.empty(filters, np.int64)

    def check(self) -> None:
        """The nodes form a tree, and every clause ends somewhere in it."""
        proof, own = Proof(self.name), self._own
        clauses, dimensions = len(self._clauses["start"]) - 1, len(self._clauses["cells"])
        nodes, groups = len(own["node_lo"]), len(own["group_dimension"])
        proof.ensure(nodes > 0 and len(own["node_hi"]) == nodes, "node_lo and node_hi do not fit")
        proof.starts("group_start", own["group_start"], groups, nodes)
        proof.starts("filter_start", own["filter_start"], len(own["filters"]), nodes)
        proof.covers(clauses, own["filters"])
        proof.below("group_dimension", own["group_dimension"], dimensions)
        for name, length in (("doubtful", clauses), ("joined", dimensions)):
            proof.ensure(len(own[name]) == length, f"{name} does not fit")
        # Children stand behind their parents and belong to one group each: no descent can run in a circle.
        child = own["child_start"].astype(np.int64)
        proof.starts("child_start", child - 1, nodes - 1, groups)
        start = own["group_start"].astype(np.int64)
        owner = np.repeat(np.arange(nodes), start[1:] - start[:-1])
        proof.ensure(np.all(child[:-1] > owner), "a child stands before its parent")
        split = own["child_split"].astype(np.int64)
        inside = len(split) == groups and np.all((child[:-1] <= split) & (split <= child[1:]))
        proof.ensure(inside, "child_split lies outside its group")
        # An event with several values looks for each among the fixed ones: it must find no child twice.
        change = np.zeros(nodes + 1, np.int64)
        np.add.at(change, child[:-1], 1)
        np.add.at(change, split, -1)
        fixed = np.cumsum(change)[:-1] > 0
        leads = np.zeros(nodes, np.bool_)
        leads[child[:-1]] = True
        follows = fixed[1:] & fixed[:-1] & ~leads[1:]
        rising = np.diff(own["node_lo"].astype(np.int64)) > 0
        proof.ensure(np.all(rising[follows]), "fixed values are not in order")


def _only_a_root(clauses: Clauses) -> dict[str, npt.NDArray[Any]]:
    """Without a literal there is nothing to descend by."""
    none = np.zeros(0, np.uint32)
    return {
        "doubtful": np.ones(clauses.count, np.uint8),
        "joined": np.zeros(clauses.dimensions, np.uint8),
        "node_lo": np.zeros(1, np.uint32),
        "node_hi": np.zeros(1, np.uint32),
        "group_start": np.zeros(2, np.uint32),
        "group_dimension": none,
        "child_start": np.ones(1, np.uint32),
        "child_split": none,
        "filter_start": np.array([0, clauses.count], np.uint32),
        "filters": np.arange(clauses.count, dtype=np.uint32),
    }
