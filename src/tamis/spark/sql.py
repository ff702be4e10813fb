"""Matching from SQL: ``SELECT * FROM tamis_match(TABLE(events), 'path')``.

A last argument says what to do about refused events, as ``on_error`` does elsewhere: ``'report'`` (unless
given: each task logs their number), ``'raise'`` or ``'skip'``.

The table has the canonical columns of :func:`tamis.spark.events`, or ``event_id`` and typed columns that
are attributes. An Arrow table function is the only kind that Spark runs at a useful speed, and it takes a
table argument only, never a lateral join.
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
from tamis.spark.worker import Matching, MatchOptions
from tamis.spark.workers import ready

_PAIRS = "event_id string, subscription_id string, version bigint"
_SCORED = f"{_PAIRS}, score double"


def register(spark: SparkSession) -> None:
    """Make ``tamis_match(TABLE(…), path)`` and ``tamis_top(TABLE(…), path, k)`` known to SQL.

    Both take one more argument, ``on_error``.
    """
    ready(spark)
    kinds: dict[str, tuple[Any, str]] = {
        "tamis_match": (_MatchTable, _PAIRS),
        "tamis_top": (_TopTable, _SCORED),
    }
    for name, (function, schema) in kinds.items():
        made: Any = arrow_udtf(returnType=schema)
        spark.udtf.register(name, made(function))


class _Matched:
    """The matches of the batches of a partition, all against one version of the index."""

    def __init__(self) -> None:
        self._matching: Matching | None = None

    def rows(
        self, batch: pa.RecordBatch, path: str, k: int | None = None, on_error: str = REPORT
    ) -> Iterator[pa.Table]:
        """Yield the matches of one batch."""
        if self._matching is None:
            check_on_error(on_error)
            self._matching = Matching(
                path, current(Location(path)).number, MatchOptions(k, on_error=on_error)
            )
        for found in self._matching(iter([_checked(batch)])):
            table = pa.Table.from_batches([found])
            yield table.filter(pa.compute.is_null(table["note"])).drop_columns(["note"])


class _MatchTable:
    def __init__(self) -> None:
        self._matched = _Matched()

    def eval(
        self, events: pa.RecordBatch, path: pa.Array, on_error: pa.Array | None = None
    ) -> Iterator[pa.Table]:
        if events.num_rows:
            said = REPORT if on_error is None else on_error[0].as_py()
            yield from self._matched.rows(events, path[0].as_py(), None, said)


class _TopTable:
    def __init__(self) -> None:
        self._matched = _Matched()

    def eval(
        self, events: pa.RecordBatch, path: pa.Array, k: pa.Array, on_error: pa.Array | None = None
    ) -> Iterator[pa.Table]:
        if events.num_rows:
            said = REPORT if on_error is None else on_error[0].as_py()
            yield from self._matched.rows(events, path[0].as_py(), k[0].as_py(), said)


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    if "event_id" not in batch.schema.names:
        raise InputError(
            f"the table needs a column event_id (there are: {', '.join(batch.schema.names)}); "
            "name one: SELECT … AS event_id"
        )
    return batch
