"""Match bulk tables by brute force in plain NumPy: slow, short, and independent of ``tamis``.

It measures the match probability of a workload and is a second opinion for tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.texts import coded_column
from tamis.columns.rows import starts

_TERM = re.compile(r"[a-z0-9]+")


class Book:
    """The subscriptions of a bulk table, grouped by attribute."""

    def __init__(self, table: pa.Table) -> None:
        ids, subscription = coded_column(table.column("id"))
        self.ids = ids.to_pylist()
        names, attribute = coded_column(table.column("attribute"))
        operators, operator = coded_column(table.column("operator"))
        self._operators = operators.to_pylist()
        self._size = np.bincount(subscription, minlength=len(self.ids))
        self._groups: dict[tuple[str, str], list[_Group]] = {}
        for column in ("number", "string", "boolean"):
            if column in table.column_names:
                self._add(
                    table.column(column).combine_chunks(),
                    subscription,
                    attribute,
                    operator,
                    names.to_pylist(),
                )

    def _add(
        self,
        lists: pa.ListArray,
        subscription: npt.NDArray[np.int64],
        attribute: npt.NDArray[np.int64],
        operator: npt.NDArray[np.int64],
        names: list[str],
    ) -> None:
        operators = self._operators
        count = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        values = lists.flatten().to_numpy(zero_copy_only=False)
        start = starts(count)
        key = np.where(count > 0, attribute * len(operators) + operator, -1)
        order = np.argsort(key, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            if len(rows) and key[rows[0]] >= 0:
                name, op = names[attribute[rows[0]]], operators[operator[rows[0]]]
                places = np.repeat(start[rows] - starts(count[rows])[:-1], count[rows])
                operands = values[places + np.arange(len(places))]
                group = _Group(op, subscription[rows], starts(count[rows])[:-1], operands)
                self._groups.setdefault((name, op), []).append(group)

    def matches(self, event: Mapping[str, Any]) -> list[str]:
        """Return the ids of the subscriptions that are true for ``event``, in order.

        Each attribute of the event has a value or a list of them.
        """
        hits = np.zeros(len(self.ids), np.int64)
        for name, value in event.items():
            for op in self._operators if value is not None else ():
                for group in self._groups.get((name, op), ()):
                    values = value if isinstance(value, list) else [value]
                    np.add.at(hits, group.true_for(values), 1)
        return [self.ids[at] for at in np.flatnonzero(hits == self._size)]


class _Group:
    """The predicates of one attribute and one operator."""

    def __init__(
        self,
        operator: str,
        subscription: npt.NDArray[np.int64],
        start: npt.NDArray[np.int64],
        operands: npt.NDArray[Any],
    ) -> None:
        self._operator, self._subscription, self._start, self._operands = (
            operator,
            subscription,
            start,
            operands,
        )

    def true_for(self, values: list[Any]) -> npt.NDArray[np.int64]:
        """Return the subscription of every predicate that one of ``values`` satisfies."""
        kind = type(self._operands[0])
        truth = np.zeros(len(self._start), np.bool_)
        for value in values:
            if _family(type(value)) == _family(kind):
                truth |= self._truth(value)
        return self._subscription[truth]

    def _truth(self, value: Any) -> npt.NDArray[np.bool_]:
        operands, start = self._operands, self._start
        match self._operator:
            case "=" | "in":
                return np.logical_or.reduceat(operands == value, start)
            case "!=":
                return np.asarray(value != operands)
            case "<=":
                return np.asarray(value <= operands)
            case ">=":
                return np.asarray(value >= operands)
            case "between":
                return np.asarray((operands[start] <= value) & (value <= operands[start + 1]))
            case "has all":
                terms = set(_TERM.findall(value.lower()))
                return np.logical_and.reduceat(np.array([term in terms for term in operands]), start)
            case "like":  # of a prefix only
                return np.array([value.startswith(pattern.removesuffix("%")) for pattern in operands])
        raise ValueError(f"no reading for the operator {self._operator!r}")


def _family(kind: type) -> str:
    """Return the family of a value; values of different families never match."""
    if issubclass(kind, bool | np.bool_):
        return "boolean"
    return "string" if issubclass(kind, str) else "number"


def rows_of(events: pa.Table) -> Iterable[dict[str, Any]]:
    """Yield events as dictionaries, whether attributes have a column each or stand in map columns."""
    maps = [field.name for field in events.schema if pa.types.is_map(field.type)]
    for row in events.to_pylist():
        event: dict[str, Any] = {}
        for name, value in row.items():
            if name in maps:
                event.update(value or ())
            elif value is not None:
                event[name] = _json(value)
        yield event


def _json(value: Any) -> Any:
    """Return points in the form of JSON events."""
    return {"$point": [value["lon"], value["lat"]]} if isinstance(value, dict) else value
