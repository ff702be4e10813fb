"""Number the operators and literals in columns; segments store the codes, so they never change.

The definition of an operator sets its code (:mod:`tamis.expression.predicates`). An odd code is the negative
form of the even code before it. AND, OR and NOT have the last codes, so that 125 operators fit.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.expression.predicate import COUNTED, TEXTUAL
from tamis.expression.predicates import BY_CODE, OPERATORS, Compare, Exists

AND, OR, NOT = 250, 252, 254
STRUCTURAL = AND  # codes from here on join results
MANY = 1 << 40  # operands: more than any file has

IS_NULL = Exists.OPERATORS[0].code | 1
NOT_EQUAL = Compare.OPERATORS[0].code | 1


class Kind(IntEnum):
    """The type of a literal."""

    INT = 0
    FLOAT = 1
    TIME = 2
    BOOLEAN = 3
    STRING = 4
    SHAPE = 5
    POINT = 6


def _names() -> dict[str, int]:
    names: dict[str, int] = {}
    for _, operator in OPERATORS:
        if operator.operand.kind == "shape":
            continue
        # Another spelling may take another operand, so only signs are listed with all their spellings.
        spelled = operator.spellings if not operator.name[0].isalpha() else operator.spellings[:1]
        positive = [operator.name, *(one.words.lower() for one in spelled), *operator.aliases]
        names = dict.fromkeys(positive, operator.code) | names  # HAS PHRASE … SLOP n begins like HAS PHRASE
        if operator.negative is not None:
            negative = [*operator.negative_words[: len(spelled)], *operator.negative, f"not {operator.name}"]
            negative += [f"not {alias}" for alias in operator.aliases]
            names = dict.fromkeys((words.lower() for words in negative), operator.code | 1) | names
    return names


NAMES = _names()
"""Operators as bulk tables write them (shapes have no flat form and go through text or JSON)."""


def by_code(of: Any, dtype: Any, default: Any = 0) -> npt.NDArray[Any]:
    """Return ``of(kind, operator)`` for every operator, at its code and at that of its negative form."""
    table = np.full(256, default, dtype)
    for code, (kind, operator) in BY_CODE.items():
        table[[code, code | 1]] = of(kind, operator)
    return table


IS_KNOWN = by_code(lambda kind, operator: True, np.bool_, False)
for _code, (_kind, _operator) in BY_CODE.items():
    IS_KNOWN[_code | 1] = _operator.negative is not None
IS_KNOWN[[AND, OR, NOT]] = True

IS_COMPARISON = by_code(lambda kind, operator: kind.ACCESS == "comparison", np.bool_, False)
IS_PRESENCE = by_code(lambda kind, operator: kind.ACCESS == "presence", np.bool_, False)
TAKES_STRINGS = by_code(lambda kind, operator: operator.operand.kind in TEXTUAL, np.bool_, False)
TAKES_NUMBER = by_code(lambda kind, operator: operator.operand.kind in COUNTED, np.bool_, False)
"""Operators that take a whole number behind their strings."""
TAKES_SHAPES = by_code(lambda kind, operator: operator.operand.kind == "shape", np.bool_, False)
TAKES_ORDER = by_code(
    lambda kind, operator: operator.operand.kind == "ends" or operator.fields.get("op", "=") != "=",
    np.bool_,
    False,
)
"""Operators whose operands must have an order: neither booleans nor points."""

LEAST = by_code(lambda kind, operator: 0 if kind.MAY_BE_EMPTY else len(kind.OPERANDS), np.int64, 1)
MOST = by_code(lambda kind, operator: MANY if kind.LISTED else len(kind.OPERANDS), np.int64, 1)
LEAST[[AND, OR]], MOST[[AND, OR]] = 0, MANY
"""The number of operands that each operator takes."""


def from_version_2(op: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the codes of an older segment as current codes: AND, OR and NOT were 32, 34 and 36."""
    table = np.arange(256, dtype=np.uint8)
    table[[AND, OR, NOT]] = 255  # no operator: such a segment is damaged
    table[32:250] = 255
    table[[32, 34, 36]] = AND, OR, NOT
    return table[op]
