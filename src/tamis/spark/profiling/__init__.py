"""Profiles a log of events in one pass.

A profile contains how often each attribute occurs and its types, the number of distinct values, frequent
values, the distribution of numbers and times (sketches), the document frequency of the terms of texts, terms
that occur together (the pruned co-occurrence matrix of pre-search), and a uniform sample of the events.
``build`` uses the sample: an index is laid out for the events that it will match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tamis.errors import InputError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.spark.events import events as canonical
from tamis.spark.profiling.collect import Settings, collect, merge
from tamis.spark.profiling.profile import Profile
from tamis.spark.profiling.tables import tables_of
from tamis.spark.schema import ATTRIBUTES, DATA, DRAW, EVENT_ID, KIND, NAME, PARTIAL, SAMPLED, Columns
from tamis.spark.workers import ready
from tamis.values.analysis import clean_analysers, shown

__all__ = ["Profile", "profile"]

SAMPLE = 20_000
LEAST_PAIR = 0.002


def profile(
    events: DataFrame,
    path: str,
    *,
    sample: int = SAMPLE,
    least_pair: float = LEAST_PAIR,
    seed: int = 1,
    analysers: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Profile:
    """Read ``events`` once and write their profile to ``path``.

    ``sample`` events are kept; they are chosen by a hash of ``event_id`` and ``seed``, so the same log gives
    the same sample with any partitioning. Pairs of terms are kept if they occur together in at least the
    share ``least_pair`` of the events. ``analysers`` are those of ``Index.build``; they make the terms that
    are counted.
    """
    declared = {attribute: shown(name) for attribute, name in clean_analysers(analysers).items()}
    _check(events, sample, least_pair)
    ready(events.sparkSession)
    frame = canonical(events, limits=limits).select(
        EVENT_ID, ATTRIBUTES, F.xxhash64(EVENT_ID, F.lit(seed)).alias(DRAW)
    )
    settings = Settings(sample, least_pair, limits, declared)
    # Two small queries read the workers' partial profiles; only the first of them reads the log.
    partial = frame.mapInArrow(_collector(settings), _schema(frame)).persist(StorageLevel.DISK_ONLY)
    try:
        total, tables = tables_of(_merged(partial, limits), least_pair, limits)
        tables["sample"] = (
            partial.where(F.col(KIND) == SAMPLED).orderBy(DRAW).limit(sample).select(ATTRIBUTES).toArrow()
        )
    finally:
        partial.unpersist()
    return Profile.write(path, total, tables)


def _check(events: DataFrame, sample: int, least_pair: float) -> None:
    if events.isStreaming:
        raise InputError("a profile is made of a log, not of a stream; read the log as a batch")
    if sample < 1:
        raise InputError(f"a sample has at least one event, not {sample}")
    if not 0.0 < least_pair <= 1.0:
        raise InputError(f"least_pair is a share of the events between 0 and 1, not {least_pair}")


def _collector(settings: Settings) -> Any:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return collect(batches, settings)

    return run


def _schema(frame: DataFrame) -> T.StructType:
    columns = Columns(KIND, NAME, DRAW, DATA).spark
    return columns.add(ATTRIBUTES, frame.schema[ATTRIBUTES].dataType)


def _merged(partial: DataFrame, limits: Limits) -> Iterator[tuple[str, str, bytes]]:
    """Yield the partial profiles merged by kind and name, on the workers."""

    def run(table: pa.Table) -> pa.Table:
        return merge(table, limits)

    groups = partial.where(F.col(KIND) != SAMPLED).select(*PARTIAL).groupBy(KIND, NAME)
    rows = groups.applyInArrow(run, PARTIAL.spark).toArrow()
    return zip(*(rows.column(name).to_pylist() for name in PARTIAL), strict=True)
