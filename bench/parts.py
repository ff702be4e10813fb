"""The two halves of matching, each on its own: this is the one place that looks inside an index."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from tamis.matcher.batches import locate, pieces
from tamis.matcher.index import BATCH
from tamis.matcher.match import match_layer
from tamis.model.event import Event
from tamis.space.columns import event_of_row


class LocatedBatch(NamedTuple):
    """A batch of events, located in the cells of every segment."""

    rows: pa.Table
    layers: list[tuple[Any, Any]]


def locate_events(index: Any, events: pa.Table) -> list[LocatedBatch]:
    """``events`` in batches, located: values become cells."""
    snapshot = index._writer.current
    located = []
    for rows in pieces(events, BATCH, index.limits):
        layers = [(layer, locate(layer.segment.encoder, rows)[0]) for layer in snapshot.layers]
        located.append(LocatedBatch(rows, layers))
    return located


def match_located(index: Any, batches: list[LocatedBatch]) -> int:
    """How many pairs the engines find, revision included."""
    sequence = index._writer.current.sequence
    found = 0
    for batch in batches:

        def event_at(row: int, rows: pa.Table = batch.rows) -> Event:
            return event_of_row(rows, row, index.limits)

        for layer, located in batch.layers:
            matches, _ = match_layer(layer, sequence, located, event_at)
            found += len(matches.event)
    return found
