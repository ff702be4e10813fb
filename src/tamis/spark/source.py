"""The store as a Spark data source.

::

    spark.read.format("tamis").option("store", url).load()  # the subscriptions
    spark.read.format("tamis").option("store", url).option("table", "outbox").load()
    spark.readStream.format("tamis").option("store", url).option("table", "outbox").load()
    matches.write.format("tamis").option("store", url).mode("append").save()  # into the outbox

A table is read in ``partitions`` by token, or by number if it has one; ``after`` skips the rows up to a
number. Writing is idempotent row by row, so a task that fails and is run again adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamReader,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import from_arrow_schema

from tamis.errors import InputError
from tamis.spark.reading import StoreReader, StoreStream
from tamis.spark.schema import (
    EVENT_ID,
    EVENT_TIME,
    EXPRESSION,
    ID,
    PAYLOAD,
    PRIORITY,
    SCORE,
    SUBSCRIPTION_ID,
    VERSION,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

DEFAULT_PARTITIONS = 8
MOST_PARTITIONS = 1_024  # as many as there are tokens
MOST = 2**62
DEFAULT_ROWS = 100_000  # rows per micro-batch at most
OPTIONS = ("store", "table", "partitions", "after", "rows", "query", "batch")

_TEXT = ("string",)
_WHOLE = ("byte", "short", "integer", "long")
_NUMBER = (*_WHOLE, "float", "double")
_MOMENT = ("timestamp", "timestamp_ntz")
# For each writable table: its required columns, its optional ones, and the types that each may have.
WRITABLE: dict[str, tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]] = {
    "outbox": (
        {EVENT_ID: _TEXT, SUBSCRIPTION_ID: _TEXT, VERSION: _WHOLE},
        {SCORE: _NUMBER, EVENT_TIME: _MOMENT, PAYLOAD: _TEXT},
    ),
    "subscriptions": (
        {ID: _TEXT, EXPRESSION: _TEXT},
        # The store sets version and token; they are allowed so that rows that were read can be written.
        {PRIORITY: _NUMBER, "owner": _TEXT, "schedule": _TEXT, VERSION: _WHOLE, "token": _WHOLE},
    ),
}


class StoreSource(DataSource):
    """The tables of a store, for reading and writing."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``format(…)``."""
        return "tamis"

    def schema(self) -> StructType:
        """Return the columns of the chosen table; ``load()`` calls this, so it reports unusable options."""
        self._store()
        from tamis.store.views import view

        return from_arrow_schema(view(self._table("subscriptions")).schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the chosen table."""
        if schema != self.schema():
            raise InputError(
                "format 'tamis' has a schema of its own; leave out .schema(…) and select columns"
            )
        table = self._table("subscriptions")
        if table == "subscriptions" and "after" in self.options:
            raise InputError(
                "option after is for changes, outbox and quarantine; subscriptions have no order"
            )
        partitions = self._number("partitions", DEFAULT_PARTITIONS, 1, MOST_PARTITIONS)
        return StoreReader(self._store(), table, partitions, self._number("after", 0, 0, MOST))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return a reader that follows the chosen table as it grows."""
        table = self._table("subscriptions")
        if table == "subscriptions":
            raise InputError("follow .option('table', 'changes'), 'outbox' or 'quarantine': they only grow")
        partitions = self._number("partitions", DEFAULT_PARTITIONS, 1, MOST_PARTITIONS)
        after, rows = self._number("after", 0, 0, MOST), self._number("rows", DEFAULT_ROWS, 1, MOST)
        return StoreStream(self._store(), table, partitions, after, rows)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer into the chosen table."""
        if overwrite:
            raise InputError("format 'tamis' only adds; say .mode('append')")
        table = self._table("outbox")
        check_columns(schema, table)
        query, batch = self.options.get("query", "spark"), self._number("batch", 0, 0, MOST)
        return StoreWriter(self._store(), table, query, batch)

    def _store(self) -> str:
        """Return the store's full address; open the store, so that a failure is reported before any task."""
        from tamis.store import Store

        url = self.options.get("store")
        if not url:
            raise InputError("format 'tamis' needs .option('store', 'sqlite:///file.db') or a PostgreSQL URL")
        with Store.open(url) as store:
            return store.url

    def _table(self, default: str) -> str:
        unknown = sorted(set(self.options) - set(OPTIONS) - {"path"})
        if unknown or self.options.get("path"):
            named = ", ".join(unknown) or "path"
            raise InputError(f"format 'tamis' has no option {named}; its options are {', '.join(OPTIONS)}")
        return str(self.options.get("table", default))

    def _number(self, name: str, default: int, least: int, most: int) -> int:
        text = self.options.get(name, str(default))
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
        if not least <= number <= most:
            raise InputError(f"option {name} is a whole number from {least} to {most}, not {text!r}")
        return number


class Done(WriterCommitMessage):
    """The number of rows that one task wrote."""

    def __init__(self, rows: int) -> None:
        self.rows = rows


class StoreWriter(DataSourceArrowWriter):
    """Writes each Arrow batch in its own transaction."""

    def __init__(self, url: str, table: str, query: str, batch: int) -> None:
        self.url = url
        self.table = table
        self.query = query
        self.batch = batch

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Done:
        """Write one task's rows."""
        put = self._match if self.table == "outbox" else self._subscribe
        return Done(sum(put(pa.Table.from_batches([batch])) for batch in iterator if batch.num_rows))

    def _match(self, rows: pa.Table) -> int:
        from tamis.store import Store

        return Store.shared(self.url).add_matches(rows, self.query, self.batch)

    def _subscribe(self, rows: pa.Table) -> int:
        """Put the good subscriptions, and quarantine the others."""
        from tamis.store import Store

        store = Store.shared(self.url)
        written = store.put_many(rows, ignore="token")  # the store sets it
        if written.refused:
            store.quarantine_subscriptions(written.refused, self.query, self.batch)
        return written.changed

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Do nothing: all rows are in the store already."""

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Do nothing: written rows stay, and a retry of the job adds the rest without duplicates."""


def check_columns(schema: StructType, table: str) -> None:
    """Raise ``InputError`` for a DataFrame that does not fit a table, before anything runs."""
    if table not in WRITABLE:
        raise InputError(f"the table {table!r} cannot be written; those that can are {', '.join(WRITABLE)}")
    needed, more = WRITABLE[table]
    found = {field.name: field.dataType.typeName() for field in schema}
    known = needed | more
    missing, unknown = sorted(set(needed) - set(found)), sorted(set(found) - set(known))
    if missing or unknown:
        wrong = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(unknown)}"
        raise InputError(f"the DataFrame {wrong}; {table} takes the columns {', '.join(known)}")
    for name, kind in found.items():
        if kind not in known[name]:
            raise InputError(
                f"the column {name} is {kind}; in {table} it is {' or '.join(known[name])}", column=name
            )
