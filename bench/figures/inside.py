"""Measure the contents of an index: bytes of its parts, and extra terms that ``presearch`` indexed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.engines.presearch.layers._kernels import CLAUSE, DEPTH

PARTS = ("engine", "clauses", "book", "space", "ids")


def part_bytes(index: Any) -> dict[str, int]:
    """Return bytes by part: the engine's arrays, clauses, subscriptions as written, values, ids."""
    found = dict.fromkeys((f"{part}_bytes" for part in PARTS), 0)
    for layer in index._writer.current.layers:
        for name, slot in layer.segment.arena.slots.items():
            part = f"{name.split('.')[0]}_bytes"
            if part in found:
                found[part] += slot.nbytes
    return found


def presearch_layers(index: Any) -> dict[str, float]:
    """Return the extra terms over all queries (one per owner of a clause), and the second layer's bytes."""
    found = {"extra_terms": 0.0, "first_layer_bytes": 0.0, "second_layer_bytes": 0.0}
    for layer in index._writer.current.layers:
        arena = layer.segment.arena
        if layer.segment.engine_name != "presearch":
            continue
        node = arena["engine.node"].astype(np.int64)
        owners = np.diff(arena["clauses.owner_start"][node[:, CLAUSE]].astype(np.int64))
        found["extra_terms"] += float((node[:-1, DEPTH] * owners).sum())
        second = arena["engine.child"].nbytes + node[:-1][node[:-1, DEPTH] > 0].size * 4
        found["second_layer_bytes"] += float(second)
        found["first_layer_bytes"] += float(_engine_bytes(arena) - second)
    return found


def _engine_bytes(arena: Any) -> int:
    return sum(slot.nbytes for name, slot in arena.slots.items() if name.startswith("engine."))
