"""Matches of a micro-batch into the outbox.

Most batches are small, and then it is quickest to bring the rows to the driver, as Arrow, and to write them
there in one transaction: a write by tasks needs a second Python worker for each, and costs 200 ms more. From
half a million rows on there is no difference, and the tasks write them, so the driver's memory does not
bound a batch. Nobody knows a batch's size before it has run, so the size of the batch before decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DRIVER_ROWS = 500_000
_TOO_MUCH = ("maxResultSize", "OutOfMemory", "ReceivedMessageTooLarge", "RESOURCE_EXHAUSTED")

_seen: dict[tuple[str, str], int] = {}  # (store, query): the rows of its last batch


def write_matches(frame: DataFrame, store_url: str, query: str, batch_id: int) -> int:
    """Put the matches of ``frame`` into the outbox, each once; how many were new."""
    key = store_url, query
    if _seen.get(key, 0) > DRIVER_ROWS:
        rows, new = _write_by_tasks(frame, store_url, query, batch_id)
    else:
        rows, new = _write_here(frame, store_url, query, batch_id)
    _seen[key] = rows
    return new


def _write_here(frame: DataFrame, url: str, query: str, batch_id: int) -> tuple[int, int]:
    from pyspark.errors import PySparkException

    try:
        table = frame.toArrow()
    except PySparkException as bad:
        if not any(sign in str(bad) for sign in _TOO_MUCH):
            raise
        return _write_by_tasks(frame, url, query, batch_id)
    new = Store.shared(url).add_matches(table, query, batch_id) if table.num_rows else 0
    return table.num_rows, new


def _write_by_tasks(frame: DataFrame, url: str, query: str, batch_id: int) -> tuple[int, int]:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = new = 0
        for batch in batches:
            rows += batch.num_rows
            if batch.num_rows:
                new += Store.shared(url).add_matches(pa.Table.from_batches([batch]), query, batch_id)
        yield pa.RecordBatch.from_pydict({"rows": [rows], "new": [new]})

    counts = frame.mapInArrow(write, "rows long, new long").collect()
    return sum(count["rows"] for count in counts), sum(count["new"] for count in counts)
