"""Parse text into a tree by recursive descent; depth is counted on the way down.

::

    expression  = conjunction { OR conjunction }
    conjunction = factor { AND factor }
    factor      = NOT factor | "(" expression ")" | TRUE | FALSE | predicate [ USING name ] [ "^" weight ]
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from tamis.errors import ExpressionError, ParseError
from tamis.expression.operands import over
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.language.fast import read_plain, read_plain_predicate
from tamis.language.hints import hinted
from tamis.language.predicate import read_predicate
from tamis.language.scan import Cursor
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers


class _Part(NamedTuple):
    """A subtree and its height in levels."""

    expr: Expr
    height: int


def read_expression(cursor: Cursor) -> Expr:
    """Read the whole text as one tree."""
    part = _disjunction(cursor, 1)
    if cursor.token.kind != "end":
        cursor.fail("AND, OR or the end")
    return part.expr


def _disjunction(cursor: Cursor, depth: int) -> _Part:
    return _joined(cursor, depth, "OR", Or, _conjunction)


def _conjunction(cursor: Cursor, depth: int) -> _Part:
    return _joined(cursor, depth, "AND", And, _factor)


def _joined(
    cursor: Cursor, depth: int, word: str, node: type[And] | type[Or], part: Callable[[Cursor, int], _Part]
) -> _Part:
    start = cursor.token.start
    first = part(cursor, depth)
    if not cursor.keyword(word):
        return first
    parts = [first, part(cursor, depth)]
    while cursor.keyword(word):
        parts.append(part(cursor, depth))
    height = 1 + max([p.height for p in parts])
    cursor.check_depth(height, start)
    return _Part(node(tuple([p.expr for p in parts])), height)


def _factor(cursor: Cursor, depth: int) -> _Part:
    token = cursor.token
    cursor.check_depth(depth, token.start)
    if token.kind == "word":
        word = token.text.upper()
        if word == "NOT":
            cursor.advance()
            child = _factor(cursor, depth + 1)
            cursor.check_depth(child.height + 1, token.start)
            return _Part(Not(child.expr), child.height + 1)
        if word in ("TRUE", "FALSE"):
            cursor.advance()
            cursor.count_leaf(token.start)
            return _Part(TRUE if word == "TRUE" else FALSE, 1)
        plain = None
        if cursor.plain:
            plain = read_plain_predicate(cursor.text, token.start, cursor.limits, cursor.analysers)
        if plain is not None:
            cursor.count_leaf(token.start)
            cursor.jump(plain[1])
            return _Part(plain[0], 1)
    elif cursor.op("("):
        inner = _disjunction(cursor, depth + 1)
        cursor.expect(")", "to close the parenthesis")
        return inner
    cursor.count_leaf(token.start)
    return _Part(read_predicate(cursor), 1)


def parse(text: str, limits: Limits = DEFAULT_LIMITS, analysers: Analysers = NO_ANALYSERS) -> Expr:
    """Return the tree of the SQL-like ``text``; ``analysers`` names those of text attributes."""
    if not isinstance(text, str):
        raise ParseError(f"the text of an expression is a string, not a {type(text).__name__}")
    if text.isascii():
        normal, size = True, len(text)
    else:
        size = utf8_size(text)
        normal = unicodedata.is_normalized("NFC", text)
    if size > limits.expression_bytes:
        raise over("expression_bytes", limits.expression_bytes, f"the text has {size} bytes")
    # A part of an NFC text is in NFC and no longer than the whole, so it needs no cleaning.
    plain = normal and size <= limits.string_bytes
    if plain and limits.expression_depth > 1:
        tree = read_plain(text, limits, analysers)
        if tree is not None:
            return tree
    try:
        return read_expression(Cursor(text, limits, plain, analysers))
    except ExpressionError as bad:
        raise hinted(bad, text) from None


def utf8_size(text: str) -> int:
    """Return the size of ``text`` in UTF-8; raise :class:`ParseError` if it holds a lone surrogate."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as bad:
        raise ParseError("the text holds a lone surrogate", text=None, position=bad.start) from None
