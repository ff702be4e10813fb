"""Writes the rows of a micro-batch to the store: matches to the outbox, refused events to the quarantine.

Most batches are small. For those it is fastest to collect the rows on the driver, as Arrow, and to write them
there in one transaction: a write by tasks needs a second Python worker for each, and costs 200 ms more. From
half a million rows on there is no difference, and the tasks write them, so that the driver's memory does not
limit a batch. The size of a batch is unknown before it has run, so the size of the previous batch decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tamis.index.work import WorkReport
from tamis.spark.schema import EVENT_ID, NOTE, REFUSED_EVENTS
from tamis.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DRIVER_ROWS = 500_000
_TOO_MUCH = ("maxResultSize", "OutOfMemory", "ReceivedMessageTooLarge", "RESOURCE_EXHAUSTED")

_seen: dict[tuple[str, str], int] = {}  # (store, query): rows of the last batch


class WriteResult(NamedTuple):
    """The result of writing the rows of a batch."""

    matches: int = 0
    rows: int = 0  # new rows in the outbox
    refused: int = 0
    work: WorkReport = WorkReport()

    def plus(self, other: WriteResult) -> WriteResult:
        """Return the sum of both."""
        return WriteResult(
            self.matches + other.matches,
            self.rows + other.rows,
            self.refused + other.refused,
            self.work.plus(other.work),
        )


def write_noted(noted: DataFrame, store_url: str, query: str, batch_id: int) -> WriteResult:
    """Write rows from :func:`tamis.spark.match_with_notes` to the store, each once."""
    key = store_url, query
    write = _write_by_tasks if _seen.get(key, 0) > DRIVER_ROWS else _write_here
    written = write(noted, store_url, query, batch_id)
    _seen[key] = written.matches
    return written


def _write_here(noted: DataFrame, url: str, query: str, batch_id: int) -> WriteResult:
    from pyspark.errors import PySparkException

    try:
        table = noted.toArrow()
    except PySparkException as bad:
        if not any(sign in str(bad) for sign in _TOO_MUCH):
            raise
        return _write_by_tasks(noted, url, query, batch_id)
    return write_rows(table, url, query, batch_id)


def _write_by_tasks(noted: DataFrame, url: str, query: str, batch_id: int) -> WriteResult:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = WriteResult()
        for batch in batches:
            written = written.plus(write_rows(pa.Table.from_batches([batch]), url, query, batch_id))
        yield pa.RecordBatch.from_pydict({"written": [msgspec.json.encode(written).decode()]})

    total = WriteResult()
    for row in noted.mapInArrow(write, "written string").collect():
        total = total.plus(msgspec.json.decode(row["written"], type=WriteResult))
    return total


def write_rows(table: pa.Table, url: str, query: str, batch_id: int) -> WriteResult:
    """Write rows with notes."""
    store = Store.shared(url)
    plain = pc.is_null(table[NOTE])
    matches = table.filter(plain).drop_columns([NOTE])
    notes = table.filter(pc.invert(plain)).select([EVENT_ID, NOTE]).to_pylist()
    new = store.add_matches(matches, query, batch_id) if matches.num_rows else 0
    refused, work = _read_notes(notes)
    if refused:
        store.quarantine_events(pa.Table.from_pylist(refused, REFUSED_EVENTS.arrow), query, batch_id)
    return WriteResult(matches.num_rows, new, len(refused), work)


def _read_notes(notes: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], WorkReport]:
    refused, work = [], WorkReport()
    for row in notes:
        note = msgspec.json.decode(row[NOTE])
        if "work" in note:
            work = work.plus(WorkReport(**note["work"]))
        else:
            refused.append({EVENT_ID: row[EVENT_ID], **note})
    return refused, work
