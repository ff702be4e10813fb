"""Check bulk tables: numbers, kinds and sizes of operands, column by column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.columns._kernels import BETWEEN, wrong_counts
from tamis.columns.codes import (
    IS_COMPARISON,
    LEAST,
    MANY,
    MOST,
    TAKES_NUMBER,
    TAKES_ORDER,
    TAKES_STRINGS,
    Kind,
)
from tamis.columns.exotic import Refusals
from tamis.columns.literals import Literals
from tamis.errors import ExpressionLimit, SubscriptionError, TamisError, TypeMismatch
from tamis.limits import Limits

Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint32]


def row_of_operand(arity: npt.NDArray[Any]) -> Index:
    """Return the row of every operand."""
    return np.repeat(np.arange(len(arity)), arity)


def check_arity(op: npt.NDArray[np.uint8], arity: Codes, refusals: Refusals, limits: Limits) -> None:
    """Refuse rows with too few or too many operands for their operator."""
    most = np.where(MOST == MANY, limits.in_list_values, MOST)
    least = np.maximum(LEAST, most > 0)  # a list without values is a null column
    wrong = np.empty(len(op), np.bool_)
    if wrong_counts(op, arity, least, most, wrong):
        refusals.add(wrong, SubscriptionError("the operator does not take this number of operands"))


def check_kinds(
    op: npt.NDArray[np.uint8], arity: Codes, pool: Any, literal: Codes, refusals: Refusals
) -> None:
    """Refuse rows with operands of the wrong kinds.

    Booleans have no order. Patterns, terms and networks are strings. The ends of BETWEEN share a type.
    """
    if len(pool) and pool.min() == pool.max() and pool[0] <= Kind.TIME and IS_COMPARISON[op].all():
        return  # numbers or times only, under operators that take them
    kind, row_of = pool[literal], row_of_operand(arity)
    code = op[row_of]
    ordered = TAKES_ORDER[code]
    if (bad := ordered & (kind == Kind.BOOLEAN)).any():
        refusals.add(row_of[bad], TypeMismatch("booleans have no order; use = or !="))
    number = TAKES_NUMBER[code] & (kind == Kind.INT)
    if (bad := TAKES_STRINGS[code] & (kind != Kind.STRING) & ~number).any():
        refusals.add(row_of[bad], TypeMismatch("this operator needs strings"))
    group = np.where(kind == Kind.FLOAT, Kind.INT, kind)
    low = np.flatnonzero((code | 1) == (BETWEEN | 1))
    low = low[low + 1 < len(code)]
    low = low[row_of[low] == row_of[low + 1]]
    if (bad := group[low] != group[low + 1]).any():
        refusals.add(row_of[low[bad]], TypeMismatch("the ends of BETWEEN have different types"))


def check_sizes(
    id_bytes: Index, group: Codes, name_bytes: Index, attribute: Codes, size: Index, limits: Limits
) -> Iterator[tuple[npt.NDArray[np.bool_], Codes, TamisError]]:
    """Yield the ids, attributes and expressions beyond the limits, as (which, of each row, why)."""
    message = f"an id is longer than subscription_id_bytes = {limits.subscription_id_bytes}"
    too_long = SubscriptionError(message, limit="subscription_id_bytes")
    yield id_bytes > limits.subscription_id_bytes, group, too_long
    yield name_bytes > limits.attribute_name_bytes, attribute, _beyond("attribute_name_bytes", limits)
    yield size > limits.expression_predicates, group, _beyond("expression_predicates", limits)


def check_strings(
    literals: Literals, literal: Codes, arity: Codes, refusals: Refusals, limits: Limits
) -> None:
    """Refuse rows with strings beyond the limit."""
    strings, textual = literals.strings, literals.kind == Kind.STRING
    over = np.zeros(len(textual), np.bool_)
    over[textual] = (strings.start[1:] - strings.start[:-1] > limits.string_bytes)[literals.bits[textual]]
    if over.any():
        refusals.add(row_of_operand(arity)[over[literal]], _beyond("string_bytes", limits))


def _beyond(name: str, limits: Limits) -> ExpressionLimit:
    return ExpressionLimit(f"more than {name} = {getattr(limits, name)}", limit=name)
