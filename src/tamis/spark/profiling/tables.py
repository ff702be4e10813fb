"""Builds the tables of a profile from merged sketches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from datasketches import frequent_items_error_type, frequent_strings_sketch

from tamis.limits import Limits
from tamis.spark.profiling.collect import Total
from tamis.spark.profiling.leaves import FAMILIES
from tamis.spark.profiling.sketch import AttributeSketch
from tamis.spark.profiling.terms import BETWEEN

RANKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)

_TEXT, _COUNT, _REAL = pa.string(), pa.int64(), pa.float64()
_COLUMNS: dict[str, dict[str, Any]] = {
    "attributes": {"attribute": _TEXT, "events": _COUNT, "share": _REAL, "multi": _COUNT}
    | {f"{family}s": _COUNT for family in FAMILIES}
    | {"distinct": _REAL},
    "values": {"attribute": _TEXT, "family": _TEXT, "value": _TEXT, "count": _COUNT, "at_least": _COUNT},
    "quantiles": {"attribute": _TEXT, "family": _TEXT, "rank": _REAL, "value": _REAL},
    "terms": {"attribute": _TEXT, "term": _TEXT, "documents": _COUNT, "share": _REAL},
    "pairs": {"attribute": _TEXT, "one": _TEXT, "two": _TEXT, "documents": _COUNT, "share": _REAL},
}
SCHEMAS = {kind: pa.schema(list(columns.items())) for kind, columns in _COLUMNS.items()}
Rows = Iterable[tuple[str, str, bytes]]


def tables_of(rows: Rows, least_pair: float, limits: Limits) -> tuple[Total, dict[str, pa.Table]]:
    """Return the totals and tables from merged rows of (kind, name, data)."""
    held: dict[str, dict[str, bytes]] = {"total": {}, "attribute": {}, "terms": {}, "pairs": {}}
    for kind, name, data in rows:
        held[kind][name] = data
    total = msgspec.msgpack.decode(held["total"].get("", msgspec.msgpack.encode(Total())), type=Total)
    good = max(total.events - total.refused, 1)
    attributes = {name: _thawed(data, limits) for name, data in held["attribute"].items()}
    ranked = sorted(attributes, key=lambda name: (-attributes[name].events, name))
    total.dropped += len(ranked[limits.profile_attributes :])
    kept = {name: attributes[name] for name in ranked[: limits.profile_attributes]}
    terms = _counted(held["terms"].values(), 1, 0, limits.profile_terms)
    pairs = _counted(held["pairs"].values(), 2, least_pair * good, limits.profile_pairs)
    return total, {
        "attributes": _table("attributes", [_attribute(name, sketch, good) for name, sketch in kept.items()]),
        "values": _table("values", [row for name in kept for row in _values(name, kept[name], limits)]),
        "quantiles": _table("quantiles", [row for name in kept for row in _quantiles(name, kept[name])]),
        "terms": _table("terms", [(*key, count, count / good) for key, count in terms]),
        "pairs": _table("pairs", [(*key, count, count / good) for key, count in pairs]),
    }


def _table(kind: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    schema = SCHEMAS[kind]
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def _thawed(data: bytes, limits: Limits) -> AttributeSketch:
    sketch = AttributeSketch(limits.profile_values)
    sketch.merge(data)
    return sketch


def _attribute(name: str, sketch: AttributeSketch, events: int) -> tuple[Any, ...]:
    share = sketch.events / events
    return name, sketch.events, share, sketch.multi, *sketch.values, sketch.distinct.get_estimate()


def _values(name: str, sketch: AttributeSketch, limits: Limits) -> list[tuple[Any, ...]]:
    items = sketch.frequent.get_frequent_items(frequent_items_error_type.NO_FALSE_NEGATIVES)
    items.sort(key=lambda item: (-item[1], item[0]))
    return [(name, *item.split(":", 1), count, low) for item, count, low, _ in items[: limits.profile_values]]


def _quantiles(name: str, sketch: AttributeSketch) -> list[tuple[Any, ...]]:
    """Return quantiles of numbers, and of times in seconds since 1970."""
    found: list[tuple[Any, ...]] = []
    for family, spread in sketch.spread.items():
        if not spread.is_empty():
            values = np.array(spread.get_quantiles(RANKS)) / (1e6 if family == "time" else 1.0)
            found += [(name, family, rank, value) for rank, value in zip(RANKS, values.tolist(), strict=True)]
    return found


def _counted(
    buckets: Iterable[bytes], terms: int, least: float, most: int
) -> list[tuple[tuple[str, ...], int]]:
    """Return the most frequent keys of all buckets, split into an attribute and its terms."""
    found: list[tuple[int, str]] = []
    for data in buckets:
        held = frequent_strings_sketch.deserialize(data)
        items = held.get_frequent_items(frequent_items_error_type.NO_FALSE_NEGATIVES)
        found += [(-count, key) for key, count, _, _ in items if count >= least]
    return [(tuple(key.rsplit(BETWEEN, terms)), -count) for count, key in sorted(found)[:most]]
