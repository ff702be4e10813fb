"""Read the columns and constants of a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from tamis.errors import EventValue, ParseError, TypeMismatch
from tamis.values.value import parse_time

_TIMES: tuple[Any, ...] = (
    exp.DType.DATE,
    exp.DType.DATETIME,
    exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPTZ,
    exp.DType.TIMESTAMPLTZ,
)
_TIMES += (exp.DType.TIMESTAMPNTZ,)
_TEXTS = (exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR, exp.DType.INET)
_NUMBERS = (
    exp.DType.INT,
    exp.DType.BIGINT,
    exp.DType.SMALLINT,
    exp.DType.DOUBLE,
    exp.DType.FLOAT,
    exp.DType.DECIMAL,
)
_PRESENT = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.CurrentDatetime, exp.Interval)


def sql_of(node: Any) -> str:
    """Return a short text of a node for messages."""
    return str(node.sql())[:60]


def bare(node: Any) -> Any:
    """Return a node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def name_of(node: Any) -> str:
    """Return the attribute that a column names; raise an error if the node is no column."""
    node = bare(node)
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return ".".join(part.name for part in node.parts)
    if isinstance(node, exp.Dot):
        return f"{name_of(node.this)}.{node.expression.name}"
    if isinstance(node, exp.Cast):
        raise TypeMismatch(f"Tamis casts no attribute: {sql_of(node)}")
    if isinstance(node, _PRESENT) or any(True for _ in node.find_all(*_PRESENT)):
        raise ParseError(f"an expression of Tamis has no current time: {sql_of(node)}")
    if isinstance(node, exp.Binary):
        raise ParseError(f"Tamis computes nothing: {sql_of(node)}")
    raise ParseError(f"expected a column, found {sql_of(node)}; Tamis computes no functions")


def is_column(node: Any) -> bool:
    """Return whether a node is a column."""
    return isinstance(bare(node), exp.Column | exp.Dot)


def is_constant(node: Any) -> bool:
    """Return whether a node says a value without a column."""
    node = bare(node)
    return isinstance(node, exp.Literal | exp.Boolean | exp.Null | exp.RawString | exp.National) or (
        isinstance(node, exp.Neg | exp.Cast | exp.TsOrDsToDate) and is_constant(node.this)
    )


def value_of(node: Any) -> Any:
    """Return the value of a constant; ``None`` for NULL."""
    node = bare(node)
    match node:
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(node.this)
        case exp.RawString() | exp.National():
            return str(node.this)
        case exp.Literal():
            return str(node.this) if node.is_string else _number(str(node.this))
        case exp.Neg():
            found = value_of(node.this)
            if isinstance(found, int | float) and not isinstance(found, bool):
                return -found
        case exp.Cast():
            return _cast(value_of(node.this), node)
        case exp.TsOrDsToDate():
            return _time(value_of(node.this))
    if is_column(node):
        raise ParseError(f"Tamis does not compare an attribute with the attribute {sql_of(node)}")
    name_of(node)
    raise ParseError(f"expected a value, found {sql_of(node)}")


def values_of(nodes: Sequence[Any]) -> list[Any]:
    """Return the values of constants."""
    return [value_of(node) for node in nodes]


def _number(text: str) -> int | float:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise TypeMismatch(f"{text[:40]!r} is no number") from None


def _cast(value: Any, node: Any) -> Any:
    kind = node.to.this
    if value is None:
        return None
    if kind in _TIMES:
        return _time(value)
    if kind in _TEXTS:
        return str(value)
    if kind in _NUMBERS and isinstance(value, str | int | float) and not isinstance(value, bool):
        return _number(value.strip()) if isinstance(value, str) else value
    if kind is exp.DType.BOOLEAN and isinstance(value, bool):
        return value
    raise TypeMismatch(f"Tamis cannot work out {sql_of(node)}")


def _time(value: Any) -> Any:
    try:
        return parse_time(str(value))
    except (ValueError, EventValue):
        raise TypeMismatch(f"{str(value)[:40]!r} is no ISO 8601 date or time") from None
