"""Run DuckDB and SQLite with the subscriptions as a table."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from bench.peers.common_file import Predicate
from bench.peers.slots import Slots, by_event, join, long_events


class _Sql:
    def __init__(self) -> None:
        self._slots = Slots()

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Keep the rows until all subscriptions are added."""
        self._slots.add(number, predicates)


class DuckDb(_Sql):
    """A join of a batch of events with the subscriptions, on one thread."""

    batch = 2_000

    def ready(self) -> None:
        """Load the tables, sorted by the columns of the join."""
        import duckdb

        self._database = duckdb.connect(config={"threads": 1})
        self._database.register("slots", self._slots.table())
        for name, condition in (("same", "low0 = high0"), ("ranged", "low0 < high0")):
            self._database.execute(
                f"CREATE TABLE {name} AS SELECT * FROM slots WHERE {condition} ORDER BY a0, low0"
            )
        self._query = join(self._slots.width, "whole[{} + 1]")

    def prepare(self, events: Sequence[tuple[int, ...]]) -> pa.Table:
        """Return an Arrow table, which DuckDB reads without conversion."""
        return long_events(events)

    def match(self, prepared: pa.Table) -> pa.Table:
        """Return an Arrow table of pairs."""
        self._database.register("events", prepared)
        return self._database.sql(self._query).to_arrow_table()

    def ids(self, answer: pa.Table, count: int) -> list[list[int]]:
        """Return the pairs, event by event."""
        return by_event(answer.column(0).to_pylist(), answer.column(1).to_pylist(), count)

    def version(self) -> str:
        """Return the version of the package."""
        import duckdb

        return str(duckdb.__version__)


class Sqlite(_Sql):
    """A query for one event at a time, with an index on the columns of the join."""

    batch = 1

    def __init__(self) -> None:
        super().__init__()
        self._database = sqlite3.connect(":memory:")
        self._query = ""
        self._known = 0

    def ready(self) -> None:
        """Load and index the tables."""
        table = self._slots.table()
        names = ", ".join(table.column_names)
        rows: Any = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        for name, wanted in (("same", True), ("ranged", False)):
            self._database.execute(f"CREATE TABLE {name} ({names})")
            places = ", ".join("?" * len(table.column_names))
            self._database.executemany(
                f"INSERT INTO {name} VALUES ({places})", (row for row in rows if (row[2] == row[3]) is wanted)
            )
            self._database.execute(f"CREATE INDEX {name}_first ON {name} (a0, low0, high0)")
        self._database.execute(
            "CREATE TABLE events (event, attribute, value, PRIMARY KEY (event, attribute)) WITHOUT ROWID"
        )
        self._database.execute("ANALYZE")
        self._query = _sqlite_query(self._slots.width)

    def prepare(self, events: Sequence[tuple[int, ...]]) -> int:
        """Return a few rows in a table of events; a query then names an event by its number."""
        number = self._known
        self._known += 1
        rows = [(number, at, value) for at, value in enumerate(events[0])]
        self._database.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
        return number

    def match(self, prepared: int) -> list[tuple[int]]:
        """Return rows with one id each."""
        return self._database.execute(self._query, {"event": prepared}).fetchall()

    def ids(self, answer: list[tuple[int]], count: int) -> list[list[int]]:
        """Return the ids in the rows."""
        return [[row[0] for row in answer]]

    def version(self) -> str:
        """Return the version of the library, not of Python's module."""
        return sqlite3.sqlite_version


def _sqlite_query(width: int) -> str:
    """Return the query without lists, which SQLite lacks; CROSS JOIN fixes the order.

    The other conditions look their values up.
    """
    rest = "".join(
        f" CROSS JOIN events e{slot} ON e{slot}.event = :event AND e{slot}.attribute = a{slot}"
        f" AND e{slot}.value BETWEEN low{slot} AND high{slot}"
        for slot in range(1, width)
    )
    first = "SELECT id FROM events e0 CROSS JOIN"
    same = f"{first} same ON a0 = e0.attribute AND low0 = e0.value{rest} WHERE e0.event = :event"
    ranged = (
        f"{first} ranged ON a0 = e0.attribute AND low0 <= e0.value AND high0 >= e0.value{rest}"
        " WHERE e0.event = :event"
    )
    return f"{same} UNION ALL {ranged}"
