"""The one gate for trees: whatever form an expression was written in, it is valid after this.

:func:`check_tree` returns the canonical tree: strings in NFC, weights as floats, terms tokenised,
networks in their shortest writing, and no ``And`` or ``Or`` with a single child. It returns equal
trees for equal meanings only where the writing is a matter of spelling; it never rewrites logic.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

from tamis.errors import ParseError, PatternError, TypeMismatch
from tamis.expression.tree import (
    And,
    Between,
    Compare,
    Exists,
    Expr,
    In,
    Like,
    Network,
    Not,
    Or,
    Predicate,
    Regex,
    Text,
    TextMode,
    Within,
)
from tamis.language.operand import (
    clean_name,
    clean_operand,
    clean_scalar,
    clean_text,
    clean_weight,
    depth_limit,
    kind_of,
    one_term,
    over,
)
from tamis.language.shapes import clean_shape
from tamis.language.wildcards import refuse_wildcards
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.pattern import compiled, read_like
from tamis.values.text import terms_of
from tamis.values.value import Point, Scalar, family

_OPS = frozenset(("=", "!=", "<", "<=", ">", ">="))
_MODES = frozenset(("any", "all", "phrase"))


def check_tree(expr: Any, limits: Limits = DEFAULT_LIMITS) -> Expr:
    """``expr`` as a canonical tree, or an :class:`~tamis.errors.ExpressionError` that says what is wrong."""
    return _Walk(limits).clean(expr, 1)


class _Walk:
    """Counts leaves and depth while it rebuilds; a tree that shares nodes cannot explode it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
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
        return check_predicate(node, self.limits)

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


def check_predicate(predicate: Any, limits: Limits) -> Predicate:
    """Return one leaf, cleaned."""
    checker = _CHECKS.get(type(predicate))
    if checker is None:
        raise ParseError(f"{kind_of(predicate)} is not a node of an expression")
    return checker(predicate, limits)


def _known(word: Any, words: frozenset[str]) -> bool:
    return isinstance(word, str) and word in words


def _compare(p: Compare, limits: Limits) -> Predicate:
    if not _known(p.op, _OPS):
        raise ParseError(f"{p.op!r} is not an operator; the operators are = != < <= > >=")
    value = clean_operand(p.value, limits)
    if p.op not in ("=", "!=") and type(value) in (bool, Point):
        raise TypeMismatch(f"{p.op} cannot order {kind_of(value)}; only = and != can compare it")
    return Compare(clean_name(p.attribute, limits), p.op, value, clean_weight(p.weight))


def _in(p: In, limits: Limits) -> Predicate:
    values = _list(p.values, "IN", limits)
    cleaned = tuple([clean_scalar(value, limits, "an IN list") for value in values])
    return In(clean_name(p.attribute, limits), cleaned, bool(p.negated), clean_weight(p.weight))


def _list(values: Any, what: str, limits: Limits) -> tuple[Any, ...]:
    if not isinstance(values, tuple | list | set | frozenset):
        raise TypeMismatch(f"{what} takes a list, not {kind_of(values)}")
    if len(values) > limits.in_list_values:
        raise over("in_list_values", limits.in_list_values, f"{what} has {len(values)} values")
    if isinstance(values, set | frozenset):  # a set has no order of its own: give it a lasting one
        return tuple(sorted(values, key=lambda value: (str(type(value)), str(value))))
    return tuple(values)


def _between(p: Between, limits: Limits) -> Predicate:
    low, high = check_ends(p.low, p.high, limits)
    return Between(clean_name(p.attribute, limits), low, high, bool(p.negated), clean_weight(p.weight))


def check_ends(low: Any, high: Any, limits: Limits) -> tuple[Scalar, Scalar]:
    """Return the ends of a BETWEEN: of one type that has an order. ``low > high`` is allowed, and empty."""
    first, last = clean_scalar(low, limits, "BETWEEN"), clean_scalar(high, limits, "BETWEEN")
    if bool in (type(first), type(last)):
        raise TypeMismatch("BETWEEN cannot order a boolean")
    if family(first) != family(last):
        raise TypeMismatch(f"the ends of BETWEEN have different types: {kind_of(first)} and {kind_of(last)}")
    return first, last


def _like(p: Like, limits: Limits) -> Predicate:
    pattern = clean_text(p.pattern, limits, "a LIKE pattern")
    read = read_like(pattern, bool(p.fold))
    if read.shape == "general":
        compiled(read.regex)
    return Like(
        clean_name(p.attribute, limits), pattern, bool(p.fold), bool(p.negated), clean_weight(p.weight)
    )


def _regex(p: Regex, limits: Limits) -> Predicate:
    pattern = clean_text(p.pattern, limits, "a regular expression")
    if len(pattern) > limits.regex_characters:
        what = f"the regular expression has {len(pattern)} characters"
        raise over("regex_characters", limits.regex_characters, what)
    compiled(pattern)
    return Regex(clean_name(p.attribute, limits), pattern, bool(p.negated), clean_weight(p.weight))


def _text(p: Text, limits: Limits) -> Predicate:
    if not _known(p.mode, _MODES):
        raise ParseError(f"{p.mode!r} is not a way to look for terms; the ways are any, all and phrase")
    mode, terms = read_terms(p.mode, _list(p.terms, "HAS", limits), limits)
    return Text(clean_name(p.attribute, limits), mode, terms, bool(p.negated), clean_weight(p.weight))


def read_terms(mode: TextMode, texts: tuple[Any, ...], limits: Limits) -> tuple[TextMode, tuple[str, ...]]:
    """Tokenised terms. One text of several terms is a phrase; one term alone is written as ``any``."""
    strings = [clean_text(text, limits, "a term") for text in texts]
    for text in strings:
        refuse_wildcards(text)
    if mode == "phrase" or len(strings) == 1:
        terms = [term for text in strings for term in terms_of(text)]
        mode = "phrase"
    else:
        terms = [one_term(text) for text in strings]
    if not terms:
        raise TypeMismatch(f"HAS needs a term: letters or digits, not {', '.join(map(repr, strings))[:80]}")
    return ("any" if len(terms) == 1 else mode), tuple(terms)


def _within(p: Within, limits: Limits) -> Predicate:
    shape = clean_shape(p.shape, limits)
    return Within(clean_name(p.attribute, limits), shape, bool(p.negated), clean_weight(p.weight))


def _network(p: Network, limits: Limits) -> Predicate:
    blocks = tuple([clean_block(block, limits) for block in _list(p.blocks, "IN CIDR", limits)])
    if not blocks:
        raise TypeMismatch("IN CIDR needs at least one block")
    return Network(clean_name(p.attribute, limits), blocks, bool(p.negated), clean_weight(p.weight))


def clean_block(block: Any, limits: Limits) -> str:
    """Return a CIDR block in its shortest writing; a lone address is a block of one."""
    text = clean_text(block, limits, "a CIDR block")
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise PatternError(
            f"{text[:80]!r} is not a CIDR block such as '10.0.0.0/8' or '2001:db8::/32'"
        ) from None


def _exists(p: Exists, limits: Limits) -> Predicate:
    return Exists(clean_name(p.attribute, limits), bool(p.negated), clean_weight(p.weight))


_CHECKS: dict[type, Callable[[Any, Limits], Predicate]] = {
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
