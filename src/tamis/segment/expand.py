"""From stored expressions to the clauses to index."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import STRUCTURAL
from tamis.columns.rows import Columns, RowWriter, append, runs, starts, tree_at
from tamis.expression.tree import Not
from tamis.limits import Limits
from tamis.normal import Literal, clauses_of, demands_of
from tamis.space.clauses import MOST_GROUPS
from tamis.space.rows import ClauseRows

Ints = npt.NDArray[np.int64]


def clause_rows(columns: Columns, limits: Limits, *, cnf: bool = False) -> ClauseRows:
    """Plain conjunctions are their own clause; other expressions are normalised one by one.

    With ``cnf`` an expression that is shorter so becomes one clause with groups of alternatives.
    """
    nested = np.flatnonzero(columns.op >= STRUCTURAL)
    # The expression of a row is the last one that begins at or before it.
    nested = np.unique(np.searchsorted(columns.row_start, nested, side="right") - 1)
    if not len(nested):
        return _plain_rows(columns, np.arange(columns.count))
    plain = np.ones(columns.count, np.bool_)
    plain[nested] = False
    rows = _plain_rows(columns, np.flatnonzero(plain))
    extra = _Expansion(columns, limits, cnf)
    for at in nested.tolist():
        extra.add(at)
    return extra.after(rows)


def _plain_rows(columns: Columns, chosen: Ints) -> ClauseRows:
    """Return the chosen expressions, conjunctions all of them, as clauses."""
    if len(chosen) == columns.count:
        row, start = np.arange(len(columns.op), dtype=np.uint32), columns.row_start
    else:
        places, count = runs(columns.row_start, chosen)
        row, start = places.astype(np.uint32), starts(count)
    none = np.zeros(len(row), np.uint8)
    return ClauseRows(columns, row, none.view(np.bool_), start, chosen, np.ones(len(chosen), np.bool_), none)


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
            self.writer.predicate(literal.child if isinstance(literal, Not) else literal)  # type: ignore[arg-type]
            self.negated.append(negated)
            self.group.append(group)
        self.writer.end()
        self.count.append(len(literals))
        self.owner.append(at)
        self.exact.append(exact)

    def after(self, rows: ClauseRows) -> ClauseRows:
        """Return the clauses of ``rows`` and then those written here."""
        first = len(rows.columns.op)
        return ClauseRows(
            append(rows.columns, self.writer.freeze()),
            np.concatenate([rows.row, np.arange(first, first + len(self.negated), dtype=np.uint32)]),
            np.concatenate([rows.negated, np.array(self.negated, np.bool_)]),
            np.concatenate([rows.start, rows.start[-1] + np.cumsum(self.count, dtype=np.int64)]),
            np.concatenate([rows.owner, np.array(self.owner, np.int64)]),
            np.concatenate([rows.exact, np.array(self.exact, np.bool_)]),
            np.concatenate([rows.group, np.array(self.group, np.uint8)]),
        )
