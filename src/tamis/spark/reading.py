"""Reads a store's table from Spark: once, in parts, or following it as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

PART_ROWS = 10_000  # a micro-batch is not split into smaller parts


class NumberRange(InputPartition):
    """A range of tokens, sequence numbers or ids."""

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop


def split(numbers: range, parts: int) -> list[InputPartition]:
    """Split numbers into ranges of about the same length."""
    parts = max(1, min(parts, len(numbers)))
    edges = [numbers.start + len(numbers) * part // parts for part in range(parts + 1)]
    return [NumberRange(start, stop) for start, stop in pairwise(edges)]


class _Table:
    """A table of a store, by name, for workers."""

    def __init__(self, url: str, table: str, parts: int, after: int) -> None:
        self.url = url
        self.table = table
        self.parts = parts
        self.after = after

    def numbers(self) -> range:
        """Return the range of existing numbers."""
        from tamis.store import Store

        return Store.shared(self.url).numbers(self.table)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one range as Arrow."""
        from tamis.store import Store

        assert isinstance(partition, NumberRange)
        yield from Store.shared(self.url).read(self.table, range(partition.start, partition.stop))


class StoreReader(_Table, DataSourceReader):
    """Reads a table; each partition is a range of its numbers."""

    def partitions(self) -> list[InputPartition]:
        """Return the partitions; rows added from now on are not read."""
        numbers = self.numbers()
        if self.after:
            numbers = range(max(numbers.start, self.after + 1), numbers.stop)
        return split(numbers, self.parts)


class StoreStream(_Table, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows a table whose rows become visible in order: an offset is the number of the last row read."""

    def __init__(self, url: str, table: str, parts: int, after: int, rows: int) -> None:
        super().__init__(url, table, parts, after)
        self.rows = rows
        self.last: int | None = None  # where ``availableNow`` ends

    def initialOffset(self) -> dict[str, Any]:
        """Return the offset at which a new query begins."""
        return {"number": self.after}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return how much a micro-batch reads."""
        return ReadMaxRows(self.rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return the offset at which the next micro-batch ends."""
        last = self.numbers().stop - 1 if self.last is None else self.last
        if isinstance(limit, ReadMaxRows):
            last = min(last, start["number"] + limit.max_rows)
        return {"number": max(last, start["number"])}

    def prepareForTriggerAvailableNow(self) -> None:
        """Limit the query to the rows that exist now."""
        self.last = self.numbers().stop - 1

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the rows between two offsets as partitions; few rows are read by one task."""
        numbers = range(start["number"] + 1, end["number"] + 1)
        return split(numbers, min(self.parts, -(-len(numbers) // PART_ROWS))) if numbers else []
