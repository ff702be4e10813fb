"""Generates workloads of any size: Spark draws ranges of subscriptions and events in parallel, as Parquet.

A workload is any object that generates ranges independently: ``columns(seed, rows)`` (bulk columns),
``expressions(seed, rows)`` (id, expression), ``in_text(count)`` (how many of a book are expressions) and
``stream(seed, rows, book)`` (events). Those of ``bench/`` are found by name if it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from tamis.columns import columns_from_arrow
from tamis.columns.rows import tree_at
from tamis.errors import InputError
from tamis.language import to_text
from tamis.spark.schema import EVENT_ID, EXPRESSION, ID
from tamis.spark.workers import ready

GROUP = "tamis.workloads"
RANGE_ROWS = 1 << 16  # rows that a worker draws at a time


class Workload(Protocol):
    """A seeded source of subscriptions and events, in any range."""

    def in_text(self, count: int) -> int:
        """Return how many of ``count`` subscriptions are written as text."""

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return the subscriptions with these numbers as bulk columns."""

    def expressions(self, seed: int, rows: range) -> pa.Table:
        """Return the subscriptions with these numbers among those written as text."""

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return the events with these numbers for a book of ``book`` subscriptions."""


class Generated(NamedTuple):
    """The paths of the output; ``None`` for an empty part."""

    subscriptions: str | None
    texts: str | None
    events: str | None


def workload_named(name: str) -> Workload:
    """Return the workload called ``name`` from the installed packages."""
    offers = sorted(entry_points(group=GROUP), key=lambda offer: offer.name)
    problems = []
    for offer in offers:
        try:
            found: Workload = offer.load()(name)
            return found
        except (ImportError, AttributeError):
            continue  # a wheel lists bench, but only a checkout contains it
        except ValueError as bad:
            problems.append(str(bad))
    raise InputError(
        "; ".join(problems)
        or f"there is no workload {name!r}: none are installed; those of bench/ come with a checkout of Tamis"
        " (pip install -e .), not with its wheel"
    )


def generate(
    spark: SparkSession,
    workload: Workload,
    path: str,
    *,
    subscriptions: int,
    events: int,
    seed: int = 1,
    partitions: int | None = None,
    as_text: bool = False,
    overwrite: bool = False,
) -> Generated:
    """Write ``subscriptions`` subscriptions and ``events`` events for them below ``path``.

    ``path/subscriptions`` contains bulk columns, and ``path/texts`` the expressions that columns cannot
    express. With ``as_text``, ``path/subscriptions`` contains only expressions. ``path/events`` has an
    ``event_id`` for each event.
    """
    for what, count in (("subscriptions", subscriptions), ("events", events)):
        if count < 0:
            raise InputError(f"{what} are counted from 0, not {count}")
    path = path.rstrip("/")
    ranges = _Ranges(spark, partitions)
    texts = workload.in_text(subscriptions)
    columns = subscriptions - texts
    found: dict[str, DataFrame] = {}
    if columns:
        make = _as_text(workload, seed) if as_text else _columns(workload, seed)
        found["subscriptions"] = ranges.frame(make, columns)
    if texts:
        frame = ranges.frame(_texts(workload, seed), texts)
        if as_text:
            found["subscriptions"] = found["subscriptions"].union(frame) if columns else frame
        else:
            found["texts"] = frame
    if events:
        found["events"] = ranges.frame(_events(workload, seed, subscriptions), events)
    return Generated(*(_write(found.get(name), f"{path}/{name}", overwrite) for name in Generated._fields))


Make = Callable[[range], pa.Table]


class _Ranges:
    """Makes DataFrames whose rows are drawn by workers, range by range."""

    def __init__(self, spark: SparkSession, partitions: int | None) -> None:
        self._spark, self._partitions = spark, partitions

    def frame(self, make: Make, count: int) -> DataFrame:
        """Return the rows that ``make`` returns for all of ``range(count)``."""
        schema = _plain(make(range(1))).schema

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    rows = range(number * RANGE_ROWS, min(count, (number + 1) * RANGE_ROWS))
                    yield from _fitted(_plain(make(rows)), schema).to_batches(max_chunksize=RANGE_ROWS)

        numbers = ready(self._spark).range(0, -(-count // RANGE_ROWS), 1, self._partitions)
        return numbers.mapInArrow(draw, from_arrow_schema(schema))


def _columns(workload: Workload, seed: int) -> Make:
    return lambda rows: workload.columns(seed, rows)


def _texts(workload: Workload, seed: int) -> Make:
    return lambda rows: workload.expressions(seed, rows).select([ID, EXPRESSION])


def _as_text(workload: Workload, seed: int) -> Make:
    def make(rows: range) -> pa.Table:
        bulk = columns_from_arrow(workload.columns(seed, rows))
        if bulk.refused:
            raise bulk.refused[0][1]
        texts = [to_text(tree_at(bulk.columns, at)) for at in range(len(bulk.ids))]
        return pa.table({ID: bulk.ids.cast(ID.arrow), EXPRESSION: pa.array(texts, EXPRESSION.arrow)})

    return make


def _events(workload: Workload, seed: int, book: int) -> Make:
    def make(rows: range) -> pa.Table:
        number = pa.array(np.arange(rows.start, rows.stop)).cast(pa.string())
        ids = pc.binary_join_element_wise("event", number, "-")
        return workload.stream(seed, rows, book).add_column(0, EVENT_ID, ids)

    return make


def _plain(table: pa.Table) -> pa.Table:
    """Return a table with strings in place of dictionary codes, which Spark does not support."""
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return ``table`` with the columns of ``schema``; a range may lack one."""
    unknown = set(table.column_names) - set(schema.names)
    if unknown:
        raise InputError(
            f"a range of the workload has the column {min(unknown)!r}, which its first row lacks"
        )
    columns: list[Any] = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _write(frame: DataFrame | None, path: str, overwrite: bool) -> str | None:
    if frame is None:
        return None
    try:
        frame.write.mode("overwrite" if overwrite else "error").parquet(path)
    except AnalysisException as bad:
        if bad.getCondition() != "PATH_ALREADY_EXISTS":
            raise
        raise InputError(
            f"there is something at {path} already; name another place, or overwrite it"
        ) from None
    return path
