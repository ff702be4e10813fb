"""Writes the outbox, the batches that fill it, and the quarantine; a replay changes nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.token import token_of
from tamis.errors import InputError
from tamis.store.bulk import insert, without_nul
from tamis.store.tables import OUTBOX_ORDER, batches, outbox, quarantine
from tamis.store.timestamps import now

MATCH = {"event_id": pa.string(), "subscription_id": pa.string(), "version": pa.int64()}
MATCH_MORE = {"score": pa.float64(), "event_time": pa.timestamp("us", tz="UTC"), "payload": pa.string()}
REFUSED_EVENT = {"event_id": pa.string(), "code": pa.string(), "message": pa.string(), "text": pa.string()}
REFUSED_SUBSCRIPTION = {"subscription_id": pa.string()} | {
    name: kind for name, kind in REFUSED_EVENT.items() if name != "event_id"
}


def add_matches(connection: Connection, rows: pa.Table, query: str, batch_id: int) -> int:
    """Add matches that are not there yet; return their number."""
    return add_rows(connection, match_columns(rows), "match", query, batch_id)


def add_rows(connection: Connection, rows: pa.Table, kind: str, query: str, batch_id: int) -> int:
    """Add rows of a kind that are not there yet; return their number."""
    tokens = pa.array([token_of(name) for name in rows["subscription_id"].to_pylist()], pa.int64())
    constants = {"kind": kind, "query": query, "batch_id": batch_id, "created_at": now()}
    once = "ON CONFLICT (event_id, subscription_id, version) DO NOTHING"
    return insert(connection, outbox, rows.append_column("token", tokens), constants, once, OUTBOX_ORDER)


def match_columns(rows: pa.Table) -> pa.Table:
    """Return matches with the outbox's column types; raise ``InputError`` for a missing or unknown column."""
    columns = columns_of(rows, MATCH, MATCH_MORE, "matches")
    for name in MATCH:
        if columns[name].null_count:
            raise InputError(f"matches need a value in {name} in every row", column=name)
    if "event_time" in columns:
        columns["event_time"] = columns["event_time"].cast(pa.int64())
    return pa.table(columns)


def columns_of(
    rows: pa.Table, needed: dict[str, Any], more: dict[str, Any], what: str
) -> dict[str, pa.ChunkedArray]:
    """Return the columns by name, cast to their types without loss."""
    known = {**needed, **more}
    missing = [name for name in needed if name not in rows.column_names]
    unknown = [name for name in rows.column_names if name not in known]
    if missing or unknown:
        wrong = f"lack {', '.join(missing)}" if missing else f"have {', '.join(unknown)}"
        raise InputError(f"{what} {wrong}; the columns are {', '.join(known)}")
    return {name: _cast(rows.column(name), name, known[name], what) for name in rows.column_names}


def _cast(column: pa.ChunkedArray, name: str, wanted: pa.DataType, what: str) -> pa.ChunkedArray:
    try:
        if pa.types.is_timestamp(wanted) and pa.types.is_timestamp(column.type) and column.type.tz is None:
            return pc.assume_timezone(column.cast(pa.timestamp("us"), safe=False), "UTC")
        return column.cast(wanted, safe=not pa.types.is_timestamp(wanted))  # nanoseconds may be truncated
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as bad:
        raise InputError(
            f"{what}: the column {name} is {column.type}, not {wanted}: {bad}", column=name
        ) from None


def begin_batch(connection: Connection, query: str, batch_id: int, index_version: int) -> int:
    """Fix the index version of a batch and return it: the first call decides."""
    first = (
        "INSERT INTO batches (query, batch_id, index_version, began_at) VALUES (:query, :batch, :index, :at)"
    )
    values = {"query": query, "batch": batch_id, "index": index_version, "at": now()}
    connection.execute(sa.text(f"{first} ON CONFLICT (query, batch_id) DO NOTHING"), values)
    return int(_of_batch(connection, query, batch_id, batches.c.index_version))


def finish_batch(connection: Connection, query: str, batch_id: int, rows: int) -> None:
    """Record that a batch is done. A replay adds nothing, so the first count stays."""
    done = sa.update(batches).where(_batch(query, batch_id), batches.c.finished_at.is_(None))
    connection.execute(done.values(finished_at=now(), rows=rows))


def forget_batches(connection: Connection, query: str, before: int) -> int:
    """Delete the records of finished batches before ``before``, which will not run again."""
    old = sa.and_(batches.c.query == query, batches.c.batch_id < before, batches.c.finished_at.is_not(None))
    return int(connection.execute(sa.delete(batches).where(old)).rowcount)


def is_finished(connection: Connection, query: str, batch_id: int) -> bool:
    """Return whether a batch is done."""
    return _of_batch(connection, query, batch_id, batches.c.finished_at) is not None


def quarantine_rows(
    connection: Connection, rows: pa.Table, shape: dict[str, Any], query: str, batch_id: int
) -> int:
    """Quarantine refused events or subscriptions; return the number of new ones."""
    clean = without_nul(pa.table(columns_of(rows, shape, {}, "refused rows")).select(list(shape)))
    marks = pa.array([_fingerprint(row) for row in clean.to_pylist()], pa.string())
    constants = {"query": query, "batch_id": batch_id, "created_at": now()}
    once = "ON CONFLICT (query, batch_id, fingerprint) DO NOTHING"
    return insert(connection, quarantine, clean.append_column("fingerprint", marks), constants, once)


def _fingerprint(row: dict[str, str | None]) -> str:
    return hashlib.sha256(repr(list(row.items())).encode()).hexdigest()


def _of_batch(connection: Connection, query: str, batch_id: int, column: sa.Column[Any]) -> Any:
    return connection.execute(sa.select(column).where(_batch(query, batch_id))).scalar()


def _batch(query: str, batch_id: int) -> sa.ColumnElement[bool]:
    return sa.and_(batches.c.query == query, batches.c.batch_id == batch_id)
