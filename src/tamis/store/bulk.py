"""Reads and writes many rows at once as Arrow tables.

SQLite inserts rows with one prepared statement. PostgreSQL receives them with COPY into a temporary table,
from which one statement inserts them and resolves conflicts.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.tables import counters

STEP = 10_000  # rows held as Python objects at a time
_STAGE = "pg_temp.tamis_stage"  # a table that only this connection sees
_SQL = {pa.string(): "text", pa.int64(): "bigint", pa.float64(): "double precision"}


def insert(
    connection: Connection,
    into: sa.Table,
    rows: pa.Table,
    constants: dict[str, Any],
    conflict: str,
    order: str | None = None,
) -> int:
    """Insert ``rows``, each with the same ``constants``; return the number of inserted rows.

    ``order`` names the counter to lock until the end of the transaction, so that the rows' numbers become
    visible in order; it is locked as late as possible.
    """
    if rows.num_rows == 0:
        return 0
    rows = without_nul(rows).combine_chunks()  # pyarrow writes wrong CSV for an empty chunk
    if connection.dialect.name == "sqlite":
        return _insert_prepared(connection, into, rows, constants, conflict)
    _copy(connection, rows)
    if order is not None:
        lock_counter(connection, order)
    return _insert_staged(connection, into, rows, constants, conflict)


def lock_counter(connection: Connection, counter: str) -> int:
    """Return the counter's value and lock it until this transaction ends."""
    return int(connection.execute(_value(counter, False)).scalar_one())


def share_counter(connection: Connection, counter: str) -> int:
    """Return the counter's value, which others can read but not change until this transaction ends."""
    return int(connection.execute(_value(counter, True)).scalar_one())


def advance_counter(connection: Connection, counter: str, numbers: int) -> None:
    """Use up numbers of a locked counter."""
    connection.execute(_more(counter), {"numbers": numbers})


# These statements are built once: a small transaction would take longer to build them than to run them.


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
    """Replace U+0000 with U+FFFD: PostgreSQL's text cannot contain it, and SQLite's functions stop at it."""
    for place, field in enumerate(rows.schema):
        column = rows.column(place)
        if field.type == pa.string() and pc.any(pc.match_substring(column, "\0")).as_py():
            rows = rows.set_column(place, field, pc.replace_substring(column, "\0", "\ufffd"))
    return rows


def table_of(rows: Sequence[Sequence[Any]], types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return rows as an Arrow table with these columns."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in types)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types.values(), strict=True)]
    return pa.table(arrays, list(types))


def record_batches(result: sa.CursorResult[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query as record batches."""
    for rows in result.partitions(STEP):
        columns = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
            schema=schema,
        )


def one_of(
    connection: Connection, column: sa.ColumnElement[Any], values: Sequence[Any]
) -> sa.ColumnElement[bool]:
    """Return ``column IN values`` with a single parameter for any number of values."""
    if connection.dialect.name == "sqlite":
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
    # CSV: an empty field is null, a pair of quotes is the empty text, for pyarrow and PostgreSQL.
    sheet = io.BytesIO()
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
