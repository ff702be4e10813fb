"""Profiles: what a log of events is like, found in one pass.

How often each attribute occurs and of what kind it is, how many different values it has, which of them are
frequent and how numbers and times are spread (sketches), in how many events a term of a text stands, which
terms stand together (the pruned co-occurrence matrix of pre-search), and a uniform sample of the events.
``build`` goes by the sample: an index is laid out for the events that it is going to meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tamis.errors import InputError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.spark.events import events as canonical
from tamis.spark.profiling.collect import MERGED, Settings, collect, merge
from tamis.spark.profiling.profile import Profile
from tamis.spark.profiling.tables import tables_of
from tamis.spark.workers import ready

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
    limits: Limits = DEFAULT_LIMITS,
) -> Profile:
    """Read ``events`` once and write their profile as ``path``.

    ``sample`` events are kept; they are chosen by hash of ``event_id`` and ``seed``, so the same log gives
    the same sample however it is partitioned. Pairs of terms are kept that stand together in at least the
    share ``least_pair`` of the events.
    """
    _check(events, sample, least_pair)
    ready(events.sparkSession)
    frame = canonical(events, limits=limits).select(
        "event_id", "attributes", F.xxhash64("event_id", F.lit(seed)).alias("draw")
    )
    settings = Settings(sample, least_pair, limits)
    # Two small questions are asked of the workers' partial profiles; the log itself is read for the first.
    partial = frame.mapInArrow(_collector(settings), _schema(frame)).persist(StorageLevel.DISK_ONLY)
    try:
        total, tables = tables_of(_merged(partial, limits), least_pair, limits)
        tables["sample"] = (
            partial.where("kind = 'sample'").orderBy("draw").limit(sample).select("attributes").toArrow()
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
    return (
        T.StructType()
        .add("kind", "string")
        .add("name", "string")
        .add("draw", "long")
        .add("data", "binary")
        .add("attributes", frame.schema["attributes"].dataType)
    )


def _merged(partial: DataFrame, limits: Limits) -> Iterator[tuple[str, str, bytes]]:
    """Return the partial profiles merged, kind by kind and name by name, where the workers are."""

    def run(table: pa.Table) -> pa.Table:
        return merge(table, limits)

    groups = partial.where("kind <> 'sample'").select("kind", "name", "data").groupBy("kind", "name")
    rows = groups.applyInArrow(run, MERGED).toArrow()
    return zip(*(rows.column(name).to_pylist() for name in ("kind", "name", "data")), strict=True)
