"""Write subscriptions as rows for SQL: join on the narrowest condition, verify the others.

This form was the fastest of those a competent user might write (README.md lists the others). Every condition
becomes an interval. A condition that needs several (``in``, ``!=``) multiplies its subscription into several
rows. At most one of these can hold for an event, so that no answer has to be made distinct.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pyarrow as pa

from bench.peers.common_file import Predicate

Interval = tuple[int, int, int]
"""Attribute, least and greatest value."""


class Slots:
    """The rows of all subscriptions, as columns ``id``, ``a0``, ``low0``, ``high0``, ``a1`` …"""

    def __init__(self) -> None:
        self._rows: list[tuple[int, list[Interval]]] = []
        self.width = 0

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Add the rows of one subscription."""
        self.width = max(self.width, len(predicates))
        for combination in product(*map(intervals, predicates)):
            self._rows.append((number, sorted(combination, key=lambda one: one[2] - one[1])))

    def table(self) -> pa.Table:
        """Return all rows; conditions that always hold fill up a subscription with few conditions."""
        always: Interval = (0, LEAST, GREATEST)
        padded = [row + [always] * (self.width - len(row)) for _, row in self._rows]
        columns = {"id": pa.array([number for number, _ in self._rows], pa.int32())}
        for slot in range(self.width):
            for part, name in enumerate(("a", "low", "high")):
                columns[f"{name}{slot}"] = pa.array([row[slot][part] for row in padded], pa.int16())
        return pa.table(columns)


LEAST, GREATEST = -32_768, 32_767


def intervals(predicate: Predicate) -> list[Interval]:
    """Return the values that satisfy a predicate, as disjoint intervals of 16-bit integers."""
    at, (first, *more) = predicate.attribute, predicate.operands
    match predicate.operator:
        case "=":
            return [(at, first, first)]
        case "<=":
            return [(at, LEAST, first)]
        case ">=":
            return [(at, first, GREATEST)]
        case "between":
            return [(at, first, more[0])]
        case "in":
            return [(at, value, value) for value in (first, *more)]
    return [(at, LEAST, first - 1), (at, first + 1, GREATEST)]


def long_events(events: Sequence[tuple[int, ...]]) -> pa.Table:
    """Return a row for each event and attribute, with the whole event beside it as a list."""
    numbers = [number for number, event in enumerate(events) for _ in event]
    return pa.table(
        {
            "event": pa.array(numbers, pa.int32()),
            "attribute": pa.array([at for event in events for at in range(len(event))], pa.int16()),
            "value": pa.array([value for event in events for value in event], pa.int16()),
            "whole": pa.array([events[number] for number in numbers], pa.list_(pa.int16())),
        }
    )


def join(width: int, element: str) -> str:
    """Return the query for tables ``same`` (first condition ``=``), ``ranged`` (a range) and ``events``.

    ``element`` is the dialect's expression for place ``{}`` (from 0) of the list ``whole``.
    """
    rest = " AND ".join(
        f"{element.format(f'a{slot}')} BETWEEN low{slot} AND high{slot}" for slot in range(1, width)
    )
    rest = f" WHERE {rest}" if rest else ""
    return (
        f"SELECT event, id FROM events JOIN same ON attribute = a0 AND value = low0{rest} UNION ALL "
        f"SELECT event, id FROM events JOIN ranged ON attribute = a0 AND value BETWEEN low0 AND high0{rest}"
    )


def by_event(events: list[int], ids: list[int], count: int) -> list[list[int]]:
    """Return the pairs, event by event."""
    rows: list[list[int]] = [[] for _ in range(count)]
    for event, number in zip(events, ids, strict=True):
        rows[event].append(number)
    return rows
