"""Find the parts of an expression that are never true, always true or implied by their neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tamis.expression.tree import And, Expr, Not, Or
from tamis.language import Span
from tamis.normal import follows, is_always, is_never

CAP = 64  # clauses that a part may expand to; a larger part gets no verdict
CHECKS = 256  # parts looked at; the rest of a large expression gets no advice
OPERANDS = 1_024  # of an expression that is looked into; people hardly write larger ones

Fault = Literal["contradiction", "tautology", "redundant"]


class Part(NamedTuple):
    """A part of the expression with a fault."""

    fault: Fault
    expr: Expr
    span: Span


def idle_parts(expr: Expr, span: Span, whole: bool = False) -> list[Part]:
    """Return the parts of ``expr`` that change nothing, the largest first, none of them inside another.

    ``whole`` means that the expression itself is never or always true, which makes every part redundant.
    """
    return list(_Search(not whole).inside(expr, span))


class _Search:
    def __init__(self, redundancy: bool) -> None:
        self.redundancy = redundancy
        self.left = CHECKS

    def inside(self, expr: Expr, span: Span) -> Iterator[Part]:
        parts = list(zip(expr.children, span.children, strict=True))
        faults = [self._fault(child) for child, _ in parts]
        if self.redundancy and isinstance(expr, And | Or):
            self._find_redundant(expr, faults)
        for (child, place), fault in zip(parts, faults, strict=True):
            if fault is not None:
                yield Part(fault, child, place)
            else:
                yield from self.inside(child, place)

    def _fault(self, expr: Expr) -> Fault | None:
        if not self._spend():
            return None
        return "contradiction" if is_never(expr, CAP) else "tautology" if is_always(expr, CAP) else None

    def _find_redundant(self, expr: And | Or, faults: list[Fault | None]) -> None:
        """Mark redundant children, the last first: of two equal children the later is redundant."""
        kept = [at for at, fault in enumerate(faults) if fault is None]
        for at in reversed(kept[:]):
            if len(kept) < 2 or not self._spend():
                return
            others = [other for other in kept if other != at]
            if _changes_nothing(expr, expr.children[at], tuple([expr.children[other] for other in others])):
                faults[at], kept = "redundant", others

    def _spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


def _changes_nothing(node: And | Or, child: Expr, others: tuple[Expr, ...]) -> bool:
    """Return whether a child follows from the others (AND), or is a case that they cover (OR)."""
    if isinstance(node, And):
        return follows(child, others, CAP)
    return is_never(And((child, *map(Not, others))), CAP)
