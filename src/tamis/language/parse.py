"""Text to tree."""

from __future__ import annotations

import unicodedata

from tamis.errors import ExpressionError, ParseError
from tamis.expression.operands import over
from tamis.expression.tree import Expr
from tamis.language.fast import read_plain
from tamis.language.grammar import read_expression
from tamis.language.hints import hinted
from tamis.language.scan import Cursor
from tamis.limits import DEFAULT_LIMITS, Limits


def parse(text: str, limits: Limits = DEFAULT_LIMITS) -> Expr:
    """Return the tree that the SQL-like ``text`` stands for."""
    if not isinstance(text, str):
        raise ParseError(f"the text of an expression is a string, not a {type(text).__name__}")
    if text.isascii():
        normal, size = True, len(text)
    else:
        size = utf8_size(text)
        normal = unicodedata.is_normalized("NFC", text)
    if size > limits.expression_bytes:
        raise over("expression_bytes", limits.expression_bytes, f"the text has {size} bytes")
    # A part of an NFC text is in NFC and no longer than the whole: nothing is left to clean.
    plain = normal and size <= limits.string_bytes
    if plain and limits.expression_depth > 1:
        tree = read_plain(text, limits)
        if tree is not None:
            return tree
    try:
        return read_expression(Cursor(text, limits, plain))
    except ExpressionError as bad:
        raise hinted(bad, text) from None


def utf8_size(text: str) -> int:
    """Bytes of ``text`` in UTF-8; a lone surrogate has no place in an expression."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as bad:
        raise ParseError("the text holds a lone surrogate", text=None, position=bad.start) from None
