"""Run every stage over Spark Connect in the process of ``test_connect``; print JSON."""

from __future__ import annotations

import faulthandler
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException

import tamis.spark
from tamis.spark.metrics import StreamMetrics
from tamis.store import Store
from tests.waiting import PATIENCE, eventually

ATTEMPTS = 40  # each takes ten seconds if the machine is too busy for it


def main(folder: Path) -> None:
    spark = tamis.spark.session()
    url = f"sqlite:///{folder / 'store.db'}"
    with Store.open(url) as store:
        store.put("phone", "model = 'iphone5s' AND price <= 580")
        store.put("cheap", "price < 100")
    book = tamis.spark.subscriptions(url, spark=spark).rows
    built = tamis.spark.build(book, str(folder / "index"), shards=2)
    rows = [("a", "iphone5s", 550.0), ("b", "x", 20.0), ("c", "x", float("nan"))]
    events = tamis.spark.events(spark.createDataFrame(rows, "event_id string, model string, price double"))
    found = {
        plan: pairs(events.transform(tamis.spark.match(built.path, plan=plan)))
        for plan in ("replicated", "sharded")
    }
    refused = [row["event_id"] for row in events.transform(tamis.spark.refused_events()).collect()]
    profiled = tamis.spark.profile(events, str(folder / "profile")).events
    events.write.parquet(str(folder / "events"))
    streamed, counted = stream(spark, folder, built.path, url)
    kind = type(spark).__module__
    print(
        json.dumps(
            {
                "kind": kind,
                "found": found,
                "refused": refused,
                "profiled": profiled,
                "streamed": streamed,
                "counted": counted,
            }
        )
    )
    spark.stop()


def pairs(frame: Any) -> list[list[str]]:
    return sorted([row["event_id"], row["subscription_id"]] for row in frame.collect())


def stream(spark: Any, folder: Path, index: str, url: str) -> tuple[list[list[str]], float | None]:
    """Return the new outbox rows and the number of events that the client's metrics counted."""
    metrics = StreamMetrics()
    schema = spark.read.parquet(str(folder / "events")).schema
    arriving = spark.readStream.schema(schema).parquet(str(folder / "events"))
    options = {
        "checkpoint": str(folder / "checkpoint"),
        "name": "connected",
        "trigger": {"availableNow": True},
    }
    with metrics.watch(spark):
        attempts = (
            started(lambda: tamis.spark.match_stream(arriving, index, store=url, **options))
            for _ in range(ATTEMPTS)
        )
        assert any(attempts), "the worker of the stream never came in time"
        total = "tamis_stream_events_total", {"query": "connected"}
        seen = eventually(lambda: metrics.registry.get_sample_value(*total))  # the listener is called later
    outbox = spark.read.format("tamis").option("store", url).option("table", "outbox").load()
    return pairs(outbox), seen


def started(start: Callable[[], Any]) -> bool:
    """Run a stream to its end; return whether its worker came in time.

    Spark waits ten seconds for the Python process that runs a stream over Connect, and no setting changes
    that. A busy machine may need longer for the imports, so the job tries again.
    """
    try:
        start().awaitTermination()
    except PySparkException as late:
        if "failed to connect back" not in str(late):
            raise
        return False
    return True


if __name__ == "__main__":
    faulthandler.dump_traceback_later(9 * PATIENCE, exit=True)  # shows where a job hangs
    main(Path(sys.argv[1]))
