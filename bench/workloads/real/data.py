"""Read the data sets and their common rule format, and write events as tables."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.columns.rows import starts
from tamis.expression.tree import And, Expr, Not, Or

ROOT = Path(__file__).resolve().parents[3]
Leaf = Callable[[dict[str, Any]], Expr]

_TYPES = {
    "number": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "numbers": pa.list_(pa.float64()),
    "strings": pa.list_(pa.string()),
}


def shared_folder() -> Path:
    """Return the folder of real data sets: TAMIS_SHARED_DATA, else ../shared/data beside the checkout."""
    named = os.environ.get("TAMIS_SHARED_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data"


def lines(path: Path) -> Iterator[Any]:
    """Yield the objects of a gzipped JSON Lines file."""
    with gzip.open(path, "rb") as file:
        for line in file:
            yield json.loads(line)


def tree_of(rule: dict[str, Any], leaf: Leaf) -> Expr:
    """Return a rule of the common format as a tree; ``leaf`` translates a leaf."""
    if "and" in rule:
        return And(tuple(tree_of(child, leaf) for child in rule["and"]))
    if "or" in rule:
        return Or(tuple(tree_of(child, leaf) for child in rule["or"]))
    if "not" in rule:
        return Not(tree_of(rule["not"], leaf))
    return leaf(rule)


def any_of(branches: Iterable[Expr]) -> Expr:
    """Return one branch alone, several under OR."""
    found = tuple(branches)
    return found[0] if len(found) == 1 else Or(found)


def values_of(leaf: dict[str, Any]) -> list[Any]:
    """Return the values of a leaf; any of them satisfies it."""
    value = leaf.get("v")
    return value if isinstance(value, list) else [value]


def event_table(events: Iterable[dict[str, Any]]) -> pa.Table:
    """Return sparse events of mixed types: a map column for each type of value."""
    found: dict[str, tuple[list[int], list[str], list[Any]]] = {kind: ([], [], []) for kind in _TYPES}
    count = 0
    for count, event in enumerate(events, 1):
        for name, value in event.items():
            row, names, values = found[_kind(value)]
            row.append(count - 1)
            names.append(name)
            values.append(value)
    columns = {}
    for kind, (row, names, values) in found.items():
        if row:
            offsets = pa.array(starts(np.bincount(row, minlength=count)).astype(np.int32))
            columns[kind] = pa.MapArray.from_arrays(offsets, pa.array(names), pa.array(values, _TYPES[kind]))
    return pa.table(columns)


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "strings" if all(isinstance(item, str) for item in value) else "numbers"
    if isinstance(value, str):
        return "string"
    return "boolean" if isinstance(value, bool) else "number"
