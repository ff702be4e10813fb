"""Read the predicates of the text form: attribute, operator, operands, perhaps an analyser and a weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tamis.expression.operands import clean_name, clean_weight, over
from tamis.expression.predicate import Operand, Predicate
from tamis.language.literal import (
    read_number,
    read_shape,
    read_string,
    read_strings,
    read_value,
    unquote,
)
from tamis.language.scan import RESERVED, Cursor
from tamis.language.spellings import SIGNS, VERBS, WORDS, Meaning, listed
from tamis.values.analysis import analyser_of
from tamis.values.value import Point, Scalar

_AFTER_NOT = f"{listed([words for words in VERBS if words != 'IS'])} after NOT"
_AFTER_NAME = f"a comparison, {listed(list(VERBS))} after the attribute"


_ONE_STRING = ("string", "string and number")
_SPELLED = ("word", "op")  # VERSION >= has a sign among its words


def read_predicate(cursor: Cursor) -> Predicate:
    """Read ``attribute …``, with its weight."""
    name = _read_name(cursor)
    token = cursor.token
    meaning = SIGNS.get(token.text) if token.kind == "op" else None
    if meaning is not None:
        cursor.advance()
    else:
        meaning = _read_words(cursor)
    start = cursor.token.start
    operands = _READERS[meaning.operand.kind](cursor, meaning.operand)
    more = meaning.numbered
    if more is not None and cursor.keyword(more.operand.word):
        operands, meaning = (*operands, read_number(cursor)), more._replace(negated=meaning.negated)
    analyser = _read_analyser(cursor) if meaning.kind.TAKES_ANALYSER else ""
    weight: float = 1.0
    if cursor.token.text == "^" and cursor.op("^"):
        weight = _read_weight(cursor)
    found = meaning.kind.build(meaning.operator, name, operands, meaning.negated, weight)
    if analyser:
        found = found.changed(analyser=analyser)
    return cursor.checked(lambda: found.bound(cursor.analysers).checked(cursor.limits), start)


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


def _read_analyser(cursor: Cursor) -> str:
    """Read ``USING name``, if it is there; the name may stand in single quotes."""
    if not cursor.keyword("USING"):
        return ""
    token = cursor.token
    if token.kind == "word":
        cursor.advance()
        return cursor.checked(lambda: analyser_of(token.text).name, token.start)
    name = read_string(cursor, "the name of an analyser")
    return cursor.checked(lambda: analyser_of(name).name, token.start)


def _read_weight(cursor: Cursor) -> float:
    start = cursor.token.start
    number = read_number(cursor)
    return cursor.checked(lambda: clean_weight(number), start)


def _read_words(cursor: Cursor) -> Meaning:
    """Read an operator that is spelled with words."""
    negated = cursor.keyword("NOT")
    step, verb = WORDS, cursor.token
    while (token := cursor.token).kind in _SPELLED and (word := token.text.upper()) in step.following:
        if negated and word == "IS":
            break
        step = step.following[word]
        cursor.advance()
    if step is WORDS:
        cursor.fail(_AFTER_NOT if negated else _AFTER_NAME, verb)
    meaning = step.meaning
    if meaning is None:
        cursor.fail(listed(step.endings()))
    if step.following and meaning.operand.kind in _ONE_STRING and cursor.token.kind != "string":
        cursor.fail(f"{listed([f'{meaning.operand.noun} in single quotes', *step.endings()])}")
    return meaning._replace(negated=True) if negated else meaning


def _read_one_string(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    return (read_string(cursor, operand.noun),)


def _read_strings(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    return read_strings(cursor, operand.noun)


def _read_string_or_strings(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    if cursor.token.kind == "op":
        return read_strings(cursor, operand.noun)
    return (read_string(cursor, f"a {operand.noun}"),)


def _read_string_and_number(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    text = read_string(cursor, operand.noun)
    if not cursor.keyword(operand.word):
        cursor.fail(f"{operand.word} and a number of words")
    return text, read_number(cursor)


def _read_number_of_strings(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    number = read_number(cursor)
    if not cursor.keyword(operand.word):
        cursor.fail(f"{operand.word} and a list of {operand.noun}s")
    return (*read_strings(cursor, operand.noun), number)


def _read_values(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    cursor.expect("(", "after IN")
    values: list[Scalar] = []
    if not cursor.op(")"):
        values.append(_read_scalar(cursor))
        while cursor.op(","):
            if len(values) >= cursor.limits.in_list_values:
                _too_many(cursor)
            values.append(_read_scalar(cursor))
        cursor.expect(")", "or ',' in the list")
    return tuple(values)


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


def _read_ends(cursor: Cursor, operand: Operand) -> tuple[Any, ...]:
    low = _read_scalar(cursor)
    if not cursor.keyword("AND"):
        cursor.fail("AND between the two ends")
    return low, _read_scalar(cursor)


_READERS: dict[str, Callable[[Cursor, Operand], tuple[Any, ...]]] = {
    "nothing": lambda cursor, operand: (),
    "value": lambda cursor, operand: (read_value(cursor),),
    "values": _read_values,
    "ends": _read_ends,
    "string": _read_one_string,
    "strings": _read_strings,
    "string or strings": _read_string_or_strings,
    "string and number": _read_string_and_number,
    "number of strings": _read_number_of_strings,
    "shape": lambda cursor, operand: (read_shape(cursor),),
}
"""The reader of each kind of operand."""
