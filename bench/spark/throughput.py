"""Measure batch matching through Spark against one process, and against a join without an index."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from bench.report import say
from bench.spark.material import Material, material, remove

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WORKLOAD = "w4-dense"


def throughput(spark: SparkSession, subscriptions: int, events: int, repeats: int = 3) -> dict[str, Any]:
    """Measure events per second of ``match`` and of ``match_many`` on the same cores, best of some runs."""
    from tamis.spark import build

    files = material(spark, WORKLOAD, subscriptions, events)
    remove(files.index)
    say(f"building {subscriptions:,} subscriptions …")
    made = build(spark.read.parquet(files.subscriptions), files.index)
    spark_times, pairs = _by_spark(spark, files, repeats)
    own_times, own_pairs = _by_library(files, repeats)
    if pairs != own_pairs:
        raise RuntimeError(f"Spark finds {pairs:,} pairs, the library {own_pairs:,}")
    rates = events / min(spark_times), events / min(own_times)
    return {
        "subscriptions": subscriptions,
        "events": events,
        "pairs": pairs,
        "build_s": made.seconds,
        "spark_events_per_s": rates[0],
        "library_events_per_s": rates[1],
        "share": rates[0] / rates[1],
        "spark_s": spark_times,
        "library_s": own_times,
    }


def _by_spark(spark: SparkSession, files: Material, repeats: int) -> tuple[list[float], int]:
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from tamis.spark import match

    events = spark.read.parquet(files.events)
    events.limit(2_000).transform(match(files.index)).write.format("noop").mode("overwrite").save()
    times, pairs = [], 0
    for _ in range(repeats):
        seen = Observation()
        start = time.perf_counter()
        found = events.transform(match(files.index)).observe(seen, F.count(F.lit(1)).alias("pairs"))
        found.write.format("noop").mode("overwrite").save()
        times.append(time.perf_counter() - start)
        pairs = seen.get["pairs"]
        say(f"Spark: {times[-1]:.1f} s")
    return times, pairs


def _by_library(files: Material, repeats: int) -> tuple[list[float], int]:
    """Match the same files with the same index in this process, on as many threads as Spark has tasks."""
    from tamis.shards.opening import open_shards

    index = open_shards(files.index)
    table = pq.read_table(files.events).drop_columns(["event_id"])
    index.match_many(table.slice(0, 2_000), threads=2)
    times, pairs = [], 0
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        pairs = sum(batch.table.num_rows for batch in index.match_batches(table, threads=2))
        times.append(time.perf_counter() - start)
        say(f"library: {times[-1]:.1f} s")
    return times, pairs


def against_a_join(spark: SparkSession, subscriptions: int, events: int) -> dict[str, Any]:
    """Do the same small work by a plan of Spark SQL that joins events to rules without an index."""
    from tamis.spark import build, match

    files = material(spark, WORKLOAD, subscriptions, events)
    remove(files.index)
    build(spark.read.parquet(files.subscriptions), files.index)
    log = spark.read.parquet(files.events)
    log.limit(100).transform(match(files.index)).count()
    start = time.perf_counter()
    ours = log.transform(match(files.index)).count()
    own = time.perf_counter() - start
    start = time.perf_counter()
    theirs = _joined(spark, files, log).count()
    join = time.perf_counter() - start
    if ours != theirs:
        raise RuntimeError(f"match finds {ours:,} pairs, the join {theirs:,}")
    return {
        "subscriptions": subscriptions,
        "events": events,
        "pairs": ours,
        "match_s": own,
        "join_s": join,
        "ratio": join / own,
    }


def _joined(spark: SparkSession, files: Material, log: DataFrame) -> DataFrame:
    """Return predicates joined to event values on the attribute, then counted: the plan without an index."""
    from pyspark.sql import functions as F

    values = log.select("event_id", F.explode("attributes").alias("attribute", "x"))
    rules = spark.read.parquet(files.subscriptions)
    sizes = rules.groupBy("id").agg(F.count("*").alias("size"))
    met = rules.join(values, "attribute").where(
        "(operator = '=' AND x = number[0]) OR (operator = '<=' AND x <= number[0])"
        " OR (operator = '>=' AND x >= number[0])"
        " OR (operator = 'between' AND x BETWEEN number[0] AND number[1])"
        " OR (operator = 'in' AND array_contains(number, x))"
    )
    found = met.groupBy("event_id", "id").agg(F.count("*").alias("met")).join(sizes, "id")
    return found.where("met = size")
