"""Tree to text, such that ``parse(to_text(tree)) == tree``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from tamis.errors import TypeMismatch
from tamis.expression.tree import (
    And,
    Between,
    Compare,
    Exists,
    Expr,
    In,
    Like,
    Network,
    Node,
    Not,
    Or,
    Predicate,
    Regex,
    Text,
    Within,
    children_of,
)
from tamis.language.scan import is_bare
from tamis.values.shape import Box, Circle, Ring, Shape
from tamis.values.value import Point, Scalar, format_time, short


class Span(NamedTuple):
    """Where a node stands in the text of its tree, and where its children do."""

    start: int
    end: int
    children: tuple[Span, ...] = ()


def leaf(expr: Any) -> Any:
    """``expr``, if it is a node of a tree at all."""
    if not isinstance(expr, Node):
        raise TypeMismatch(f"only a tree can be written, not {short(expr)}; tamis.parse reads a text")
    return expr


def to_text(expr: Expr) -> str:
    """Return the SQL-like text of a valid tree, with no more parentheses than it needs."""
    if not isinstance(expr, And | Or | Not):
        return _predicate(leaf(expr))
    if isinstance(expr, Not):
        return "NOT " + _inner(expr, expr.child)
    if not expr.children:
        return "TRUE" if isinstance(expr, And) else "FALSE"
    return _WORDS[type(expr)].join([_inner(expr, child) for child in expr.children])


def span_of(expr: Expr, start: int = 0) -> Span:
    """Return the places of all nodes in ``to_text(expr)``, which itself begins at ``start``."""
    if not children_of(expr):
        return Span(start, start + len(to_text(expr)))
    word, at = len(_WORDS[type(expr)]), start + (len("NOT ") if isinstance(expr, Not) else 0)
    children: list[Span] = []
    for child in children_of(expr):
        wrapped = _is_wrapped(expr, child)
        children.append(span_of(child, at + wrapped))
        at = children[-1].end + wrapped + word
    return Span(start, at - word, tuple(children))


def _inner(parent: Expr, child: Expr) -> str:
    return f"({to_text(child)})" if _is_wrapped(parent, child) else to_text(child)


def _is_wrapped(parent: Expr, child: Expr) -> bool:
    """AND binds tighter, so only an OR below an AND, or a node below its like or a NOT, needs parentheses."""
    if not isinstance(child, And | Or) or not child.children:
        return False
    return not (isinstance(parent, Or) and isinstance(child, And))


_WORDS: dict[type, str] = {And: " AND ", Or: " OR ", Not: ""}


def _predicate(predicate: Predicate) -> str:
    text = f"{print_name(predicate.attribute)} {_PRINTERS[type(predicate)](predicate)}"
    return text if predicate.weight == 1.0 else f"{text} ^ {print_number(predicate.weight)}"


def print_name(name: str) -> str:
    """Return an attribute's name, double-quoted only where it must be."""
    return name if is_bare(name) else '"' + name.replace('"', '""') + '"'


def print_value(value: Scalar | Point) -> str:
    """Return a literal."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{format_time(value)}'"
    if isinstance(value, Point):
        return f"POINT ({_pair(value.lon, value.lat)})"
    return repr(value)


def quoted(text: str) -> str:
    """``text`` as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def print_number(number: float) -> str:
    """Return a float without a needless fraction, for places where all numbers are floats."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _not(predicate: Any) -> str:
    return "NOT " if predicate.negated else ""


def _compare(p: Compare) -> str:
    return f"{p.op} {print_value(p.value)}"


def _in(p: In) -> str:
    return f"{_not(p)}IN ({', '.join(map(print_value, p.values))})"


def _between(p: Between) -> str:
    return f"{_not(p)}BETWEEN {print_value(p.low)} AND {print_value(p.high)}"


def _like(p: Like) -> str:
    return f"{_not(p)}{'ILIKE' if p.fold else 'LIKE'} {quoted(p.pattern)}"


def _regex(p: Regex) -> str:
    return f"{_not(p)}RLIKE {quoted(p.pattern)}"


def _text(p: Text) -> str:
    if p.mode == "phrase":
        return f"{_not(p)}HAS PHRASE {quoted(' '.join(p.terms))}"
    if len(p.terms) == 1:
        return f"{_not(p)}HAS {quoted(p.terms[0])}"
    return f"{_not(p)}HAS {p.mode.upper()} ({', '.join(map(quoted, p.terms))})"


def _within(p: Within) -> str:
    return f"{_not(p)}WITHIN {print_shape(p.shape)}"


def print_shape(shape: Shape) -> str:
    """What stands after WITHIN."""
    if isinstance(shape, Box):
        return f"BOX ({', '.join(map(print_number, (shape.west, shape.south, shape.east, shape.north)))})"
    if isinstance(shape, Circle):
        return f"{_distance(shape.metres)} OF {print_value(shape.centre)}"
    areas = [f"({', '.join(map(_ring, area))})" for area in shape.areas]
    return f"POLYGON {areas[0]}" if len(areas) == 1 else f"MULTIPOLYGON ({', '.join(areas)})"


def _distance(metres: float) -> str:
    if metres % 1000.0 == 0.0 and metres < 1e15:
        return f"{int(metres) // 1000} KM"
    return f"{print_number(metres)} M"


def _ring(ring: Ring) -> str:
    return f"({', '.join(_pair(lon, lat) for lon, lat in ring)})"


def _pair(lon: float, lat: float) -> str:
    return f"{print_number(lon)} {print_number(lat)}"


def _network(p: Network) -> str:
    blocks = ", ".join(map(quoted, p.blocks))
    return f"{_not(p)}IN CIDR {blocks if len(p.blocks) == 1 else f'({blocks})'}"


def _exists(p: Exists) -> str:
    return "IS NULL" if p.negated else "IS NOT NULL"


_PRINTERS: dict[type, Callable[[Any], str]] = {
    Compare: _compare,
    In: _in,
    Between: _between,
    Like: _like,
    Regex: _regex,
    Text: _text,
    Within: _within,
    Network: _network,
    Exists: _exists,
}
