"""Print a tree as text, such that ``parse(to_text(tree)) == tree``."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.errors import TypeMismatch
from tamis.expression.operands import print_number
from tamis.expression.predicate import Predicate
from tamis.expression.tree import And, Expr, Node, Not, Or
from tamis.language.scan import is_bare
from tamis.values.value import short


class Span(NamedTuple):
    """The place of a node in the text of its tree, and the places of its children."""

    start: int
    end: int
    children: tuple[Span, ...] = ()


def leaf(expr: Any) -> Any:
    """Return ``expr`` if it is a node of a tree; raise :class:`TypeMismatch` otherwise."""
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
    if not expr.children:
        return Span(start, start + len(to_text(expr)))
    word, at = len(_WORDS[type(expr)]), start + (len("NOT ") if isinstance(expr, Not) else 0)
    children: list[Span] = []
    for child in expr.children:
        wrapped = _is_wrapped(expr, child)
        children.append(span_of(child, at + wrapped))
        at = children[-1].end + wrapped + word
    return Span(start, at - word, tuple(children))


def _inner(parent: Expr, child: Expr) -> str:
    return f"({to_text(child)})" if _is_wrapped(parent, child) else to_text(child)


def _is_wrapped(parent: Expr, child: Expr) -> bool:
    """Return whether a child needs parentheses.

    AND binds tighter, so only an OR below an AND, or a node below its like or a NOT, needs them.
    """
    if not isinstance(child, And | Or) or not child.children:
        return False
    return not (isinstance(parent, Or) and isinstance(child, And))


_WORDS: dict[type, str] = {And: " AND ", Or: " OR ", Not: ""}


def _predicate(predicate: Predicate) -> str:
    text = f"{print_name(predicate.attribute)} {predicate.text()}"
    return text if predicate.weight == 1.0 else f"{text} ^ {print_number(predicate.weight)}"


def print_name(name: str) -> str:
    """Return an attribute's name, double-quoted only if necessary."""
    return name if is_bare(name) else '"' + name.replace('"', '""') + '"'
