"""Hold a stream for minutes: measure the delay from an event's arrival to the outbox, and memory."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.report import say
from bench.spark.material import FOLDER, Material, material
from bench.spark.processes import Memory
from bench.spark.source import start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = "market"
SCHEMA = "event_id string, event_time timestamp, attributes string"
SETTLE = 20.0  # seconds before measurements count: Java compiles, workers start


def stream(
    spark: SparkSession, subscriptions: int, rate: float, seconds: float, churn: float = 0.0
) -> dict[str, Any]:
    """Match ``rate`` events a second for this time, while ``churn`` subscriptions change a second."""
    files = material(spark, WORKLOAD, subscriptions, 100_000, as_text=True)
    place = FOLDER / "stream"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    store, index = _prepare(spark, files, place, subscriptions)
    memory = Memory()
    query = _start(spark, place, index, store.url)
    feeder = start(files.events, place / "events", rate, seconds)
    try:
        with memory:
            _watch(query, feeder, store, seconds, churn)
        query.processAllAvailable()
    finally:
        feeder.kill()
        query.stop()
    outcome = _latencies(store)
    return outcome | {"subscriptions": subscriptions, "rate": rate, "churn": churn, "memory": memory.line}


def _prepare(spark: SparkSession, files: Material, place: Path, subscriptions: int) -> tuple[Any, str]:
    from tamis.spark import build
    from tamis.store import Store

    store = Store.open(f"sqlite:///{place}/store.db")
    index = str(place / "index")
    say(f"building {subscriptions:,} subscriptions …")
    build(spark.read.parquet(files.subscriptions), index)
    return store, index


def _start(spark: SparkSession, place: Path, index: str, url: str) -> Any:
    from tamis.spark import match_stream

    (place / "events").mkdir()
    events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1_000).json(str(place / "events"))
    return match_stream(
        events, index, store=url, checkpoint=str(place / "checkpoint"), name="bench", carry=("event_time",)
    )


def _watch(query: Any, feeder: subprocess.Popen[bytes], store: Any, seconds: float, churn: float) -> None:
    """Wait until all events are sent; subscriptions come and go meanwhile."""
    from tqdm import tqdm

    began, changed = time.monotonic(), 0
    with tqdm(total=round(seconds), desc="streaming", unit=" s") as bar:
        while feeder.poll() is None:
            if (bad := query.exception()) is not None:
                raise bad
            spent = time.monotonic() - began
            while changed < churn * spent:
                store.put(f"changed-{changed % 1_000}", f"price < {changed % 500} AND category = 'cars'")
                changed += 1
            bar.update(min(round(spent), bar.total) - bar.n)
            time.sleep(0.2)


def _latencies(store: Any) -> dict[str, Any]:
    """Return the delays from arrival to the outbox.

    A file of events has one time, and so has a batch, so there are few different pairs.
    """
    import sqlalchemy as sa

    with store.database.reading() as connection:
        pairs = "SELECT event_time, created_at, count(*) FROM outbox GROUP BY event_time, created_at"
        sent, written, rows = np.array(connection.execute(sa.text(pairs)).fetchall()).T
    waited, since = (written - sent) / 1e6, (sent - sent.min()) / 1e6
    steady = since > SETTLE
    cuts = {f"p{cut}_s": _percentile(waited[steady], rows[steady], cut) for cut in (50, 90, 99)}
    bins = (since // 10).astype(int)
    line = [
        (int(at) * 10, *(_percentile(waited[bins == at], rows[bins == at], cut) for cut in (50, 99)))
        for at in np.unique(bins)
    ]
    return {**cuts, "seconds": float(since.max()), "rows": int(rows.sum()), "latency": line}


def _percentile(values: Any, weights: Any, cut: float) -> float:
    """Return a percentile of values that stand for several rows each."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) >= weights.sum() * cut / 100
    return float(values[order][np.argmax(reached)])
