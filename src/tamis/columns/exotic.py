"""Clean the patterns, terms and networks of bulk tables as trees do, each distinct one once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import TAKES_NUMBER, TAKES_STRINGS, Kind
from tamis.columns.groups import distinct_runs, places_of
from tamis.columns.literals import Literals, join_strings, literal_at, string_column
from tamis.columns.rows import predicate_of, starts
from tamis.errors import TamisError
from tamis.limits import Limits

Codes = npt.NDArray[np.uint8]
Places = npt.NDArray[Any]
Names = tuple[npt.NDArray[np.int64], list[str]]


class Refusals:
    """The rows that cannot be used; the first reason per row is kept."""

    def __init__(self, count: int) -> None:
        self.bad = np.zeros(count, np.bool_)
        self.reasons: dict[int, TamisError] = {}

    def add(self, rows: npt.NDArray[Any], reason: TamisError) -> None:
        """Refuse rows, listed by number or as a mask."""
        where = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        for row in where.tolist():
            self.reasons.setdefault(row, reason)
        self.bad[where] = True

    def add_owned(self, bad: npt.NDArray[np.bool_], owner: npt.NDArray[Any], reason: TamisError) -> None:
        """Refuse the rows whose owner is marked; skip the rows if no owner is."""
        if bad.any():
            self.add(bad[owner], reason)


def check_exotic(
    op: Codes,
    arity: Places,
    literals: Literals,
    literal: Places,
    refusals: Refusals,
    limits: Limits,
    analyser: Names | None = None,
) -> tuple[Codes, Places, Literals, Places]:
    """Return the same columns with clean operands.

    Cleaning may change the number of operands, and the form of an operator. ``analyser`` has the place in a
    list of names for the attribute of each row, and that list.
    """
    exotic = np.flatnonzero(TAKES_STRINGS[op] & ~refusals.bad)
    if not len(exotic):
        return op, arity, literals, literal
    op, arity = op.copy(), arity.astype(np.int64)
    start = starts(arity)
    place, names = analyser or (np.zeros(len(op), np.int64), [""])
    kind = place[exotic] * 256 + op[exotic]
    number, first = distinct_runs(kind, start[exotic], arity[exotic], literal)
    cleaner = _Cleaner(literals, limits)
    for row in exotic[first].tolist():
        cleaner.add(int(op[row]), literal[start[row] : start[row + 1]].tolist(), names[place[row]])
    for at, reason in cleaner.bad.items():
        refusals.add(exotic[number == at], reason)
    begin = start[:-1].copy()
    op[exotic] = np.array(cleaner.op, np.uint8)[number]
    count = np.array(cleaner.count, np.int64)
    arity[exotic] = count[number]
    begin[exotic] = len(literal) + (np.cumsum(count) - count)[number]
    pool = np.concatenate([literal, np.array(cleaner.args, np.int64)])
    return op, arity, cleaner.pool(), pool[places_of(begin, arity)]


class _Cleaner:
    """Distinct predicates, cleaned: operator, number of operands, operands; new strings are collected."""

    def __init__(self, literals: Literals, limits: Limits) -> None:
        self._literals, self._limits = literals, limits
        self._fresh: dict[str, int] = {}
        self.op: list[int] = []
        self.count: list[int] = []
        self.args: list[int] = []
        self.bad: dict[int, TamisError] = {}

    def add(self, op: int, places: list[int], analyser: str) -> None:
        """Add one predicate, whose operands are listed by their places in the pool."""
        if TAKES_NUMBER[op]:  # the number stands last, whichever column it comes from
            places = sorted(places, key=lambda at: self._literals.kind[at] != Kind.STRING)
        operands = [literal_at(self._literals, at) for at in places]
        try:
            predicate = predicate_of("a", op, operands, 1.0)
            bound = predicate.bound({"a": analyser}) if analyser else predicate
            clean = bound.with_clean_operands(self._limits)
            op = clean.code
            first, last = len(self._literals.kind), places[-1]
            places = [
                first + self._fresh.setdefault(operand, len(self._fresh))
                if isinstance(operand, str)
                else last
                for operand in clean.operands
            ]
        except TamisError as bad:
            self.bad[len(self.op)] = bad
        self.op.append(op)
        self.count.append(len(places))
        self.args += places

    def pool(self) -> Literals:
        """Return the old pool with the cleaned strings behind it."""
        kind, bits, strings = self._literals
        more = string_column(list(self._fresh))
        return Literals(
            np.concatenate([kind, np.full(more.count, Kind.STRING, np.uint8)]),
            np.concatenate([bits, strings.count + np.arange(more.count)]),
            join_strings([strings, more]),
        )
