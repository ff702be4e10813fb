"""The rows of a micro-batch into the store: matches into the outbox, refused events into quarantine.

Most batches are small, and then it is quickest to bring the rows to the driver, as Arrow, and to write them
there in one transaction: a write by tasks needs a second Python worker for each, and costs 200 ms more. From
half a million rows on there is no difference, and the tasks write them, so the driver's memory does not
bound a batch. Nobody knows a batch's size before it has run, so the size of the batch before decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tamis.index.work import WorkReport
from tamis.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DRIVER_ROWS = 500_000
_TOO_MUCH = ("maxResultSize", "OutOfMemory", "ReceivedMessageTooLarge", "RESOURCE_EXHAUSTED")

_seen: dict[tuple[str, str], int] = {}  # (store, query): the rows of its last batch


class Taken(NamedTuple):
    """What was done with the rows of a batch."""

    matches: int = 0
    rows: int = 0  # those that were new in the outbox
    refused: int = 0
    work: WorkReport = WorkReport()

    def plus(self, other: Taken) -> Taken:
        """Return both together."""
        return Taken(
            self.matches + other.matches,
            self.rows + other.rows,
            self.refused + other.refused,
            self.work.plus(other.work),
        )


def write_noted(noted: DataFrame, store_url: str, query: str, batch_id: int) -> Taken:
    """Put rows as :func:`tamis.spark.match_with_notes` gives them into the store, each once."""
    key = store_url, query
    write = _write_by_tasks if _seen.get(key, 0) > DRIVER_ROWS else _write_here
    taken = write(noted, store_url, query, batch_id)
    _seen[key] = taken.matches
    return taken


def _write_here(noted: DataFrame, url: str, query: str, batch_id: int) -> Taken:
    from pyspark.errors import PySparkException

    try:
        table = noted.toArrow()
    except PySparkException as bad:
        if not any(sign in str(bad) for sign in _TOO_MUCH):
            raise
        return _write_by_tasks(noted, url, query, batch_id)
    return take(table, url, query, batch_id)


def _write_by_tasks(noted: DataFrame, url: str, query: str, batch_id: int) -> Taken:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        taken = Taken()
        for batch in batches:
            taken = taken.plus(take(pa.Table.from_batches([batch]), url, query, batch_id))
        yield pa.RecordBatch.from_pydict({"taken": [msgspec.json.encode(taken).decode()]})

    total = Taken()
    for row in noted.mapInArrow(write, "taken string").collect():
        total = total.plus(msgspec.json.decode(row["taken"], type=Taken))
    return total


def take(table: pa.Table, url: str, query: str, batch_id: int) -> Taken:
    """Write some rows with notes."""
    store = Store.shared(url)
    plain = pc.is_null(table["note"])
    matches = table.filter(plain).drop_columns(["note"])
    notes = table.filter(pc.invert(plain)).select(["event_id", "note"]).to_pylist()
    new = store.add_matches(matches, query, batch_id) if matches.num_rows else 0
    refused, work = _read_notes(notes)
    if refused:
        store.quarantine_events(pa.Table.from_pylist(refused, _REFUSED), query, batch_id)
    return Taken(matches.num_rows, new, len(refused), work)


_REFUSED = pa.schema([(name, pa.string()) for name in ("event_id", "code", "message", "text")])


def _read_notes(notes: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], WorkReport]:
    refused, work = [], WorkReport()
    for row in notes:
        note = msgspec.json.decode(row["note"])
        if "work" in note:
            work = work.plus(WorkReport(**note["work"]))
        else:
            refused.append({"event_id": row["event_id"], **note})
    return refused, work
