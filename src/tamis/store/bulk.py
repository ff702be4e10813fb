"""Many rows at once: Arrow tables into the database and out of it.

SQLite takes rows through one prepared statement. PostgreSQL takes them as a COPY into a temporary table,
from where one statement moves them: the rows that conflict are then the database's business.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.tables import counters

STEP = 10_000  # rows that are held as Python objects at a time
_STAGE = "pg_temp.tamis_stage"  # a table of this connection alone
_SQL = {pa.string(): "text", pa.int64(): "bigint", pa.float64(): "double precision"}


def insert(
    connection: Connection,
    into: sa.Table,
    rows: pa.Table,
    constants: dict[str, Any],
    conflict: str,
    order: str | None = None,
) -> int:
    """Insert ``rows``, each with the same ``constants``; how many the database took.

    ``order`` is the counter to hold from here to the end of the transaction, so that the rows' numbers become
    visible in order; it is taken as late as possible.
    """
    if rows.num_rows == 0:
        return 0
    rows = without_nul(rows).combine_chunks()  # pyarrow writes rubbish as CSV where a chunk is empty
    if connection.dialect.name == "sqlite":
        return _insert_prepared(connection, into, rows, constants, conflict)
    _copy(connection, rows)
    if order is not None:
        hold(connection, order)
    return _insert_staged(connection, into, rows, constants, conflict)


def hold(connection: Connection, counter: str) -> int:
    """Return the counter's value, which nobody else changes before this transaction ends."""
    return int(connection.execute(_value(counter, False)).scalar_one())


def share(connection: Connection, counter: str) -> int:
    """Return the counter's value, which may be shared but not changed before this transaction ends."""
    return int(connection.execute(_value(counter, True)).scalar_one())


def take(connection: Connection, counter: str, numbers: int) -> None:
    """Use up some numbers of a counter that is held."""
    connection.execute(_more(counter), {"numbers": numbers})


# Made once: small transactions would spend more on making these than on running them.


@functools.cache
def _value(counter: str, is_shared: bool) -> sa.Select[Any]:
    return sa.select(counters.c.value).where(counters.c.name == counter).with_for_update(read=is_shared)


@functools.cache
def _more(counter: str) -> sa.Update:
    return (
        sa.update(counters)
        .where(counters.c.name == counter)
        .values(value=counters.c.value + sa.bindparam("numbers", type_=sa.BigInteger))
    )


def without_nul(rows: pa.Table) -> pa.Table:
    """PostgreSQL's text cannot hold U+0000; SQLite's functions stop at it. It becomes U+FFFD in both."""
    for place, field in enumerate(rows.schema):
        column = rows.column(place)
        if field.type == pa.string() and pc.any(pc.match_substring(column, "\0")).as_py():
            rows = rows.set_column(place, field, pc.replace_substring(column, "\0", "\ufffd"))
    return rows


def record_batches(result: sa.CursorResult[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query, column by column."""
    for rows in result.partitions(STEP):
        columns = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
            schema=schema,
        )


def one_of(column: sa.ColumnElement[Any], values: Sequence[Any], sqlite: bool) -> sa.ColumnElement[bool]:
    """``column IN values`` with one parameter, however many values there are."""
    if sqlite:
        each = sa.func.json_each(json.dumps(values)).table_valued("value")
        return column.in_(sa.select(each.c.value))
    return column == sa.func.any(sa.bindparam(None, list(values), type_=sa.ARRAY(column.type)))


def _insert_prepared(
    connection: Connection, into: sa.Table, rows: pa.Table, constants: dict[str, Any], conflict: str
) -> int:
    names = [*rows.column_names, *constants]
    marks = ", ".join("?" * len(names))
    statement = f"INSERT INTO {into.name} ({_listed(names)}) VALUES ({marks}) {conflict}"
    taken = 0
    for batch in rows.to_batches(max_chunksize=STEP):
        columns = [column.to_pylist() for column in batch.columns]
        fixed = [itertools.repeat(value, batch.num_rows) for value in constants.values()]
        values = list(zip(*columns, *fixed, strict=True))
        taken += connection.exec_driver_sql(statement, values).rowcount
    return taken


def _copy(connection: Connection, rows: pa.Table) -> None:
    fields = ", ".join(f'"{field.name}" {_SQL[field.type]}' for field in rows.schema)
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_STAGE}")
    connection.exec_driver_sql(f"CREATE TABLE {_STAGE} ({fields}) ON COMMIT DROP")
    sheet = io.BytesIO()  # nothing between commas is null, a pair of quotes the empty text: both say so
    pyarrow.csv.write_csv(rows, sheet, pyarrow.csv.WriteOptions(include_header=False))
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {_STAGE} FROM STDIN (FORMAT csv)") as copy:
        copy.write(sheet.getbuffer())


def _insert_staged(
    connection: Connection, into: sa.Table, rows: pa.Table, constants: dict[str, Any], conflict: str
) -> int:
    names = [*rows.column_names, *constants]
    values = [*(f'"{name}"' for name in rows.column_names), *("%s" for _ in constants)]
    statement = (
        f"INSERT INTO {into.name} ({_listed(names)}) SELECT {', '.join(values)} FROM {_STAGE} {conflict}"
    )
    return connection.exec_driver_sql(statement, tuple(constants.values())).rowcount


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
