"""Write expressions and their clauses as rows of columns.

A plain conjunction is its own clause. The clauses of other expressions are written as soon as their trees are
read (:class:`ClauseWriter`). Trees are rebuilt from rows in one case only: when stored segments are merged
(:func:`clause_rows`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import AND, NOT, OR, STRUCTURAL, Kind
from tamis.columns.literals import Literals, LiteralWriter, join_strings, literal_at
from tamis.expression.predicates import BY_CODE, Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.views import USING
from tamis.limits import Limits
from tamis.normal import Literal, clauses_of, demands_of

Ints = npt.NDArray[Any]


class Columns(NamedTuple):
    """A list of expressions as flat arrays; the package's docstring describes the layout."""

    names: tuple[str, ...]
    literals: Literals
    attribute: Ints
    op: Ints
    arity: Ints
    args: Ints
    weight: npt.NDArray[np.float64]
    row_start: Ints
    arg_start: Ints

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of expressions."""
        return len(self.row_start) - 1


class RowWriter:
    """A writer that appends expressions to growing columns."""

    def __init__(self, names: dict[str, int] | None = None) -> None:
        self.literals = LiteralWriter()
        self.names: dict[str, int] = {} if names is None else names  # other writers may share it
        self._packed = array("Q")  # as in rows_from: one append is cheaper than three
        self._args = array("I")
        self._weight: dict[int, float] = {}  # of the rows whose weight is not 1
        self._is_nested = False  # whether the current expression has AND, OR or NOT inside
        self._row_start = array("q", [0])
        self._arg_start = array("q", [0])
        self.named: list[str] = []  # the names that this writer added, in order

    def __len__(self) -> int:
        return len(self._row_start) - 1

    def add(self, expr: Expr) -> bool:
        """Append one expression; return whether it is more than a plain conjunction."""
        self._is_nested = False
        self._write_all(expr.children if type(expr) is And else (expr,))
        self.end()
        return self._is_nested

    def end(self) -> None:
        """Close the run of rows of the current expression."""
        self._row_start.append(len(self._packed))
        self._arg_start.append(len(self._args))

    def predicate(self, predicate: Predicate) -> None:
        """Append one predicate row to the current expression."""
        self._write_all((predicate,))

    def _write_all(self, parts: Iterable[Expr]) -> None:
        """Append predicates and nested trees; this is one loop because a call costs more than a predicate."""
        literals, names, args, packed = self.literals, self.names, self._args, self._packed
        small = literals.small
        for part in parts:
            if type(part) in _INNER:
                self._write_inner(part)
                continue
            predicate: Predicate = part  # type: ignore[assignment]
            operands, name = predicate.operands, predicate.attribute
            for operand in operands:
                known = small.get(operand) if type(operand) is int else None
                args.append(literals.value(operand) if known is None else known)
            at = names.get(name)
            if at is None:
                at = names[name] = len(names)
                self.named.append(name)
            if predicate.weight != 1.0:
                self._weight[len(packed)] = predicate.weight
            packed.append(at << 32 | len(operands) << 8 | predicate.code)

    def _write_inner(self, expr: Any) -> None:
        self._write_all(expr.children)
        kind = type(expr)
        self._structure(AND if kind is And else OR if kind is Or else NOT, len(expr.children))

    def _structure(self, op: int, arity: int) -> None:
        self._is_nested = True
        self._packed.append(arity << 8 | op)

    def rows_from(self, first: int) -> npt.NDArray[np.int64]:
        """Return the expressions from ``first`` on, as one array for a kernel.

        It holds their number, where the rows and then the operands of each begin and end, the rows, and the
        operands. A row has 32 bits for the attribute, 24 for the number of operands and 8 for the operator.
        """
        row, arg = self._row_start[first], self._arg_start[first]
        count = len(self) - first
        parts = (self._row_start[first:], self._arg_start[first:], self._packed[row:], self._args[arg:])
        if count == 1:  # the calls below cost more than a few numbers
            return np.array((1, *parts[0], *parts[1], *parts[2], *parts[3]), np.int64)
        return np.concatenate([np.array((count,)), *(np.array(part).astype(np.int64) for part in parts)])

    def expression(self, at: int) -> Expr:
        """Return expression ``at`` as a tree; all names are of this writer.

        Another thread may append expressions meanwhile.
        """
        first, end = self._row_start[at], self._row_start[at + 1]
        rows = self._packed[first:end]
        written: Any = (
            self.named,
            self.literals,
            [row >> 32 for row in rows],
            [row & 0xFF for row in rows],
            [row >> 8 & 0xFFFFFF for row in rows],
            self._args[self._arg_start[at] : self._arg_start[at + 1]],
            [self._weight.get(row, 1.0) for row in range(first, end)],
            (0, end - first),
            (0,),
        )
        return tree_at(Columns(*written), 0)

    def freeze(self) -> Columns:
        """Return the columns written so far."""
        weight = np.ones(len(self._packed) if self._weight else 0)
        weight[list(self._weight)] = list(self._weight.values())
        packed = np.array(self._packed, np.uint64)
        return Columns(
            tuple(self.names),
            self.literals.freeze(),
            (packed >> 32).astype(np.uint32),
            (packed & 0xFF).astype(np.uint8),
            (packed >> 8 & 0xFFFFFF).astype(np.uint32),
            np.array(self._args, np.uint32),
            weight,
            np.array(self._row_start, np.int64),
            np.array(self._arg_start, np.int64),
        )


def tree_at(columns: Columns, at: int) -> Expr:
    """Return expression ``at`` as a tree."""
    stack: list[Expr] = []
    arg = int(columns.arg_start[at])
    for row in range(int(columns.row_start[at]), int(columns.row_start[at + 1])):
        op, arity = int(columns.op[row]), int(columns.arity[row])
        if op >= STRUCTURAL:
            children = tuple(stack[len(stack) - arity :])
            del stack[len(stack) - arity :]
            stack.append(_join(op, children))
            continue
        operands = [literal_at(columns.literals, int(a)) for a in columns.args[arg : arg + arity]]
        arg += arity
        weight = float(columns.weight[row]) if len(columns.weight) else 1.0
        stack.append(predicate_of(columns.names[int(columns.attribute[row])], op, operands, weight))
    return stack[0] if len(stack) == 1 else And(tuple(stack))


def _join(op: int, children: tuple[Expr, ...]) -> Expr:
    if op == NOT:
        return Not(children[0])
    return And(children) if op == AND else Or(children)


def predicate_of(name: str, op: int, operands: Sequence[Any], weight: float) -> Predicate:
    """Return the predicate that a row stands for."""
    kind, operator = BY_CODE[op & ~1]
    return kind.build(operator, name, operands, bool(op & 1), weight)


def analysers_in(columns: Columns) -> set[str]:
    """Return the names of all analysers that predicates name."""
    takes = np.zeros(256, np.bool_)
    for code, (kind, _) in BY_CODE.items():
        takes[code : code + 2] = kind.TAKES_ANALYSER
    arity = np.where(columns.op < STRUCTURAL, columns.arity, 0).astype(np.int64)
    first = (np.cumsum(arity) - arity)[takes[columns.op] & (arity > 0)]
    texts = (literal_at(columns.literals, at) for at in np.unique(columns.args[first]).tolist())
    return {text[1:] for text in texts if isinstance(text, str) and text.startswith(USING)}


def append(columns: Columns, more: Columns) -> Columns:
    """Return ``columns`` with the rows of ``more`` behind them; both began with the same names."""
    literals, (_, offset) = join_literals([columns.literals, more.literals])
    weighted = len(columns.weight) or len(more.weight)
    return Columns(
        more.names,
        literals,
        cat([columns.attribute, more.attribute], np.uint32),
        cat([columns.op, more.op], np.uint8),
        cat([columns.arity, more.arity], np.uint32),
        cat([columns.args, more.args.astype(np.int64) + offset], np.uint32),
        cat([_weights(columns), _weights(more)], np.float64) if weighted else np.zeros(0),
        cat([columns.row_start, more.row_start[1:] + columns.row_start[-1]], np.int64),
        cat([columns.arg_start, more.arg_start[1:] + columns.arg_start[-1]], np.int64),
    )


def _weights(columns: Columns) -> npt.NDArray[np.float64]:
    return columns.weight if len(columns.weight) else np.ones(len(columns.op))


def runs(start: Ints, chosen: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all positions of the chosen runs in order, and the length of each run."""
    low = start[chosen].astype(np.int64)
    count = start[chosen + 1].astype(np.int64) - low
    shift = np.repeat(low - starts(count)[:-1], count)
    return shift + np.arange(len(shift)), count


def starts(count: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return where runs of these lengths begin; the last entry is the end of the last run."""
    start = np.zeros(len(count) + 1, np.int64)
    np.cumsum(count, out=start[1:])
    return start


def cat(parts: list[Ints], dtype: Any) -> Ints:
    """Return the parts end to end, as numbers of one type."""
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


def join_literals(pools: list[Literals]) -> tuple[Literals, list[int]]:
    """Return all pools end to end, and where each begins."""
    offsets, kinds, bits = [], [], []
    count = texts = 0
    for pool in pools:
        offsets.append(count)
        kinds.append(pool.kind)
        bits.append(pool.bits + np.where(pool.kind >= Kind.STRING, texts, 0))
        count += len(pool.kind)
        texts += pool.strings.count
    strings = join_strings([pool.strings for pool in pools])
    return Literals(cat(kinds, np.uint8), cat(bits, np.int64), strings), offsets


_INNER = frozenset((And, Or, Not))
MOST_GROUPS = 63  # of alternatives in one clause


class ClauseRows(NamedTuple):
    """Clauses as rows: clause ``c`` is the conjunction of ``row[start[c]:start[c + 1]]`` of ``columns``.

    Rows of a clause with the same ``group``, unless it is 0, are alternatives.

    ``negated`` marks rows under a NOT, ``owner`` is the subscription that a clause belongs to, and a clause
    that is not ``exact`` covers its subscription without deciding it.
    """

    columns: Columns
    row: npt.NDArray[np.uint32]
    negated: npt.NDArray[np.bool_]
    start: Ints
    owner: Ints
    exact: npt.NDArray[np.bool_]
    group: npt.NDArray[np.uint8]


class ClauseWriter:
    """A writer of the clauses of expressions that are not plain conjunctions.

    With ``cnf``, an expression that is shorter in that form becomes one clause with groups of alternatives.
    """

    def __init__(self, names: dict[str, int], limits: Limits, cnf: bool = False) -> None:
        self.cnf = cnf
        self._limits = limits
        self._rows = RowWriter(names)
        self._negated: list[bool] = []
        self._count: list[int] = []
        self._owner: list[int] = []
        self._exact: list[bool] = []
        self._group: list[int] = []
        self._nested: list[int] = []

    def add(self, owner: int, tree: Expr) -> None:
        """Write the clauses of the expression of ``owner``."""
        self._nested.append(owner)
        demands = demands_of(tree, MOST_GROUPS) if self.cnf else None
        if demands is not None:
            alternatives = [(literal, group) for group, some in enumerate(demands, 1) for literal in some]
            self._write(owner, alternatives, exact=True)
            return
        found = clauses_of(tree, self._limits)
        for clause in found.clauses:
            self._write(owner, [(literal, 0) for literal in clause], exact=found.exact)

    def _write(self, owner: int, literals: Sequence[tuple[Literal, int]], *, exact: bool) -> None:
        for literal, group in literals:
            self._rows.predicate(literal.child if isinstance(literal, Not) else literal)  # type: ignore[arg-type]
            self._negated.append(isinstance(literal, Not))
            self._group.append(group)
        self._rows.end()
        self._count.append(len(literals))
        self._owner.append(owner)
        self._exact.append(exact)

    def freeze(self, columns: Columns) -> ClauseRows:
        """Return the clauses of all expressions of ``columns``: plain conjunctions first, then the others."""
        if not self._nested:
            return _plain_rows(columns, np.arange(columns.count))
        plain = np.ones(columns.count, np.bool_)
        plain[self._nested] = False
        rows = _plain_rows(columns, np.flatnonzero(plain))
        first = len(columns.op)
        return ClauseRows(
            append(columns, self._rows.freeze()),
            np.concatenate([rows.row, np.arange(first, first + len(self._negated), dtype=np.uint32)]),
            np.concatenate([rows.negated, np.array(self._negated, np.bool_)]),
            np.concatenate([rows.start, rows.start[-1] + np.cumsum(self._count, dtype=np.int64)]),
            np.concatenate([rows.owner, np.array(self._owner, np.int64)]),
            np.concatenate([rows.exact, np.array(self._exact, np.bool_)]),
            np.concatenate([rows.group, np.array(self._group, np.uint8)]),
        )


def clause_rows(columns: Columns, limits: Limits, *, cnf: bool = False) -> ClauseRows:
    """Return the clauses of stored expressions, whose trees are read back one by one."""
    nested = np.flatnonzero(columns.op >= STRUCTURAL)
    # The expression of a row is the last one that begins at or before it.
    nested = np.unique(np.searchsorted(columns.row_start, nested, side="right") - 1)
    writer = ClauseWriter({name: at for at, name in enumerate(columns.names)}, limits, cnf)
    for at in nested.tolist():
        writer.add(at, tree_at(columns, at))
    return writer.freeze(columns)


def _plain_rows(columns: Columns, chosen: Ints) -> ClauseRows:
    """Return the chosen expressions, which are all conjunctions, as clauses."""
    if len(chosen) == columns.count:
        row, start = np.arange(len(columns.op), dtype=np.uint32), columns.row_start
    else:
        places, count = runs(columns.row_start, chosen)
        row, start = places.astype(np.uint32), starts(count)
    none = np.zeros(len(row), np.uint8)
    return ClauseRows(columns, row, none.view(np.bool_), start, chosen, np.ones(len(chosen), np.bool_), none)
