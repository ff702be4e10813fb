"""A BE*-Tree that inserts and deletes single clauses and learns from the events that were matched."""

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
    Nodes,
    Rules,
    empty_nodes,
    spare_for,
    wider,
    wider_nodes,
)
from tamis.engines.bestar.growth.use._kernels import collect_below, freeze, sum_losses
from tamis.engines.bestar.keys import Keys
from tamis.engines.bestar.nodes import C_WIDTH, LEFT, P_DIM, P_DIRECTORY, P_FIRST, P_WIDTH, RIGHT

FIRST_ROOM = 1 << 10


class Tree:
    """A tree over some of the clauses of ``keys``, by their numbers; it starts empty.

    ``cells`` is the number of cells of each dimension, which only a rigid split reads.
    """

    def __init__(self, keys: Keys, cells: npt.NDArray[Any], rules: Rules) -> None:
        self.keys, self.rules, self.cells = keys, rules, cells
        self._levels = int(np.diff(keys.start).max(initial=0))  # the most conditions of a clause
        self.nodes = empty_nodes(len(keys.start) - 1, self._levels, rules.capacity, FIRST_ROOM)
        self._base_gain: Ints = keys.gain.copy()
        self._spare = spare_for(keys, len(cells))

    def __len__(self) -> int:
        return int(self.nodes.c[0, TOTAL])

    def __contains__(self, clause: int) -> bool:
        return bool(self.nodes.home[clause] != NONE)

    @property
    def nbytes(self) -> int:
        """The memory that the tree takes, with the scratch memory of insertions."""
        return sum(table.nbytes for part in (self.keys, self.nodes, self._spare) for table in part)

    def copy(self) -> Tree:
        """Return an independent tree with the same content."""
        other = Tree(Keys(*(column.copy() for column in self.keys)), self.cells, self.rules)
        other.nodes = Nodes(*(table.copy() for table in self.nodes))
        other._levels, other._base_gain = self._levels, self._base_gain.copy()
        return other

    def reserve(self, clauses: int, units: int, levels: int, cells: npt.NDArray[Any]) -> None:
        """Make room for so many clauses and conditions, of a clause at most ``levels``.

        The caller writes the new conditions into ``keys``. ``cells`` has a number for each dimension.
        """
        self.cells, self._levels = cells, max(levels, self._levels)
        clauses = _room(len(self.keys.start) - 1, clauses)
        units = _room(len(self.keys.clause), units)
        start, *columns = self.keys
        self.keys = Keys(wider(start, clauses + 1, 0), *(wider(column, units, 0) for column in columns))
        self._base_gain = wider(self._base_gain, units, 0)
        self.nodes = wider_nodes(self.nodes, clauses, self._levels)
        if not self._spare.fits(clauses, units, len(cells)):
            self._spare = spare_for(self.keys, len(cells))

    def set_gain(self, begin: int, end: int, gain: int) -> None:
        """Write the gain of new conditions."""
        self._base_gain[begin:end] = self.keys.gain[begin:end] = gain

    def insert(self, clauses: Iterable[int]) -> None:
        """Insert clauses, one after the other; clauses that are already in the tree stay unchanged."""
        run = np.fromiter(clauses, np.int64)
        run = run[self.nodes.home[run] == NONE]
        run = run[np.sort(np.unique(run, return_index=True)[1])]
        while len(run):
            most = self._levels
            rest = (run, self.cells, tuple(self.rules), most)
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
        """Delete a clause; the bounds on its path shrink to the remaining clauses."""
        if clause not in self:
            raise KeyError(clause)
        delete(tuple(self.nodes), tuple(self.keys), clause, tuple(self.rules))

    # -- feedback ------------------------------------------------------------------------------------

    def learn(self, events: int) -> None:
        """Set the ranks of p-nodes and dimensions to gain - loss over a window of ``events`` events."""
        sum_losses(tuple(self.nodes))
        rows = self._partitions()
        p = self.nodes.p
        held = self.nodes.c[p[rows, P_DIRECTORY], TOTAL]
        p[rows, P_RANK] = held - p[rows, P_LOST] // events
        dimensions = max(len(self.cells), 1)
        lost = np.bincount(p[rows, P_DIM], p[rows, P_LOST] / events, dimensions)
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
        """Dissolve partitions whose rank fell below a share of what they hold; return their number.

        Insert their clauses again: the current ranks decide where they go.
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
        """Return c-nodes, p-nodes, clauses in the order of their l-nodes, and units on the path to each."""
        used = self.nodes.meta
        c_node = np.zeros((int(used[C_USED]), C_WIDTH), np.int64)
        p_node = np.zeros((int(used[P_USED]), P_WIDTH), np.int64)
        order, late = np.empty(len(self), np.int64), np.zeros(len(self.keys.unit), np.bool_)
        c, p = freeze(tuple(self.nodes), tuple(self.keys), c_node, p_node, order, late)
        return c_node[:c], p_node[:p], order, late


def _room(has: int, needs: int) -> int:
    """Return a length that suffices; twice the old one, if that does not."""
    return has if needs <= has else max(2 * has, needs)


def _longer(table: Any, used: int, more: int) -> Any:
    larger = np.zeros((2 * used + more, table.shape[1]), table.dtype)
    larger[:used] = table[:used]
    return larger
