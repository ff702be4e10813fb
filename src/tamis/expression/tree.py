"""Define the tree of an expression, which every written form becomes.

Leaves are predicates on one attribute (:mod:`tamis.expression.predicate`). Inner nodes are :class:`And`,
:class:`Or` and :class:`Not`. Nodes are immutable, hashable and compare by content. :class:`Not` is plain
two-valued negation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import msgspec

if TYPE_CHECKING:
    from tamis.expression.predicate import Predicate


class Node(msgspec.Struct, frozen=True):
    """The base of all nodes; ``&``, ``|`` and ``~`` build larger expressions."""

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


class And(Node, frozen=True):
    """A conjunction: true if all children are; with no children, always true."""

    children: tuple[Expr, ...]

    def __and__(self, other: Expr) -> And:
        return And((*self.children, other))  # a long chain of & stays one flat node


class Or(Node, frozen=True):
    """A disjunction: true if some child is; with no children, never true."""

    children: tuple[Expr, ...]

    def __or__(self, other: Expr) -> Or:
        return Or((*self.children, other))


class Not(Node, frozen=True):
    """A negation: true if the child is false."""

    child: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        """The only child, as a tuple."""
        return (self.child,)


Expr: TypeAlias = "Predicate | And | Or | Not"

TRUE = And(())
FALSE = Or(())


class Subscription(msgspec.Struct, frozen=True):
    """A standing query with its owner's id for it and a static priority for top-k.

    ``version`` is for users that keep several versions: 0 unless a store numbers its changes.
    """

    id: str
    expression: Expr
    priority: float = 0.0
    version: int = 0


def predicates_of(expr: Expr) -> Iterator[Predicate]:
    """Yield every predicate of ``expr`` from left to right, without recursion."""
    stack: list[Expr] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, And | Or | Not):
            stack.extend(reversed(node.children))
        else:
            yield node


def size_of(expr: Expr) -> int:
    """Return the size for an index: the number of predicates, each value of a list counted; at least 1."""
    return max(1, sum(predicate.size for predicate in predicates_of(expr)))
