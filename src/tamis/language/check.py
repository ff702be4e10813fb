"""Check trees: every written form passes here, and a tree that leaves is valid.

:func:`check_tree` returns the canonical tree: strings in NFC, weights as floats, networks in their shortest
writing, and no ``And`` or ``Or`` with a single child. It returns equal trees for equal
meanings only if they differ in spelling; it never rewrites logic.
"""

from __future__ import annotations

from typing import Any

from tamis.errors import ParseError
from tamis.expression.operands import depth_limit, kind_of, over
from tamis.expression.predicate import Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers


def check_tree(expr: Any, limits: Limits = DEFAULT_LIMITS, analysers: Analysers = NO_ANALYSERS) -> Expr:
    """Return ``expr`` as a canonical tree, or raise an :class:`~tamis.errors.ExpressionError`.

    ``analysers`` names those of attributes; a predicate that names one keeps it.
    """
    return _Walk(limits, analysers).clean(expr, 1)


class _Walk:
    """A walk that rebuilds a tree and counts leaves and depth; the limits hold even if nodes are shared."""

    def __init__(self, limits: Limits, analysers: Analysers) -> None:
        self.limits, self.analysers = limits, analysers
        self.deepest = depth_limit(limits)
        self.leaves = 0

    def clean(self, node: Any, depth: int) -> Expr:
        if depth > self.deepest:
            raise over("expression_depth", self.deepest, f"the expression is {depth} levels deep")
        while isinstance(node, And | Or) and len(_children(node)) == 1:
            node = node.children[0]
        if isinstance(node, And | Or):
            if node.children:
                return type(node)(tuple([self.clean(child, depth + 1) for child in node.children]))
            self._count()
            return type(node)(())
        if isinstance(node, Not):
            return Not(self.clean(node.child, depth + 1))
        self._count()
        if not isinstance(node, Predicate):
            raise ParseError(f"{kind_of(node)} is not a node of an expression")
        return node.bound(self.analysers).checked(self.limits)

    def _count(self) -> None:
        self.leaves += 1
        if self.leaves > self.limits.expression_predicates:
            raise over(
                "expression_predicates",
                self.limits.expression_predicates,
                f"the expression has at least {self.leaves} predicates",
            )


def _children(node: And | Or) -> tuple[Any, ...]:
    if not isinstance(node.children, tuple | list):
        raise ParseError(f"the children of a node are a tuple, not {kind_of(node.children)}")
    return tuple(node.children)
