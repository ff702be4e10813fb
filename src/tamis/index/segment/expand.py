"""From stored expressions to the clauses to index."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.lang.columns.codes import Op
from tamis.lang.columns.rows import Columns, RowWriter, append, runs, tree_at
from tamis.limits import Limits
from tamis.model.expr import Not
from tamis.normal import Literal, clauses_of, demands_of
from tamis.space.clauses import MOST_GROUPS
from tamis.space.rows import ClauseRows

Ints = npt.NDArray[np.int64]


def clause_rows(columns: Columns, limits: Limits, *, cnf: bool = False) -> ClauseRows:
    """Plain conjunctions are their own clause; other expressions are normalised one by one.

    With ``cnf`` an expression that is shorter so becomes one clause with groups of alternatives.
    """
    structural = np.zeros(len(columns.op) + 1, np.int64)
    np.cumsum(columns.op >= Op.AND, out=structural[1:])
    plain = structural[columns.row_start[1:]] == structural[columns.row_start[:-1]]
    chosen = np.flatnonzero(plain)
    row, count = runs(columns.row_start, chosen)
    extra = _Expansion(columns, limits, cnf)
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
        np.concatenate([np.zeros(len(row), np.uint8), np.array(extra.group, np.uint8)]),
    )


class _Expansion:
    """The clauses of expressions that are not plain conjunctions."""

    def __init__(self, columns: Columns, limits: Limits, cnf: bool) -> None:
        self._columns, self._limits, self._cnf = columns, limits, cnf
        self.writer = RowWriter(columns.names)
        self.negated: list[bool] = []
        self.count: list[int] = []
        self.owner: list[int] = []
        self.exact: list[bool] = []
        self.group: list[int] = []

    def add(self, at: int) -> None:
        """Normalise expression ``at`` and write its clauses."""
        tree = tree_at(self._columns, at)
        demands = demands_of(tree, MOST_GROUPS) if self._cnf else None
        if demands is not None:
            alternatives = [(literal, group) for group, some in enumerate(demands, 1) for literal in some]
            self._write(at, alternatives, exact=True)
            return
        found = clauses_of(tree, self._limits)
        for clause in found.clauses:
            self._write(at, [(literal, 0) for literal in clause], exact=found.exact)

    def _write(self, at: int, literals: list[tuple[Literal, int]], *, exact: bool) -> None:
        for literal, group in literals:
            negated = isinstance(literal, Not)
            self.writer.predicate(literal.child if isinstance(literal, Not) else literal)
            self.negated.append(negated)
            self.group.append(group)
        self.writer.end()
        self.count.append(len(literals))
        self.owner.append(at)
        self.exact.append(exact)
