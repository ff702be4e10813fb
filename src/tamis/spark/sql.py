"""MatchTask in SQL: ``SELECT * FROM tamis_match(TABLE(events), 'path')``.

The last argument is ``on_error``: ``'report'`` (the default: each task logs the number of refused events),
``'raise'`` or ``'skip'``.

The table has the canonical columns of :func:`tamis.spark.events`, or ``event_id`` and typed columns that are
attributes. Only an Arrow table function is fast enough in Spark; it accepts only a table argument, not a
lateral join.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udtf

from tamis.contract.on_error import REPORT, check_on_error
from tamis.errors import InputError
from tamis.shards.location import Location
from tamis.shards.manifest import current
from tamis.spark.schema import EVENT_ID, NOTE, PAIRS, SCORED_PAIRS, Columns
from tamis.spark.worker import MatchOptions, MatchTask
from tamis.spark.workers import ready


def register(spark: SparkSession) -> None:
    """Register ``tamis_match(TABLE(…), path)`` and ``tamis_top(TABLE(…), path, k)`` as SQL functions.

    Both accept ``on_error`` as a last argument.
    """
    ready(spark)
    kinds: dict[str, tuple[Any, Columns]] = {
        "tamis_match": (_MatchTable, PAIRS),
        "tamis_top": (_TopTable, SCORED_PAIRS),
    }
    for name, (function, columns) in kinds.items():
        made: Any = arrow_udtf(returnType=columns.spark)
        spark.udtf.register(name, made(function))


class _TableMatcher:
    """Matches the batches of a partition, all against one version of the index."""

    def __init__(self) -> None:
        self._task: MatchTask | None = None

    def rows(
        self, batch: pa.RecordBatch, path: str, k: int | None = None, on_error: str = REPORT
    ) -> Iterator[pa.Table]:
        """Yield the matches of one batch."""
        if self._task is None:
            check_on_error(on_error)
            self._task = MatchTask(path, current(Location(path)).number, MatchOptions(k, on_error=on_error))
        for found in self._task(iter([_checked(batch)])):
            table = pa.Table.from_batches([found])
            yield table.filter(pa.compute.is_null(table[NOTE])).drop_columns([NOTE])


class _MatchTable:
    def __init__(self) -> None:
        self._matcher = _TableMatcher()

    def eval(
        self, events: pa.RecordBatch, path: pa.Array, on_error: pa.Array | None = None
    ) -> Iterator[pa.Table]:
        if events.num_rows:
            choice = REPORT if on_error is None else on_error[0].as_py()
            yield from self._matcher.rows(events, path[0].as_py(), None, choice)


class _TopTable:
    def __init__(self) -> None:
        self._matcher = _TableMatcher()

    def eval(
        self, events: pa.RecordBatch, path: pa.Array, k: pa.Array, on_error: pa.Array | None = None
    ) -> Iterator[pa.Table]:
        if events.num_rows:
            choice = REPORT if on_error is None else on_error[0].as_py()
            yield from self._matcher.rows(events, path[0].as_py(), k[0].as_py(), choice)


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    if EVENT_ID not in batch.schema.names:
        raise InputError(
            f"the table needs a column event_id (there are: {', '.join(batch.schema.names)}); "
            "name one: SELECT … AS event_id"
        )
    return batch
