"""Keep the key of every literal that the head's expressions have, computed once each."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import Kind
from tamis.columns.literals import LiteralWriter
from tamis.expression.predicates import BY_CODE, Between, Compare, Exists, In
from tamis.head._kernels import (
    BETWEEN,
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    LIST,
    NO_KEY,
    NUMBER,
    OTHER_FORM,
    PRESENT,
    STRING,
    TIME,
    UNORDERED,
)
from tamis.head.growing import Growing
from tamis.head.keys import (
    FALSE,
    FIRST_STRING,
    FIRST_TIME,
    GREATEST,
    LAST_TIME,
    Place,
    number_key,
    number_keys,
    time_key,
)
from tamis.space.numbers import split_integers

FEW = 8  # literals

_FAMILY = np.full(256, NO_KEY, np.uint8)
_FAMILY[[Kind.INT, Kind.FLOAT, Kind.TIME, Kind.BOOLEAN, Kind.STRING]] = (
    NUMBER,
    NUMBER,
    TIME,
    UNORDERED,
    STRING,
)

_LOWEST = (-GREATEST, FIRST_TIME, 0, 0, 0)  # by family
_HIGHEST = (GREATEST, LAST_TIME, 0, 0, 0)

_SIGNS = {"=": EQUAL, "<": LESS, "<=": LESS_EQUAL, ">": GREATER, ">=": GREATER_EQUAL}
_KINDS: dict[type, int] = {In: LIST, Between: BETWEEN, Exists: PRESENT}


def _forms() -> npt.NDArray[np.int64]:
    forms = np.full(256, OTHER_FORM, np.int64)
    for code, (kind, operator) in BY_CODE.items():
        form = _SIGNS[operator.fields["op"]] if kind is Compare else _KINDS.get(kind, OTHER_FORM)
        forms[[code, code | 1]] = form
    return np.concatenate([forms, _LOWEST, _HIGHEST])


FORMS = _forms()
"""How keys express each operator, by its code; then the lowest and the highest key of each family."""


class LiteralKeys:
    """The family, lowest and highest key of literals, which stand at the same places as in their writer."""

    def __init__(self, literals: LiteralWriter) -> None:
        self._literals = literals
        self._keys = Growing(np.int64)  # three for each literal

    def catch_up(self) -> npt.NDArray[np.int64]:
        """Return three numbers for each literal written so far."""
        first, last = self._keys.used // 3, len(self._literals)
        if last - first > FEW:
            kind = np.array(self._literals.kind[first:last], np.uint8)
            low, high = _keys(kind, np.array(self._literals.bits[first:last], np.int64), first)
            self._keys.extend(np.column_stack((_FAMILY[kind], low, high)).ravel())
        else:
            for at in range(first, last):
                kind_of = self._literals.kind[at]
                self._keys.extend((_FAMILY[kind_of], *_key(kind_of, self._literals.bits[at], at)))
        return self._keys.array


def _key(kind: int, bits: int, number: int) -> Place:
    """Return the keys of one literal; calls of NumPy cost more than a few literals."""
    if kind == Kind.STRING:
        return FIRST_STRING + number, FIRST_STRING + number
    if kind == Kind.INT:
        return number_key(bits)
    if kind == Kind.FLOAT:
        return number_key(struct.unpack("<d", struct.pack("<q", bits))[0])
    key = time_key(bits) if kind == Kind.TIME else FALSE + bits
    return key, key


def _keys(kind: Any, bits: Any, first: int) -> tuple[Any, Any]:
    """Return the keys of literals given by kind and bits, the first of which has the number ``first``."""
    low = FIRST_STRING + first + np.arange(len(kind))  # right for strings, and unused where there is no key
    high = low.copy()
    for chosen, parts in (
        (kind == Kind.INT, split_integers),
        (kind == Kind.FLOAT, lambda found: (found.view(np.float64), np.zeros(len(found), np.int64))),
    ):
        if chosen.any():
            low[chosen], high[chosen] = number_keys(*parts(bits[chosen]))
    for chosen, first_key in ((kind == Kind.TIME, time_key(0)), (kind == Kind.BOOLEAN, FALSE)):
        low[chosen] = high[chosen] = first_key + bits[chosen]
    return low, high
