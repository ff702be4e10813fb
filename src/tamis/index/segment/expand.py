"""From stored expressions to the clauses to index."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.lang.columns.codes import Op
from tamis.lang.columns.rows import Columns, RowWriter, append, runs, tree_at
from tamis.limits import Limits
from tamis.model.expr import Not
from tamis.normal import clauses_of
from tamis.space.rows import ClauseRows

Ints = npt.NDArray[np.int64]


def clause_rows(columns: Columns, limits: Limits) -> ClauseRows:
    """Plain conjunctions are their own clause; other expressions are normalised one by one."""
    structural = np.zeros(len(columns.op) + 1, np.int64)
    np.cumsum(columns.op >= Op.AND, out=structural[1:])
    plain = structural[columns.row_start[1:]] == structural[columns.row_start[:-1]]
    chosen = np.flatnonzero(plain)
    row, count = runs(columns.row_start, chosen)
    extra = _Expansion(columns, limits)
    for at in np.flatnonzero(~plain).tolist():
        extra.add(at)
    start = np.zeros(len(count) + len(extra.count) + 1, np.int64)
    np.cumsum(np.concatenate([count, np.array(extra.count, np.int64)]), out=start[1:])
    first = len(columns.op)
    return ClauseRows(
        append(columns, extra.writer.freeze()),
        np.concatenate([row, np.arange(first, first + len(extra.negated))]),
        np.concatenate([np.zeros(len(row), np.bool_), np.array(extra.negated, np.bool_)]),
        start,
        np.concatenate([chosen, np.array(extra.owner, np.int64)]),
        np.concatenate([np.ones(len(chosen), np.bool_), np.array(extra.exact, np.bool_)]),
    )


class _Expansion:
    """The clauses of expressions that are not plain conjunctions."""

    def __init__(self, columns: Columns, limits: Limits) -> None:
        self._columns, self._limits = columns, limits
        self.writer = RowWriter(columns.names)
        self.negated: list[bool] = []
        self.count: list[int] = []
        self.owner: list[int] = []
        self.exact: list[bool] = []

    def add(self, at: int) -> None:
        """Normalise expression ``at`` and write its clauses."""
        found = clauses_of(tree_at(self._columns, at), self._limits)
        for clause in found.clauses:
            for literal in clause:
                negated = isinstance(literal, Not)
                self.writer.predicate(literal.child if isinstance(literal, Not) else literal)
                self.negated.append(negated)
            self.writer.end()
            self.count.append(len(clause))
            self.owner.append(at)
            self.exact.append(found.exact)
