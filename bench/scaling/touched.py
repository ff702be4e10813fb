"""Count the cache lines that ``hybrid`` reads for an event, array by array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bench import parts
from bench.scaling._kernels import LINE, retrace

ARRAYS = ("heads", "list starts", "inline records", "rows", "clauses")


def bytes_touched(index: Any, events: pa.Table) -> dict[str, float]:
    """Return the bytes per event in whole cache lines, by array; every segment of the index counts."""
    touched = np.zeros(len(ARRAYS), np.int64)
    for batch in parts.locate_events(index, events):
        for layer, located in batch.layers:
            arena = layer.segment.arena
            engine = arena.group("engine.")
            retrace(
                located.start,
                located.dimension,
                located.lo,
                arena["clauses.start"],
                arena["clauses.cells"],
                engine["heads"].reshape(-1),
                engine["levels"].reshape(-1),
                engine["list_start"],
                engine["until"],
                engine["inline"],
                engine["rows"].reshape(-1),
                engine["layout"],
                touched,
            )
    return {name: LINE * float(count) / events.num_rows for name, count in zip(ARRAYS, touched, strict=True)}
