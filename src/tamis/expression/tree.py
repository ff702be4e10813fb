"""Expressions: the tree that every written form becomes.

Leaves are predicates on one attribute; inner nodes are :class:`And`, :class:`Or`, :class:`Not`.
Nodes are immutable, hashable and compare by content. A negated predicate (``negated=True``) is
the *negative form* (docs/language.md): the attribute is present and no value satisfies the positive
form; :class:`Not` is plain two-valued negation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from tamis.values.shape import Polygon, Shape
from tamis.values.value import Point, Scalar, family

CompareOp = Literal["=", "!=", "<", "<=", ">", ">="]
TextMode = Literal["any", "all", "phrase"]


class Node(msgspec.Struct, frozen=True):
    """Base of all nodes; ``&``, ``|`` and ``~`` build larger expressions."""

    def __and__(self, other: Expr) -> And:
        return And((self, other))  # type: ignore[arg-type]

    def __or__(self, other: Expr) -> Or:
        return Or((self, other))  # type: ignore[arg-type]

    def __invert__(self) -> Not:
        return Not(self)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        # ``and``, ``or``, ``not`` and chained comparisons would silently drop a part of the expression.
        raise TypeError(
            "an expression is neither true nor false before it meets an event; join expressions with & (and),"
            " | (or) and ~ (not), each part in parentheses: (attr('a') < 3) & (attr('b') > 2). Write a"
            " chained comparison such as 1 < attr('a') < 3 as two comparisons, or with between()"
        )


class Compare(Node, frozen=True):
    """``attribute op value``."""

    attribute: str
    op: CompareOp
    value: Scalar | Point
    weight: float = 1.0


class In(Node, frozen=True):
    """``attribute [NOT] IN (values)``."""

    attribute: str
    values: tuple[Scalar, ...]
    negated: bool = False
    weight: float = 1.0


class Between(Node, frozen=True):
    """``attribute [NOT] BETWEEN low AND high``, ends included."""

    attribute: str
    low: Scalar
    high: Scalar
    negated: bool = False
    weight: float = 1.0


class Like(Node, frozen=True):
    """``attribute [NOT] LIKE pattern``: ``%`` any run, ``_`` one character, backslash escapes."""

    attribute: str
    pattern: str
    fold: bool = False
    negated: bool = False
    weight: float = 1.0


class Regex(Node, frozen=True):
    """``attribute [NOT] RLIKE pattern``: RE2 syntax, found anywhere in the value."""

    attribute: str
    pattern: str
    negated: bool = False
    weight: float = 1.0


class Text(Node, frozen=True):
    """``attribute [NOT] HAS …``: any of the terms, all of them, or all in a row."""

    attribute: str
    mode: TextMode
    terms: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0


class Within(Node, frozen=True):
    """``attribute [NOT] WITHIN shape``."""

    attribute: str
    shape: Shape
    negated: bool = False
    weight: float = 1.0


class Network(Node, frozen=True):
    """``attribute [NOT] IN CIDR (blocks)``, v4 and v6."""

    attribute: str
    blocks: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0


class Exists(Node, frozen=True):
    """``attribute IS NOT NULL``; negated, ``attribute IS NULL``."""

    attribute: str
    negated: bool = False
    weight: float = 1.0


class And(Node, frozen=True):
    """All children are true; with no children, always true."""

    children: tuple[Expr, ...]

    def __and__(self, other: Expr) -> And:
        return And((*self.children, other))  # a long chain of & stays one flat node


class Or(Node, frozen=True):
    """Some child is true; with no children, never true."""

    children: tuple[Expr, ...]

    def __or__(self, other: Expr) -> Or:
        return Or((*self.children, other))


class Not(Node, frozen=True):
    """The child is false."""

    child: Expr


Predicate = Compare | In | Between | Like | Regex | Text | Within | Network | Exists
Expr = Predicate | And | Or | Not

PREDICATES: tuple[type, ...] = (Compare, In, Between, Like, Regex, Text, Within, Network, Exists)

TRUE = And(())
FALSE = Or(())


class Subscription(msgspec.Struct, frozen=True):
    """A standing query with its owner's id for it and a static priority for top-k.

    ``version`` is carried along for those who keep several: 0 unless a store numbers its changes.
    """

    id: str
    expression: Expr
    priority: float = 0.0
    version: int = 0


def children_of(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct children; none for a predicate."""
    if isinstance(expr, And | Or):
        return expr.children
    return (expr.child,) if isinstance(expr, Not) else ()


def predicates_of(expr: Expr) -> Iterator[Any]:
    """Yield every predicate of ``expr`` from left to right, without recursion."""
    stack: list[Expr] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, And | Or | Not):
            stack.extend(reversed(children_of(node)))
        else:
            yield node


def size_of(expr: Expr) -> int:
    """Return how much there is to index: predicates, where a list counts each of its values; at least 1."""
    return max(1, sum(map(_operands, predicates_of(expr))))


def _operands(predicate: Predicate) -> int:
    if isinstance(predicate, In):
        return max(1, len(predicate.values))
    if isinstance(predicate, Text):
        return len(predicate.terms)
    return len(predicate.blocks) if isinstance(predicate, Network) else 1


def is_negative(predicate: Predicate) -> bool:
    """Return whether ``predicate`` is a negative form."""
    return predicate.op == "!=" if isinstance(predicate, Compare) else predicate.negated


def positive(predicate: Predicate) -> Predicate:
    """Return the positive form that ``predicate`` is or denies."""
    if not is_negative(predicate):
        return predicate
    if isinstance(predicate, Compare):
        return msgspec.structs.replace(predicate, op="=")
    return msgspec.structs.replace(predicate, negated=False)


def families_of(predicate: Predicate) -> frozenset[str]:
    """Return the families of values that can satisfy the positive form; none of them for :class:`Exists`."""
    match predicate:
        case Compare():
            return frozenset((family(predicate.value),))
        case In():
            return frozenset(map(family, predicate.values))
        case Between():
            return frozenset((family(predicate.low),))
        case Within():
            return frozenset(("point",))
        case Exists():
            return frozenset()
    return frozenset(("string",))


def operands_of(predicate: Predicate) -> int:
    """Return how many operands a value may have to be compared with, vertices of polygons among them; at
    least 1."""
    match predicate:
        case In(values=operands) | Text(terms=operands) | Network(blocks=operands):
            return max(len(operands), 1)
        case Within(shape=Polygon(areas=areas)):
            return sum(len(ring) for area in areas for ring in area)
    return 1
