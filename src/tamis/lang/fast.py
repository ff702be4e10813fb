"""The fast lane: plain predicates, ``attribute op literal``, read in one step each.

Millions of subscriptions are plain conjunctions, so one pattern takes a whole predicate at a time.
Whatever is not plain (quotes inside strings, weights, times, negative forms, mistakes) is left to the
grammar, which gives the same tree for the texts that both can read. The text must be in NFC and no
longer than ``string_bytes``: a part of such a text needs no cleaning.
"""

from __future__ import annotations

import re

from tamis.lang.scan import OPERATORS, RESERVED
from tamis.limits import Limits
from tamis.model.expr import And, Compare, Expr, In, Predicate
from tamis.model.value import Scalar

# At most 18 digits: such an integer fits 64 bits and such a float is finite, so nothing needs a check.
_NUMBER = r"[+-]?+[0-9]{1,18}+(?:\.[0-9]{1,18}+)?+(?![0-9A-Za-z_.])"
_ITEM = rf"'[^']*+'|{_NUMBER}"
_PREDICATE = rf"""
    ([A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+)
    \s*+(?:
        (<=|>=|<>|!=|==|=|<|>)\s*+(?:'([^']*+)'|({_NUMBER}))
      | [Ii][Nn]\s*+\(\s*+((?:{_ITEM})(?:\s*+,\s*+(?:{_ITEM}))*+)\s*+\)
    )\s*+"""
_AND = r"(?:[Aa][Nn][Dd])(?![A-Za-z0-9_.'])"
_OR = r"(?:[Oo][Rr])(?![A-Za-z0-9_.'])"
_IN_CHAIN = re.compile(rf"\s*+{_PREDICATE}(?:({_AND})|\Z)", re.VERBOSE)
_IN_TREE = re.compile(rf"{_PREDICATE}(?=()(?:{_AND}|{_OR}|\)|\Z))", re.VERBOSE)
_ITEMS = re.compile(rf"'([^']*+)'|({_NUMBER})")


def read_plain(text: str, limits: Limits) -> Expr | None:
    """The tree of a plain conjunction; ``None`` if ``text`` needs the grammar."""
    found: list[Expr] = []
    at = 0
    match = _IN_CHAIN.match
    while True:
        piece = match(text, at)
        if piece is None:
            return None
        predicate = _predicate(piece, limits)
        if predicate is None:
            return None
        found.append(predicate)
        if piece[6] is None:
            break
        at = piece.end()
    if len(found) > limits.expression_predicates:
        return None
    return found[0] if len(found) == 1 else And(tuple(found))


def read_plain_predicate(text: str, at: int, limits: Limits) -> tuple[Predicate, int] | None:
    """The plain predicate that starts at ``at``, and where it ends; ``None`` if the grammar must read it."""
    piece = _IN_TREE.match(text, at)
    predicate = None if piece is None else _predicate(piece, limits)
    return None if piece is None or predicate is None else (predicate, piece.end())


def _predicate(piece: re.Match[str], limits: Limits) -> Predicate | None:
    name, op, string, number, items, _ = piece.groups()
    if name.upper() in RESERVED or len(name) > limits.attribute_name_bytes:
        return None
    if op is not None:
        return Compare(name, OPERATORS[op], string if number is None else _number(number))
    values: tuple[Scalar, ...] = tuple(
        [_number(digits) if digits else quoted for quoted, digits in _ITEMS.findall(items)]
    )
    return None if len(values) > limits.in_list_values else In(name, values)


def _number(text: str) -> int | float:
    return float(text) + 0.0 if "." in text else int(text)
