"""Describe a workload in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from bench.report import table
from bench.workloads import Workload
from bench.workloads.texts import expressions
from bench.workloads.truth import Book, rows_of


def describe(workload: Workload, subscriptions: int, events: int, seed: int) -> Iterator[str]:
    """Yield the lines to print: examples, operators, sizes, match probability."""
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
    if columns.num_rows:
        yield "\n" + table(("operator", "share"), _operators(columns))
        yield f"\npredicates per subscription {columns.num_rows / (subscriptions - texts.num_rows):.2f}"
    mean = matches_per_event(columns, texts, stream)
    yield f"matches per event {mean:.3g}, match probability {mean / subscriptions:.3g}{wanted(workload)}"


def wanted(workload: Workload) -> str:
    """Return the requested match probability, if it is one of the parameters."""
    share = workload.parameters().get("match_probability")
    return f" (wanted {share:.3g})" if share else ""


def _operators(columns: pa.Table) -> list[tuple[str, str]]:
    counts = columns.column("operator").combine_chunks().value_counts().to_pylist()
    ranked = sorted(counts, key=lambda entry: -entry["counts"])
    return [(entry["values"], f"{entry['counts'] / columns.num_rows:.1%}") for entry in ranked]


def matches_per_event(columns: pa.Table, texts: pa.Table, stream: pa.Table) -> float:
    """Return the mean number of matches: of columns by brute force, of texts by ``scan``."""
    book = Book(columns) if columns.num_rows else None
    found = sum(len(book.matches(event)) for event in rows_of(stream)) if book else 0
    if texts.num_rows:
        from tamis import Index

        found += Index.build(texts, engine="scan").match_many(stream, threads=1).num_rows
    return float(found / max(1, stream.num_rows))


def examples(columns: pa.Table, count: int) -> list[tuple[str, str]]:
    """Return the first subscriptions as (id, text)."""
    shown = expressions(columns.slice(0, 64 * count)).slice(0, count).to_pydict()
    return list(zip(shown["id"], shown["expression"], strict=True))
