"""Run the parts of matching separately; this is the one module that looks inside an index."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bench._kernels import bare_scan
from tamis.index.batches import divided, pieces
from tamis.index.match import locate, match_layer
from tamis.index.matching import BATCH
from tamis.space.located import Located
from tamis.space.table_row import event_of_row
from tamis.values.event import Event


class LocatedBatch(NamedTuple):
    """A batch of events, located in the cells of every segment."""

    rows: pa.Table
    layers: list[tuple[Any, Any]]


def locate_events(index: Any, events: pa.Table) -> list[LocatedBatch]:
    """Return ``events`` in located batches: values become cells."""
    snapshot = index._writer.current
    located = []
    for rows in divided(pieces(events, BATCH, index.limits)):
        layers = [(layer, locate(layer.segment.encoder, rows)[0]) for layer in snapshot.layers]
        located.append(LocatedBatch(rows, layers))
    return located


def locate_whole(index: Any, events: pa.Table) -> Located:
    """Return a table as one batch of located events, in the space of the first segment."""
    return locate(index._writer.current.layers[0].segment.encoder, events)[0]


def match_located(index: Any, batches: list[LocatedBatch]) -> int:
    """Return the number of pairs that the engines find, revision included."""
    sequence = index._writer.current.sequence
    found = 0
    for batch in batches:

        def event_at(row: int, rows: pa.Table = batch.rows) -> Event:
            return event_of_row(rows, row, index.limits)

        for layer, located in batch.layers:
            matches, _ = match_layer(layer, sequence, located, event_at)
            found += len(matches.event)
    return found


def search_located(batches: list[LocatedBatch]) -> int:
    """Return the number of (event, clause) pairs the engines find; equal subscriptions share a clause."""
    found = 0
    for batch in batches:
        for layer, located in batch.layers:
            found += len(layer.segment.engine.candidates(located).event)
    return found


def scan_barely(batches: list[LocatedBatch]) -> int | None:
    """Return the number of pairs that a bare loop finds; ``None`` unless all literals are plain ranges."""
    found = 0
    for batch in batches:
        for layer, located in batch.layers:
            arena = layer.segment.arena
            literal = arena["clauses.literal"].reshape(-1)
            if literal[1::4].any() or located.multi.any():
                return None
            cell = np.zeros(len(arena["clauses.cells"]), np.uint32)
            events = located.start, located.dimension, located.lo
            found += bare_scan(*events, cell, arena["clauses.start"], literal)
    return found


def engine_bytes(index: Any) -> int:
    """Return the bytes of the arrays that the engines of all segments add to the clauses."""
    arenas = [layer.segment.arena for layer in index._writer.current.layers]
    return sum(
        slot.nbytes for arena in arenas for name, slot in arena.slots.items() if name.startswith("engine.")
    )
