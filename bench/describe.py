"""What a workload looks like, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from bench.report import table
from bench.workloads import Workload
from bench.workloads.truth import Book, rows_of


def describe(workload: Workload, subscriptions: int, events: int, seed: int) -> Iterator[str]:
    """Lines to print: examples, operators, sizes, match probability by brute force."""
    columns, stream = (
        workload.subscriptions(subscriptions, seed),
        workload.events(events, seed, subscriptions),
    )
    texts = workload.texts(subscriptions, seed)
    yield f"{workload.name}: {workload.about}"
    yield "".join(f"\n  {name} = {value}" for name, value in workload.parameters().items() if name != "name")
    yield "\nsubscriptions"
    for name, expression in examples(columns, 8):
        yield f"  {name}: {expression}"
    for row in texts.slice(0, 3).to_pylist():
        yield f"  {row['id']}: {row['expression']}"
    yield "\nevents"
    for event in list(rows_of(stream.slice(0, 3))):
        yield f"  {event}"
    yield "\n" + table(("operator", "share"), _operators(columns))
    yield f"\npredicates per subscription {columns.num_rows / max(1, subscriptions - texts.num_rows):.2f}"
    yield _matches(Book(columns), stream, subscriptions)


def _operators(columns: pa.Table) -> list[tuple[str, str]]:
    counts = columns.column("operator").combine_chunks().value_counts().to_pylist()
    ranked = sorted(counts, key=lambda entry: -entry["counts"])
    return [(entry["values"], f"{entry['counts'] / columns.num_rows:.1%}") for entry in ranked]


def _matches(book: Book, stream: pa.Table, subscriptions: int) -> str:
    found = [len(book.matches(event)) for event in rows_of(stream)]
    mean = float(np.mean(found))
    return f"matches per event {mean:.3g} (of those in columns), match probability {mean / subscriptions:.3g}"


def examples(columns: pa.Table, count: int) -> list[tuple[str, str]]:
    """The first subscriptions as (id, text)."""
    rows = columns.slice(0, 40 * count).to_pylist()
    grouped = [(name, list(group)) for name, group in groupby(rows, key=lambda row: row["id"])]
    return [(name, " AND ".join(map(predicate, group))) for name, group in grouped[:count]]


def predicate(row: dict[str, Any]) -> str:
    """A bulk row as text."""
    name, operator = row["attribute"], row["operator"].upper()
    operands = [_literal(value) for kind in ("number", "string", "boolean") for value in row.get(kind) or ()]
    if operator == "BETWEEN":
        return f"{name} BETWEEN {operands[0]} AND {operands[1]}"
    if operator == "IN":
        return f"{name} IN ({', '.join(operands)})"
    if operator == "HAS ALL":
        return f"{name} HAS ALL ({', '.join(operands)})"
    return f"{name} {operator} {operands[0]}"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else str(value)
