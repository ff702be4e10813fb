"""Build a book too large to be built at once: in pieces, each saved and memory-mapped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench import parts
from bench.timing import per_event, seconds, timed
from bench.workloads.synthetic import Synthetic, ranges


class Shelf:
    """Several indexes that an event goes through one after the other."""

    def __init__(self, indexes: list[Any], build_s: float) -> None:
        self.indexes, self.build_s = indexes, build_s

    @classmethod
    def build(
        cls, workload: Synthetic, count: int, piece: int, folder: Path, say: Callable[[str], Any]
    ) -> Shelf:
        """Build ``count`` subscriptions in pieces, each saved in ``folder`` and opened from there."""
        from tamis import Index

        indexes, spent = [], 0.0
        for rows in ranges(count, piece):
            say(f"building {rows.start:,} to {rows.stop:,}")
            columns = workload.columns(1, rows)
            build_s, index = seconds(partial(Index.build, columns))
            place = folder / f"piece-{rows.start}"
            index.save(place)
            del index, columns  # free the memory for the next piece
            indexes.append(Index.open(place))
            spent += build_s
        return cls(indexes, spent)

    def match_us(self, events: pa.Table) -> tuple[float, float]:
        """Return microseconds per event in all pieces, located events to matches, and matches per event."""
        located = [(index, parts.locate_events(index, events)) for index in self.indexes]
        found = self._match(located)
        spent = min(timed(lambda: self._match(located), 3))
        return per_event(spent, events.num_rows), found / events.num_rows

    def _match(self, located: list[tuple[Any, Any]]) -> int:
        return sum(parts.match_located(index, batches) for index, batches in located)

    def bytes(self) -> int:
        """Return the bytes of all pieces."""
        return sum(int(index.info()["bytes"]) for index in self.indexes)
