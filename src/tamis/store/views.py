"""The tables for bulk reading: their Arrow columns, and the number by which they are read in parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.token import TOKENS
from tamis.errors import InputError
from tamis.store import tables

_MOMENT = pa.timestamp("us", tz="UTC")


class View(NamedTuple):
    """A table, the column by which it is read in parts, and its Arrow schema."""

    table: sa.Table
    by: str
    schema: pa.Schema
    only: tuple[str, str] | None = None  # a column and the value that selects the rows

    def select(self, numbers: range | None) -> sa.Select[Any]:
        """Return a query for all rows, or for those in a range of numbers."""
        query = sa.select(*(self.table.c[name] for name in self.schema.names))
        if self.only is not None:
            query = query.where(self.table.c[self.only[0]] == self.only[1])
        if numbers is None:
            return query
        return query.where(self.table.c[self.by].between(numbers.start, numbers.stop - 1))

    def numbers(self, connection: Connection) -> range:
        """Return the range of existing numbers."""
        if self.by == "token":
            return range(TOKENS)
        column = self.table.c[self.by]
        low, high = connection.execute(sa.select(sa.func.min(column), sa.func.max(column))).one()
        return range(0) if low is None else range(low, high + 1)


def view(name: str) -> View:
    """Return the view with this name."""
    if name not in VIEWS:
        raise InputError(f"the store has no table {name!r}; the tables are {', '.join(VIEWS)}", table=name)
    return VIEWS[name]


def _view(table: sa.Table, by: str, **columns: pa.DataType) -> View:
    return View(table, by, pa.schema(list(columns.items())))


VIEWS = {
    "subscriptions": _view(  # those that are matched
        tables.subscriptions,
        "token",
        id=pa.string(),
        expression=pa.string(),
        priority=pa.float64(),
        version=pa.int64(),
        owner=pa.string(),
        schedule=pa.string(),
        token=pa.int64(),
    )._replace(only=("status", "active")),
    "changes": _view(
        tables.changes,
        "sequence",
        sequence=pa.int64(),
        subscription_id=pa.string(),
        expression=pa.string(),
        priority=pa.float64(),
        token=pa.int64(),
        at=_MOMENT,
    ),
    "outbox": _view(
        tables.outbox,
        "id",
        id=pa.int64(),
        kind=pa.string(),
        event_id=pa.string(),
        subscription_id=pa.string(),
        version=pa.int64(),
        score=pa.float64(),
        event_time=_MOMENT,
        payload=pa.string(),
        query=pa.string(),
        batch_id=pa.int64(),
        created_at=_MOMENT,
    ),
    "quarantine": _view(
        tables.quarantine,
        "id",
        id=pa.int64(),
        query=pa.string(),
        batch_id=pa.int64(),
        event_id=pa.string(),
        subscription_id=pa.string(),
        code=pa.string(),
        message=pa.string(),
        text=pa.string(),
        created_at=_MOMENT,
    ),
}
