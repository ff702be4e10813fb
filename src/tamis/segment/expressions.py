"""Check stored expressions, so that each can be read as a tree and merged into another segment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.columns._kernels import misplaced_row
from tamis.columns.codes import (
    IS_KNOWN,
    LEAST,
    MOST,
    STRUCTURAL,
    TAKES_NUMBER,
    TAKES_ORDER,
    TAKES_SHAPES,
    TAKES_STRINGS,
    Kind,
)
from tamis.columns.groups import places_of
from tamis.columns.literals import Literals, literal_at
from tamis.columns.rows import Columns
from tamis.engines.proof import is_below
from tamis.expression.operands import DEEPEST
from tamis.expression.predicates import Network
from tamis.values.address import block_range
from tamis.values.shape import Polygon, geometry
from tamis.values.value import micros_of

Ensure = Callable[[Any, str], None]
Ints = npt.NDArray[np.int64]

_EARLIEST, _LATEST = (micros_of(end.replace(tzinfo=UTC)) for end in (datetime.min, datetime.max))
_SCALARS = (Kind.INT, Kind.FLOAT, Kind.TIME, Kind.BOOLEAN, Kind.STRING, Kind.POINT)


def check_book(columns: Columns, ensure: Ensure) -> None:
    """Check everything that the readers of expressions rely on, by calls of ``ensure``."""
    ensure(len(columns.weight) in (0, len(columns.op)), "book.weight has the wrong length")
    _check_literals(columns.literals, ensure)
    _check_rows(columns, ensure)
    _check_networks(columns, ensure)
    _check_numbers(columns, ensure)


def _check_rows(columns: Columns, ensure: Ensure) -> None:
    """Check that operators have the operands they take, and that rows are in reverse Polish order."""
    ensure(IS_KNOWN[columns.op].all(), "an operator is unknown")
    predicates = columns.op < STRUCTURAL
    ensure(is_below(columns.attribute[predicates], len(columns.names)), "a predicate has no attribute")
    # AND, OR and NOT carry the number of some attribute, which only merging reads.
    ensure(is_below(columns.attribute, max(len(columns.names), 1)), "a row has no attribute")
    ensure(is_below(columns.args, len(columns.literals.kind)), "an operand is missing")
    ensure(is_below(columns.arity, max(len(columns.args), len(columns.op)) + 1), "too many operands")
    arity, args, row_start, arg_start = (
        np.ascontiguousarray(part, np.int64)
        for part in (columns.arity, columns.args, columns.row_start, columns.arg_start)
    )
    depth = np.empty(int(np.diff(row_start).max(initial=0)), np.int64)
    places = columns.op, arity, args, columns.literals.kind, row_start, arg_start
    bad = misplaced_row(*places, LEAST, MOST, _allowed(), depth, DEEPEST)
    ensure(bad < 0, "the operands do not fit the operators")


def _allowed() -> Ints:
    """Return the kinds of literals that each operator takes, a bit for each kind."""
    allowed = np.full(256, sum(1 << kind for kind in _SCALARS), np.int64)
    allowed[TAKES_ORDER] &= ~(1 << Kind.POINT)
    allowed[TAKES_STRINGS] = 1 << Kind.STRING
    allowed[TAKES_NUMBER] |= 1 << Kind.INT
    allowed[TAKES_SHAPES] = 1 << Kind.SHAPE
    return allowed


def _check_literals(literals: Literals, ensure: Ensure) -> None:
    """Check that every literal can be read as a value of its kind."""
    kind, bits = literals.kind, literals.bits
    ensure(is_below(kind, max(Kind) + 1), "a literal is of no kind")
    ensure(is_below(bits[kind >= Kind.STRING], literals.strings.count), "a literal has no text")
    ensure(is_below(bits[kind == Kind.BOOLEAN], 2), "a literal is neither true nor false")
    ensure(np.isfinite(bits[kind == Kind.FLOAT].view(np.float64)).all(), "a literal is no finite number")
    moments = bits[kind == Kind.TIME]
    sound = np.all((moments >= _EARLIEST) & (moments <= _LATEST))
    ensure(sound, "a literal is no time")
    for at in np.flatnonzero(kind >= Kind.SHAPE).tolist():
        ensure(_is_shape(literals, at), "a shape cannot be read")


def _is_shape(literals: Literals, at: int) -> bool:
    try:
        shape = literal_at(literals, at)
        if isinstance(shape, Polygon):
            geometry(shape)
    except Exception:  # the libraries that read shapes raise errors of many types
        return False
    return True


def _check_networks(columns: Columns, ensure: Ensure) -> None:
    """Check that the blocks of networks can be read."""
    rows = np.flatnonzero((columns.op & 0xFE) == Network.OPERATORS[0].code)
    blocks = np.unique(columns.args[places_of(*_runs(columns, rows))])
    ensure(all(_is_block(columns.literals, int(at)) for at in blocks), "a network cannot be read")


def _check_numbers(columns: Columns, ensure: Ensure) -> None:
    """Check that a number stands behind the strings of the operators that take one, and nowhere else."""
    rows = np.flatnonzero(TAKES_NUMBER[columns.op])
    begin, arity = _runs(columns, rows)
    numbers = columns.literals.kind[columns.args[places_of(begin, arity)]] == Kind.INT
    last = np.zeros(len(numbers), np.bool_)
    last[np.cumsum(arity) - 1] = True
    ensure(np.array_equal(numbers, last), "a predicate of terms has no number, or several")


def _runs(columns: Columns, rows: Ints) -> tuple[Ints, Ints]:
    """Return where the operands of the predicates in ``rows`` begin, and how many there are."""
    arity = np.where(columns.op < STRUCTURAL, columns.arity, 0).astype(np.int64)
    return (np.cumsum(arity) - arity)[rows], arity[rows]


def _is_block(literals: Literals, at: int) -> bool:
    try:
        block_range(literal_at(literals, at))
    except ValueError:
        return False
    return True
