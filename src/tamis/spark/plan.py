"""Plans: how events and shards are brought together.

*Replicated*: every worker maps all shards, and the events are split among them: each event is read once.
*Sharded*: every worker maps some shards, and the events go to all of them (the matcher cluster of the Yandex
paper): the index may be larger than any machine.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from pyspark.sql import SparkSession

from tamis.errors import InputError
from tamis.shards.manifest import Manifest

PLANS = ("auto", "replicated", "sharded")
HALF = 0.5  # the other half of the memory is for the workers themselves and the rest of the page cache
_PYSPARK, _OVERHEAD = "spark.executor.pyspark.memory", "spark.executor.memoryOverhead"
_UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True)
class Plan:
    """The chosen plan, and the reason."""

    name: str
    why: str
    splits: int = 1  # parts into which the events of each shard are split

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def choose(spark: SparkSession, manifest: Manifest, requested: str = "auto") -> Plan:
    """Return the requested plan, or the one that the size of the index allows."""
    if requested not in PLANS:
        raise InputError(f"there is no plan {requested!r}; there are {', '.join(PLANS)}")
    splits = max(1, -(-parallelism(spark) // max(1, len(manifest.shards))))
    if requested != "auto":
        return Plan(requested, "asked for", splits)
    room, where = _memory(spark)
    size = (
        f"the index takes {_readable(manifest.bytes)} of page cache, {where} has {_readable(room)} of memory"
    )
    if manifest.bytes <= HALF * room:
        return Plan("replicated", f"{size}: every worker maps all of it, the events are split", splits)
    if len(manifest.shards) == 1:
        return Plan("replicated", f"{size}, but it has one shard only; build it with more", splits)
    return Plan("sharded", f"{size}: events go to all of its {len(manifest.shards)} shards", splits)


def parallelism(spark: SparkSession) -> int:
    """Return how many tasks run at once, as far as the configuration shows it."""
    if given := spark.conf.get("spark.default.parallelism", None):
        return int(given)
    local = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", spark.conf.get("spark.master", None) or "")
    if local:
        count = local.group(1) or "1"
        return os.cpu_count() or 1 if count == "*" else int(count)
    cores = int(spark.conf.get("spark.executor.cores", None) or 1)
    return cores * int(spark.conf.get("spark.executor.instances", None) or 2)


def _memory(spark: SparkSession) -> tuple[int, str]:
    """Return the memory available for a mapped index, and a description of its host.

    Workers map the index: it is in the page cache of their host, once for all of them, outside Java's heap
    (``spark.executor.memory``). A setting may limit it: ``spark.executor.pyspark.memory`` limits the memory
    of an executor's workers, an equal part each; ``spark.executor.memoryOverhead`` is the memory of its
    container beside the heap.
    """
    host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if given := spark.conf.get(_PYSPARK, None):
        cores = max(1, int(spark.conf.get("spark.executor.cores", None) or 1))
        return _bytes(given) // cores, f"a Python worker by {_PYSPARK}"
    if (spark.conf.get("spark.master", None) or "local").startswith("local"):
        return host, "this machine"
    if given := spark.conf.get(_OVERHEAD, None):
        return _bytes(given), f"an executor outside Java's heap by {_OVERHEAD}"
    return host, f"a host such as this one ({_OVERHEAD} would say what an executor has)"


def _bytes(text: str) -> int:
    """Return the bytes of a size in Spark's notation for an executor: a number without a unit is in MiB."""
    found = re.fullmatch(r"([0-9]+)\s*([bkmgt]?)b?", text.strip().lower())
    if found is None:
        raise InputError(f"Spark's configuration names a size of memory as {text!r}; write 512m or 4g")
    return int(found[1]) * _UNITS[found[2] or "m"]


def _readable(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"
