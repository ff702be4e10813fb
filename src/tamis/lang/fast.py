"""The fast lane: texts that are a plain ``attribute op literal AND …`` read predicate by predicate.

Millions of subscriptions look like this, so one pattern takes a whole predicate at a time. Whatever
is not plain (quotes inside strings, weights, times, NOT, parentheses, mistakes) is left to the
grammar, which gives the same tree for the texts that both can read.
"""

from __future__ import annotations

import re
from typing import Any

from tamis.lang.scan import RESERVED
from tamis.limits import Limits
from tamis.model.expr import And, Compare, Expr, In

# At most 18 digits: such an integer fits 64 bits and such a float is finite, so nothing needs a check.
_NUMBER = r"[+-]?+[0-9]{1,18}+(?:\.[0-9]{1,18}+)?+(?![0-9A-Za-z_.])"
_ITEM = rf"'[^']*+'|{_NUMBER}"
_PREDICATE = re.compile(
    rf"""\s*+([A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+)
    \s*+(?:
        (<=|>=|<>|!=|==|=|<|>)\s*+(?:'([^']*+)'|({_NUMBER}))
      | [Ii][Nn]\s*+\(\s*+((?:{_ITEM})(?:\s*+,\s*+(?:{_ITEM}))*+)\s*+\)
    )\s*+(?:([Aa][Nn][Dd])(?![A-Za-z0-9_.'])|\Z)""",
    re.VERBOSE,
)
_ITEMS = re.compile(rf"'([^']*+)'|({_NUMBER})")
_OPS = {"<=": "<=", ">=": ">=", "<>": "!=", "!=": "!=", "==": "=", "=": "=", "<": "<", ">": ">"}


def read_plain(text: str, limits: Limits) -> Expr | None:
    """The tree of a plain conjunction in NFC; ``None`` if ``text`` needs the grammar."""
    found: list[Any] = []
    at = 0
    longest = limits.attribute_name_bytes
    match = _PREDICATE.match
    while True:
        piece = match(text, at)
        if piece is None:
            return None
        name, op, string, number, items, more = piece.groups()
        if name.upper() in RESERVED or len(name) > longest:
            return None
        if op is not None:
            value = string if number is None else _number(number)
            found.append(Compare(name, _OPS[op], value))  # type: ignore[arg-type]
        else:
            values = tuple(
                [_number(digits) if digits else quoted for quoted, digits in _ITEMS.findall(items)]
            )
            if len(values) > limits.in_list_values:
                return None
            found.append(In(name, values))
        if more is None:
            break
        at = piece.end()
    if len(found) > limits.expression_predicates:
        return None
    return found[0] if len(found) == 1 else And(tuple(found))


def _number(text: str) -> int | float:
    return float(text) + 0.0 if "." in text else int(text)
