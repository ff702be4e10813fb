"""Writes a DataFrame of subscriptions or an ``Index`` to a temporary sharded index, for ``match``.

The index is in a local folder that is deleted when this process ends. The workers must see that folder, so
this needs a local master. On a cluster, build the index where all workers can read it.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

from tamis.errors import InputError
from tamis.index.index import Index
from tamis.index.writer import Writer
from tamis.segment.sealed import index_key
from tamis.spark.build import build
from tamis.spark.session import active_session

Source = str | DataFrame | Index


def path_of(source: Source) -> str:
    """Return the path of a sharded index: ``source`` itself, or that of a temporary copy."""
    if isinstance(source, Index):
        return _stored(source)
    if isinstance(source, str):
        return source
    if not hasattr(source, "sparkSession"):
        raise InputError(
            f"match takes the path of an index, a DataFrame of subscriptions or a tamis.Index, not a "
            f"{type(source).__name__}"
        )
    return _built(source)


def _built(subscriptions: DataFrame) -> str:
    if subscriptions.isStreaming:
        raise InputError("an index is built from a DataFrame that ends; for one that grows, use match_stream")
    folder = _folder(subscriptions.sparkSession, "tamis.spark.build(subscriptions, path)")
    built = build(subscriptions, folder)
    if built.refused:
        first = built.quarantine.limit(3).collect()
        said = "; ".join(f"{row['id']}: {row['code']}: {row['message']}" for row in first)
        warnings.warn(
            f"{built.refused} subscriptions are left out, the first of them: {said}; "
            "tamis.spark.build(subscriptions, path).quarantine has all",
            stacklevel=4,
        )
    return folder


def _stored(index: Index) -> str:
    """Store the current subscriptions of an index as one shard; return its folder."""
    folder = _folder(active_session(), "Index.save")
    held = index._writer
    writer = Writer(held.engine, held.parameters, held.limits, held.sample, held.head, held.analysers)
    writer.restore(held.current, WeakKeyDictionary())  # its segments are immutable, so nothing in it changes
    writer.save(Path(folder), {}, index_key())
    return folder


def _folder(spark: SparkSession | None, how: str) -> str:
    """Return a folder that the workers see, until this process ends."""
    master = _master(spark)
    if not master.startswith("local"):
        raise InputError(
            f"the workers of {master} do not see a folder of this machine; build the index where all of them "
            f"reach it, with {how}, and give match that path"
        )
    folder = tempfile.mkdtemp(prefix="tamis-index-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _master(spark: Any) -> str:
    return "local" if spark is None else str(spark.conf.get("spark.master", None) or "local")
