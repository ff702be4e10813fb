"""Read common predicates in one step each.

Millions of subscriptions are conjunctions of common predicates, so one pattern takes a whole predicate at a
time: first the pattern for plain comparisons and IN, else the pattern for all common predicates. The grammar
reads the rest (shapes, quoted names, mistakes). Both give the same tree for every text that both can read.
The text must be in NFC and no longer than ``string_bytes``: a part of such a text needs no cleaning.
"""

from __future__ import annotations

import re
from typing import Any

from tamis.errors import EventValue, ExpressionError
from tamis.expression.predicates import OPERATORS, Between, Compare, Exists, In, Predicate, Text
from tamis.expression.tree import And, Expr
from tamis.language.scan import RESERVED
from tamis.language.spellings import MEANINGS, SIGNS
from tamis.limits import Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers
from tamis.values.value import Scalar, family, parse_time

# Possessive quantifiers throughout: no input makes these patterns backtrack. Numbers have at most 18 digits:
# such an integer fits 64 bits and such a float is finite, so they need no check.
_DIGITS = r"[0-9]{1,18}+(?:\.[0-9]{1,18}+)?+(?![0-9A-Za-z_.])"
_NUMBER = rf"[+-]?+{_DIGITS}"
_NAME = r"([A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+)"
_OPERATOR = r"(<=|>=|<>|!=|==|=|<|>)"
_AND = r"(?:[Aa][Nn][Dd])(?![A-Za-z0-9_.'])"
_OR = r"(?:[Oo][Rr])(?![A-Za-z0-9_.'])"
_IN_CHAIN = rf"(?:({_AND})|\Z)"
_IN_TREE = rf"(?=()(?:{_AND}|{_OR}|\)|\Z))"


def _list_of(item: str) -> str:
    return rf"\(\s*+({item}(?:\s*+,\s*+{item})*+)\s*+\)"


def _word(*words: str) -> str:
    """Return a pattern for any of the keywords, in any case (of ASCII: the Kelvin sign is no K)."""
    return rf"(?ai:{'|'.join(words)})(?![A-Za-z0-9_.])"


_ITEM = rf"(?:'[^']*+'|{_NUMBER})"
_PLAIN = rf"""\s*+{_NAME}\s*+(?:
    {_OPERATOR}\s*+(?:'([^']*+)'|({_NUMBER}))
  | [Ii][Nn]\s*+{_list_of(_ITEM)}
)\s*+"""

# The operators with one string behind them (patterns, prefixes and so on), except those of text.
_TAKE_A_STRING = [
    r"\s++".join(spelling.words.split())
    for kind, operator in OPERATORS
    if kind is not Text
    for spelling in operator.spellings
    if spelling.operand.kind == "string"
]
_STRINGED = {words: meaning for words, meaning in MEANINGS.items() if meaning.operand.kind == "string"}
_SIGN_OPS: dict[str, Any] = {
    sign: "!=" if meaning.negated else meaning.operator.fields["op"] for sign, meaning in SIGNS.items()
}

_STRING = r"'[^']*+(?:''[^']*+)*+'"
_TIME = rf"{_word('TIMESTAMP', 'DATE')}\s*+'[^']*+'"
_VALUE = rf"(?:{_STRING}|{_NUMBER}|{_TIME}|{_word('TRUE', 'FALSE')})"
_COMMON = rf"""\s*+{_NAME}\s*+(?:
    {_OPERATOR}\s*+({_VALUE})
  | {_word("IS")}\s*+({_word("NOT")}\s*+)?+({_word("NULL")})
  | ({_word("NOT")}\s*+)?+(?:
        {_word("BETWEEN")}\s*+({_VALUE})\s*+{_word("AND")}\s*+({_VALUE})
      | {_word("IN")}\s*+{_list_of(_VALUE)}
      | ({_word(*_TAKE_A_STRING)})\s*+({_STRING})
      | {_word("HAS")}\s*+(?:
            ({_STRING})
          | ({_word("PHRASE")})\s*+({_STRING})
          | ({_word("ANY", "ALL")})\s*+{_list_of(_STRING)}
        )
    )
)\s*+(?:\^\s*+({_DIGITS})\s*+)?+"""

_plain_in_chain = re.compile(_PLAIN + _IN_CHAIN, re.VERBOSE).match
_plain_in_tree = re.compile(_PLAIN + _IN_TREE, re.VERBOSE).match
_common_in_chain = re.compile(_COMMON + _IN_CHAIN, re.VERBOSE).match
_common_in_tree = re.compile(_COMMON + _IN_TREE, re.VERBOSE).match
_items = re.compile(rf"'([^']*+)'|({_NUMBER})").findall
_values = re.compile(_VALUE).findall
_strings = re.compile(_STRING).findall


class _NotCommon(Exception):
    """The signal that the grammar must read the text, or report its error."""


def read_plain(text: str, limits: Limits, analysers: Analysers = NO_ANALYSERS) -> Expr | None:
    """Return the tree of a conjunction of common predicates; ``None`` if ``text`` needs the grammar."""
    found: list[Expr] = []
    at = 0
    try:
        while True:
            piece = _plain_in_chain(text, at)
            if piece is not None:
                found.append(_plain(piece, limits))
            else:
                piece = _common_in_chain(text, at)
                if piece is None:
                    return None
                found.append(_common(piece, limits, analysers))
            if piece[piece.re.groups] is None:
                break
            at = piece.end()
    except _NotCommon:
        return None
    if len(found) > limits.expression_predicates:
        return None
    return found[0] if len(found) == 1 else And(tuple(found))


def read_plain_predicate(
    text: str, at: int, limits: Limits, analysers: Analysers
) -> tuple[Predicate, int] | None:
    """Return the common predicate at ``at`` and its end; ``None`` if the grammar must read it."""
    try:
        piece = _plain_in_tree(text, at)
        if piece is not None:
            return _plain(piece, limits), piece.end()
        piece = _common_in_tree(text, at)
        return None if piece is None else (_common(piece, limits, analysers), piece.end())
    except _NotCommon:
        return None


def _plain(piece: re.Match[str], limits: Limits) -> Predicate:
    name, op, string, number, items, _ = piece.groups()
    _check_name(name, limits)
    if op is not None:
        return Compare(name, _SIGN_OPS[op], string if number is None else _number(number))
    values: tuple[Scalar, ...] = tuple(
        [_number(digits) if digits else quoted for quoted, digits in _items(items)]
    )
    return _in(name, values, False, 1.0, limits)


def _common(piece: re.Match[str], limits: Limits, analysers: Analysers) -> Predicate:
    (
        name, op, value,
        present, null,
        denied, low, high, items, words, string, term, phrase, phrase_text, mode, terms,
        digits, _,
    ) = piece.groups()  # fmt: skip
    _check_name(name, limits)
    weight = 1.0 if digits is None else float(digits)
    negated = denied is not None
    if op is not None:
        return _compare(name, op, _value(value), weight)
    if low is not None:
        return _between(name, _value(low), _value(high), negated, weight)
    if items is not None:
        return _in(name, tuple([_value(item) for item in _values(items)]), negated, weight, limits)
    if null is not None:
        return Exists(name, present is None, weight)
    if words is not None:
        return _stringed(name, words, _unquoted(string), negated, weight, limits)
    if mode is not None:
        how: Any = mode.lower()
        found = Text(name, how, tuple(map(_unquoted, _strings(terms))), negated, weight)
    elif phrase is not None:
        found = Text(name, "phrase", (_unquoted(phrase_text),), negated, weight)
    else:
        found = Text(name, "any", (_unquoted(term),), negated, weight)
    return _checked(found.bound(analysers) if analysers else found, limits)


def _check_name(name: str, limits: Limits) -> None:
    if name.upper() in RESERVED or len(name) > limits.attribute_name_bytes:
        raise _NotCommon


def _number(text: str) -> int | float:
    return float(text) + 0.0 if "." in text else int(text)


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'") if "''" in text else text[1:-1]


def _value(text: str) -> Scalar:
    first = text[0]
    if first == "'":
        return _unquoted(text)
    if first in "+-0123456789":
        return _number(text)
    if text[-1] != "'":
        return first in "tT"
    try:
        return parse_time(text[text.index("'") + 1 : -1])
    except (ValueError, EventValue):
        raise _NotCommon from None


def _compare(name: str, op: str, value: Scalar, weight: float) -> Predicate:
    if type(value) is bool and op not in ("=", "==", "!=", "<>"):
        raise _NotCommon
    return Compare(name, _SIGN_OPS[op], value, weight)


def _between(name: str, low: Scalar, high: Scalar, negated: bool, weight: float) -> Predicate:
    kind = family(low)
    if kind == "boolean" or kind != family(high):
        raise _NotCommon
    return Between(name, low, high, negated, weight)


def _in(name: str, values: tuple[Scalar, ...], negated: bool, weight: float, limits: Limits) -> Predicate:
    if len(values) > limits.in_list_values:
        raise _NotCommon
    return In(name, values, negated, weight)


def _stringed(name: str, words: str, string: str, negated: bool, weight: float, limits: Limits) -> Predicate:
    meaning = _STRINGED.get(words) or _STRINGED[" ".join(words.upper().split())]
    return _checked(meaning.kind.build(meaning.operator, name, (string,), negated, weight), limits)


def _checked(predicate: Predicate, limits: Limits) -> Predicate:
    try:
        return predicate.with_clean_operands(limits)
    except ExpressionError:
        raise _NotCommon from None
