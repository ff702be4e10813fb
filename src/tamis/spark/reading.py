"""Reading a store's table from Spark: once, in parts, or following it as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

PART_ROWS = 10_000  # a micro-batch is not cut into smaller parts


class Numbers(InputPartition):
    """A run of tokens, sequence numbers or ids."""

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop


def cut(numbers: range, pieces: int) -> list[InputPartition]:
    """Runs of about the same length."""
    pieces = max(1, min(pieces, len(numbers)))
    cuts = [numbers.start + len(numbers) * piece // pieces for piece in range(pieces + 1)]
    return [Numbers(start, stop) for start, stop in pairwise(cuts)]


class _Table:
    """A table of a store, by name, as it is sent to workers."""

    def __init__(self, url: str, table: str, pieces: int, after: int) -> None:
        self.url = url
        self.table = table
        self.pieces = pieces
        self.after = after

    def numbers(self) -> range:
        """Return the numbers that there are."""
        from tamis.store import Store

        return Store.shared(self.url).numbers(self.table)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one run, as Arrow."""
        from tamis.store import Store

        assert isinstance(partition, Numbers)
        yield from Store.shared(self.url).read(self.table, range(partition.start, partition.stop))


class StoreReader(_Table, DataSourceReader):
    """Reads a table, each partition a run of its numbers."""

    def partitions(self) -> list[InputPartition]:
        """What is added from now on is not read."""
        numbers = self.numbers()
        if self.after:
            numbers = range(max(numbers.start, self.after + 1), numbers.stop)
        return cut(numbers, self.pieces)


class StoreStream(_Table, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows a table whose rows become visible in order: an offset is the number of the last row read."""

    def __init__(self, url: str, table: str, pieces: int, after: int, rows: int) -> None:
        super().__init__(url, table, pieces, after)
        self.rows = rows
        self.last: int | None = None  # where ``availableNow`` ends

    def initialOffset(self) -> dict[str, Any]:
        """Where a new query begins."""
        return {"number": self.after}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return how much a micro-batch reads."""
        return ReadMaxRows(self.rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return how far the next micro-batch goes."""
        last = self.numbers().stop - 1 if self.last is None else self.last
        if isinstance(limit, ReadMaxRows):
            last = min(last, start["number"] + limit.max_rows)
        return {"number": max(last, start["number"])}

    def prepareForTriggerAvailableNow(self) -> None:
        """Read what is there now, and end."""
        self.last = self.numbers().stop - 1

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the rows between two offsets; few rows are read by one task."""
        numbers = range(start["number"] + 1, end["number"] + 1)
        return cut(numbers, min(self.pieces, -(-len(numbers) // PART_ROWS))) if numbers else []
