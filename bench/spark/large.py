"""Measure large books: build time, memory, and that two workers share one copy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from bench.report import say
from bench.spark.material import material, remove
from bench.spark.processes import Memory, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = "w4-dense"


def large(spark: SparkSession, subscriptions: int, events: int) -> dict[str, Any]:
    """Build a book of this many, open it, and match some events; return times and memory."""
    from tamis.spark import build, match

    files = material(spark, WORKLOAD, subscriptions, events)
    remove(files.index)
    say(f"building {subscriptions:,} subscriptions …")
    memory = Memory()
    with memory:
        made = build(spark.read.parquet(files.subscriptions), files.index)
        start = time.perf_counter()
        log = spark.read.parquet(files.events).repartition(2)  # so that two workers map the index
        pairs = log.transform(match(files.index, plan="replicated")).count()
        matched = time.perf_counter() - start
    return {
        "workload": WORKLOAD,
        "subscriptions": made.subscriptions,
        "shards": len(made.manifest.shards),
        "build_s": made.seconds,
        "bytes_per_subscription": made.manifest.bytes / made.subscriptions,
        "index_bytes": made.manifest.bytes,
        "events": events,
        "pairs": pairs,
        "match_s": matched,
        "peak_bytes": max(java + python for _, java, python in memory.line),
        "shared": _shared(files.index),
    }


def _shared(index: str) -> dict[str, Any]:
    """Return the index pages of two live workers; a page that both have mapped counts half for each."""
    import os

    held = []
    for process in tree(os.getpid()):
        maps = _mapped(process, index)
        if maps["Rss"]:
            held.append(maps)
    return {
        "workers": len(held),
        "resident_bytes": [worker["Rss"] for worker in held],
        "proportional_bytes": [worker["Pss"] for worker in held],
        "private_bytes": [worker["Private_Clean"] + worker["Private_Dirty"] for worker in held],
    }


def _mapped(process: int, index: str) -> dict[str, int]:
    """Return resident, proportional and private bytes of one process for the files of the index."""
    sums = dict.fromkeys(("Rss", "Pss", "Private_Clean", "Private_Dirty"), 0)
    try:
        with open(f"/proc/{process}/smaps") as file:
            ours = False
            for line in file:
                head = line.split(None, 1)[0]
                if not head.endswith(":"):
                    ours = index in line
                elif ours and head[:-1] in sums:
                    sums[head[:-1]] += int(line.split()[1]) * 1024
    except OSError:
        pass
    return sums
