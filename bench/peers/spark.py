"""Run Spark SQL on one core: the join of sql.py, without an index, because Spark has none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from bench.peers.common_file import Predicate
from bench.peers.slots import Slots, by_event, join, long_events


class SparkSql:
    """A join of a batch of events with the cached subscriptions."""

    batch = 2_000

    def __init__(self) -> None:
        self._slots = Slots()
        self._session: Any = None
        self._query = ""

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Keep the rows until all subscriptions are added."""
        self._slots.add(number, predicates)

    def ready(self) -> None:
        """Start Spark and cache the tables in its memory."""
        self._session = _session()
        slots = self._session.createDataFrame(self._slots.table())
        for name, condition in (("same", "low0 = high0"), ("ranged", "low0 < high0")):
            table = slots.where(condition).coalesce(1).cache()
            table.count()
            table.createOrReplaceTempView(name)
        self._query = join(self._slots.width, "whole[{}]")

    def prepare(self, events: Sequence[tuple[int, ...]]) -> Any:
        """Return a cached frame."""
        frame = self._session.createDataFrame(long_events(events)).coalesce(1).cache()
        frame.count()
        return frame

    def match(self, prepared: Any) -> pa.Table:
        """Return an Arrow table of pairs."""
        prepared.createOrReplaceTempView("events")
        return self._session.sql(self._query).toArrow()

    def ids(self, answer: pa.Table, count: int) -> list[list[int]]:
        """Return the pairs, event by event."""
        return by_event(answer.column(0).to_pylist(), answer.column(1).to_pylist(), count)

    def version(self) -> str:
        """Return the version of the package."""
        return str(self._session.version)


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").appName("peers")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
