"""Run on the cluster of ``test_cluster``: one index, both plans, and a worker that dies in mid-job.

Print a line of JSON: the pairs that each run found, and where its tasks ran.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from tamis.spark import build, events, match, session, subscriptions

SPREAD = 8  # partitions of the job in which a worker dies


def main(book: str, log: str, folder: str, worker: str) -> None:
    spark = session(name="tamis-test")
    built = build(subscriptions(book, spark=spark).rows, f"{folder}/index", shards=3)
    frame = events(spark.read.parquet(log))
    plans = ("replicated", "sharded")
    found = {plan: pairs(frame.transform(match(built.path, plan=plan))) for plan in plans}
    found["killed"] = with_a_death(frame, built.path, Path(folder) / "begun", int(worker))
    where = spark.range(2, numPartitions=2).mapInArrow(prefixes, "prefix string").distinct().collect()
    print(json.dumps({"pairs": found, "python": [row["prefix"] for row in where], "refused": built.refused}))
    spark.stop()


def pairs(frame: Any) -> list[list[str]]:
    return sorted([row["event_id"], row["subscription_id"]] for row in frame.collect())


def with_a_death(frame: Any, index: str, begun: Path, worker: int) -> list[list[str]]:
    """Match and kill a worker with its executor while tasks run; return the pairs that the others find."""
    killed = begun.with_name("killed")

    def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begun.touch()
        wait_for(killed)
        yield from batches

    def kill() -> None:
        wait_for(begun)
        os.killpg(worker, signal.SIGKILL)
        killed.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    slow = frame.repartition(SPREAD).mapInArrow(slowly, frame.schema)
    found = pairs(slow.transform(match(index, plan="replicated")))
    killer.join()
    return found


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.02)


def prefixes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"prefix": [sys.prefix] * batch.num_rows})


if __name__ == "__main__":
    main(*sys.argv[1:])
