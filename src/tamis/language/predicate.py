"""Predicates of the text form: an attribute, what is asked of it, and perhaps a weight."""

from __future__ import annotations

from tamis.expression.tree import (
    Between,
    Compare,
    Exists,
    In,
    Like,
    Network,
    Predicate,
    Regex,
    Text,
    TextMode,
    Within,
)
from tamis.language.check import check_predicate, clean_block, read_terms
from tamis.language.literal import (
    read_number,
    read_shape,
    read_string,
    read_strings,
    read_value,
    unquote,
)
from tamis.language.operand import clean_name, clean_weight, over
from tamis.language.scan import OPERATORS, RESERVED, Cursor
from tamis.values.value import Point, Scalar

_AFTER_NAME = "a comparison, IN, BETWEEN, LIKE, ILIKE, RLIKE, HAS, WITHIN or IS after the attribute"


def read_predicate(cursor: Cursor) -> Predicate:
    """``attribute …``, with its weight."""
    name = _read_name(cursor)
    token = cursor.token
    op = OPERATORS.get(token.text) if token.kind == "op" else None
    if op is not None:
        cursor.advance()
        start = cursor.token.start
        predicate: Predicate = Compare(name, op, read_value(cursor))
    else:
        predicate, start = _read_worded(cursor, name)
    if cursor.token.text == "^" and cursor.op("^"):
        predicate = _weighted(cursor, predicate)
    checked: Predicate = cursor.checked(lambda: check_predicate(predicate, cursor.limits), start)
    return checked


def _read_name(cursor: Cursor) -> str:
    token = cursor.token
    if token.kind == "name":
        text = unquote(token.text)
    elif token.kind == "word" and token.text.upper() not in RESERVED:
        text = token.text
    else:
        cursor.fail(
            "an attribute" if token.kind != "string" else "an attribute, which takes no single quotes"
        )
    name = cursor.checked(lambda: clean_name(text, cursor.limits), token.start)
    cursor.advance()
    return name


def _weighted(cursor: Cursor, predicate: Predicate) -> Predicate:
    start = cursor.token.start
    number = read_number(cursor)
    weight = cursor.checked(lambda: clean_weight(number), start)
    fields = {name: getattr(predicate, name) for name in predicate.__struct_fields__}
    return type(predicate)(**{**fields, "weight": weight})


def _read_worded(cursor: Cursor, name: str) -> tuple[Predicate, int]:
    """Return a predicate spelled with words, and where its operand starts."""
    if cursor.keyword("IS"):
        return _read_presence(cursor, name)
    negated = cursor.keyword("NOT")
    verb = cursor.token
    word = verb.text.upper() if verb.kind == "word" else ""
    if word not in _READERS:
        cursor.fail("IN, BETWEEN, LIKE, ILIKE, RLIKE, HAS or WITHIN after NOT" if negated else _AFTER_NAME)
    cursor.advance()
    start = cursor.token.start
    return _READERS[word](cursor, name, negated), start


def _read_presence(cursor: Cursor, name: str) -> tuple[Predicate, int]:
    start = cursor.token.start
    present = cursor.keyword("NOT")
    if not cursor.keyword("NULL"):
        cursor.fail("NULL" if present else "NULL or NOT NULL")
    return Exists(name, negated=not present), start


def _read_in(cursor: Cursor, name: str, negated: bool) -> Predicate:
    if cursor.keyword("CIDR"):
        return Network(name, _read_blocks(cursor), negated)
    cursor.expect("(", "after IN")
    values: list[Scalar] = []
    if not cursor.op(")"):
        values.append(_read_scalar(cursor))
        while cursor.op(","):
            if len(values) >= cursor.limits.in_list_values:
                _too_many(cursor)
            values.append(_read_scalar(cursor))
        cursor.expect(")", "or ',' in the list")
    return In(name, tuple(values), negated)


def _too_many(cursor: Cursor) -> None:
    bound = cursor.limits.in_list_values
    error = over("in_list_values", bound, f"IN has at least {bound + 1} values")
    error.text, error.position = cursor.text, cursor.token.start
    raise error


def _read_scalar(cursor: Cursor) -> Scalar:
    token = cursor.token
    value = read_value(cursor)
    if isinstance(value, Point):
        cursor.fail("a value that is not a point", token)
    return value


def _read_blocks(cursor: Cursor) -> tuple[str, ...]:
    start = cursor.token.start
    if cursor.token.kind == "op":
        blocks = read_strings(cursor, "CIDR block")
    else:
        blocks = (read_string(cursor, "a CIDR block"),)
    return cursor.checked(lambda: tuple([clean_block(block, cursor.limits) for block in blocks]), start)


def _read_between(cursor: Cursor, name: str, negated: bool) -> Predicate:
    low = _read_scalar(cursor)
    if not cursor.keyword("AND"):
        cursor.fail("AND between the two ends")
    return Between(name, low, _read_scalar(cursor), negated)


def _read_like(cursor: Cursor, name: str, negated: bool) -> Predicate:
    return Like(name, read_string(cursor, "a pattern"), False, negated)


def _read_ilike(cursor: Cursor, name: str, negated: bool) -> Predicate:
    return Like(name, read_string(cursor, "a pattern"), True, negated)


def _read_regex(cursor: Cursor, name: str, negated: bool) -> Predicate:
    return Regex(name, read_string(cursor, "a regular expression"), negated)


def _read_has(cursor: Cursor, name: str, negated: bool) -> Predicate:
    mode: TextMode = "any"
    start = cursor.token.start
    if cursor.keyword("ALL"):
        mode, texts = "all", read_strings(cursor, "term")
    elif cursor.keyword("ANY"):
        texts = read_strings(cursor, "term")
    elif cursor.keyword("PHRASE"):
        mode, texts = "phrase", (read_string(cursor, "a phrase"),)
    elif cursor.token.kind == "string":
        texts = (read_string(cursor, "a term"),)
    else:
        cursor.fail("a term in single quotes, ALL (…), ANY (…) or PHRASE '…'")
    mode, terms = cursor.checked(lambda: read_terms(mode, texts, cursor.limits), start)
    return Text(name, mode, terms, negated)


def _read_within(cursor: Cursor, name: str, negated: bool) -> Predicate:
    return Within(name, read_shape(cursor), negated)


_READERS = {
    "IN": _read_in,
    "BETWEEN": _read_between,
    "LIKE": _read_like,
    "ILIKE": _read_ilike,
    "RLIKE": _read_regex,
    "REGEXP": _read_regex,
    "HAS": _read_has,
    "WITHIN": _read_within,
}
