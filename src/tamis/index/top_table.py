"""Find the k best matches of every event of a table: all matches of a batch first, then the best of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tamis.index.batches import PieceEvents, Run, size_of
from tamis.index.match import LazyEvent
from tamis.index.pairs import match_pairs
from tamis.index.refused_events import Refusal
from tamis.index.results import MatchTable
from tamis.index.scores import Combine, Scores, Subject
from tamis.index.snapshot import Snapshot
from tamis.index.top import TopK
from tamis.index.work import WorkReport
from tamis.segment import Segment

SCHEMA = pa.schema([("event", pa.int64()), ("subscription", pa.string()), ("score", pa.float64())])


class TopBatch(NamedTuple):
    """The best matches of the events of one batch."""

    table: pa.Table
    work: WorkReport
    refused: list[Refusal]
    events: int


class TopOfTable:
    """One search for the best matches of many events."""

    def __init__(
        self, k: int, combine: Combine, bounded: bool, prefix: str, scores_of: Callable[[Segment], Scores]
    ) -> None:
        self._k, self._combine, self._bounded, self._prefix = k, combine, bounded, prefix
        self._scores_of = scores_of

    def match(self, snapshot: Snapshot, piece: Any, first_row: int, run: Run) -> TopBatch:
        """Return the best matches of each event of one batch."""
        found = match_pairs(snapshot, piece, first_row, run)
        event_at = PieceEvents(piece, run.limits)
        refused = {refusal.position - first_row for refusal in found.refused}
        rows: list[tuple[int, str, float]] = []
        for row in range(size_of(piece)):
            if row in refused:
                continue
            event = event_at(row)
            subject = Subject(event, LazyEvent(event, run.limits), event.weights)
            search = TopK(snapshot, subject, self._k, self._combine, self._bounded, self._prefix)
            known = [
                part.number[part.start[row] : part.start[row + 1]].astype(np.int64) for part in found.parts
            ]
            best = search.run_known(self._scores_of, known)
            rows += [(row + first_row, name, score) for name, score in best]
        return TopBatch(_table(rows), found.work, found.refused, found.events)


def joined(batches: Iterator[TopBatch]) -> MatchTable:
    """Return all batches as one table."""
    tables, refused, work, events = [SCHEMA.empty_table()], [], WorkReport(), 0
    for batch in batches:
        tables.append(batch.table)
        refused += batch.refused
        work, events = work.plus(batch.work), events + batch.events
    return MatchTable(pa.concat_tables(tables), refused, work, events)


def _table(rows: list[tuple[int, str, float]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
