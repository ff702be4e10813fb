"""A BE*-Tree that takes expressions in and out, one at a time, and learns from the events it matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.bestar.growth._kernels import delete, insert_run
from tamis.engines.bestar.growth.tables import (
    BOX_USED,
    C_USED,
    FULLEST,
    NONE,
    P_LOST,
    P_NEXT,
    P_RANK,
    P_USED,
    TOTAL,
    Ints,
    Rules,
    empty_nodes,
    spare_for,
)
from tamis.engines.bestar.growth.use._kernels import collect_below, freeze, search, sum_losses
from tamis.engines.bestar.keys import capacity_for, hull_of, keys_of, match_probability
from tamis.engines.bestar.nodes import C_WIDTH, EXHAUSTIVE, LEFT, P_DIM, P_DIRECTORY, P_FIRST, P_WIDTH, RIGHT
from tamis.engines.protocol import Candidates
from tamis.engines.units import Units
from tamis.space.located import Located
from tamis.space.space import Clauses

FIRST_ROOM = 1 << 10


class Tree:
    """A tree over some of the clauses of ``clauses``, by their numbers; it starts empty."""

    def __init__(
        self,
        clauses: Clauses,
        units: Units,
        *,
        leaf: int = 0,
        alpha: float = 0.1,
        beta: float = 4.0,
        split: int = EXHAUSTIVE,
        selectivity: bool = True,
        window: int = 1000,
    ) -> None:
        capacity = leaf or capacity_for(match_probability(units))
        self.clauses, self.window, self.seen = clauses, window, 0
        self.rules = Rules(capacity, float(alpha), float(beta), split)
        self.keys = keys_of(units, selectivity)
        self.nodes = empty_nodes(clauses.count, self._most_units, capacity, FIRST_ROOM)
        self._base_gain: Ints = self.keys.gain.copy()
        self._spare = spare_for(self.keys, clauses.dimensions)
        self._hull = hull_of(units, clauses.dimensions)
        self._literal = clauses.literal.reshape(-1)
        self._cell = np.zeros(max(clauses.dimensions, 1), np.uint32)

    @property
    def _most_units(self) -> int:
        return int(np.diff(self.keys.start).max(initial=0))

    def __len__(self) -> int:
        return int(self.nodes.c[0, TOTAL])

    def __contains__(self, clause: int) -> bool:
        return bool(self.nodes.home[clause] != NONE)

    def insert(self, clauses: Iterable[int]) -> None:
        """Insert clauses, one after the other; those that are in the tree already stay as they are."""
        run = np.fromiter(clauses, np.int64)
        run = run[self.nodes.home[run] == NONE]
        run = run[np.sort(np.unique(run, return_index=True)[1])]
        while len(run):
            most = self._most_units
            rest = (run, self.clauses.cells, tuple(self.rules), most)
            done = insert_run(tuple(self.nodes), tuple(self.keys), tuple(self._spare), *rest)
            run = run[done:]
            if len(run):
                self._enlarge(4 * (int(self.nodes.meta[FULLEST]) + 2) * (most + 1), most + 1)

    def _enlarge(self, more: int, levels: int) -> None:
        nodes, (c, p, box) = self.nodes, self.nodes.meta[[C_USED, P_USED, BOX_USED]].tolist()
        self.nodes = nodes._replace(
            c=_longer(nodes.c, c, more),
            p=_longer(nodes.p, p, more),
            box=_longer(nodes.box, box, more * levels),
        )

    def delete(self, clause: int) -> None:
        """Take a clause out; bounds on its way shrink to what is left."""
        if clause not in self:
            raise KeyError(clause)
        delete(tuple(self.nodes), tuple(self.keys), clause, tuple(self.rules))

    def match(self, events: Located) -> Candidates:
        """Return all pairs of a batch. What was looked at in vain counts as loss; a full window updates
        ranks."""
        start, dimension, lo, hi, multi = events
        work, found = np.zeros(3, np.int64), []
        clauses = self.clauses
        for e in range(events.count):
            a, b, general = int(start[e]), int(start[e + 1]), bool(multi[e])
            for k in range(b - 1, a - 1, -1):
                self._cell[dimension[k]] = k + 1 if general else lo[k]
            satisfied = search(
                tuple(self.nodes), a, b, dimension, lo, hi, general, self._cell, self._hull, clauses.start,
                self._literal, clauses.set_lo, clauses.set_hi, work,
            )  # fmt: skip
            found.append(satisfied)
            self._cell[dimension[a:b]] = 0
            self._learn()
        event = np.repeat(np.arange(events.count), [len(part) for part in found])
        clause = np.concatenate([np.zeros(0, np.int64), *found])
        return Candidates(event, clause, int(work[0]), int(work[0]), int(work[2]))

    # -- feedback ------------------------------------------------------------------------------------

    def _learn(self) -> None:
        """Rank = gain - loss for every p-node, over the last ``window`` events; and for dimensions alike."""
        self.seen += 1
        if self.seen % self.window:
            return
        sum_losses(tuple(self.nodes))
        rows = self._partitions()
        p = self.nodes.p
        held = self.nodes.c[p[rows, P_DIRECTORY], TOTAL]
        p[rows, P_RANK] = held - p[rows, P_LOST] // self.window
        dimensions = max(self.clauses.dimensions, 1)
        lost = np.bincount(p[rows, P_DIM], p[rows, P_LOST] / self.window, dimensions)
        share = np.clip(lost / np.maximum(np.bincount(p[rows, P_DIM], held, dimensions), 1), 0, 1)
        self.keys.gain[:] = self._base_gain * (1 - share[self.keys.dimension]) + 1

    def _partitions(self) -> Ints:
        """Return the p-nodes in use, from the root down."""
        nodes, found, todo = self.nodes, [], [0]
        while todo:
            at = todo.pop()
            todo += [int(nodes.c[at, side]) for side in (LEFT, RIGHT) if nodes.c[at, side]]
            p = int(nodes.c[at, P_FIRST])
            while p != NONE:
                found.append(p)
                todo.append(int(nodes.p[p, P_DIRECTORY]))
                p = int(nodes.p[p, P_NEXT])
        return np.array(found, np.int64)

    def recycle(self, threshold: float = 0.5) -> int:
        """Dissolve partitions whose rank fell below a share of what they hold; returns how many.

        Their clauses are inserted again, and go where the ranks of today send them.
        """
        dissolved = 0
        for p in self._partitions().tolist():
            row = self.nodes.p[p]
            below = collect_below(tuple(self.nodes), p) if row[P_RANK] < threshold * self._held(row) else ()
            for clause in below:
                delete(tuple(self.nodes), tuple(self.keys), clause, tuple(self.rules))
            self.insert(below)
            dissolved += len(below) > 0
        return dissolved

    def _held(self, row: Any) -> int:
        return int(self.nodes.c[row[P_DIRECTORY], TOTAL])

    # -- freezing ------------------------------------------------------------------------------------

    def freeze(self) -> tuple[Ints, Ints, Ints, npt.NDArray[np.bool_]]:
        """c-nodes, p-nodes, clauses in the order of their l-nodes, and the units on the way to each."""
        used = self.nodes.meta
        c_node = np.zeros((int(used[C_USED]), C_WIDTH), np.int64)
        p_node = np.zeros((int(used[P_USED]), P_WIDTH), np.int64)
        order, late = np.empty(len(self), np.int64), np.zeros(len(self.keys.unit), np.bool_)
        c, p = freeze(tuple(self.nodes), tuple(self.keys), c_node, p_node, order, late)
        return c_node[:c], p_node[:p], order, late


def _longer(table: Any, used: int, more: int) -> Any:
    larger = np.zeros((2 * used + more, table.shape[1]), table.dtype)
    larger[:used] = table[:used]
    return larger
