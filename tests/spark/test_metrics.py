"""Progress of real streams as metrics and as log lines."""

from __future__ import annotations

import json
import threading
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tamis.errors import InputError
from tamis.spark import progress
from tamis.spark.metrics import StreamMetrics
from tamis.spark.progress import Batch, batch_of, line_of, live_line, report
from tests.waiting import eventually

BATCH = Batch("q", "r", 7, 2000, 1900.0, 9500.4, 0.21, {"addBatch": 0.15, "walCommit": 0.02}, {}, None, None)


def test_line_lists_only_the_counted_values() -> None:
    assert line_of(BATCH) == "batch 7 · 2,000 events (9,500/s) · 0.21 s (addBatch 0.15, walCommit 0.02)"
    numbers = {"index_version": 12.0, "matches": 3100.0, "rows": 3000.0, "refused": 2.0, "located": 9.0}
    full = BATCH._replace(numbers=numbers, behind=40.0, late=1.26, phases={})
    assert line_of(full) == (
        "batch 7 · 2,000 events (9,500/s) · 3,100 matches · 3,000 new rows · 2 refused · index 12"
        " · 40 waiting · 1.3 s late · 0.21 s"
    )


def test_unread_reports_are_bounded() -> None:
    for number in range(1000):
        report("nobody", number, matches=1)
    assert len(progress._reports) <= progress._KEPT
    assert progress._reported("nobody", 999) == {"matches": 1}
    assert progress._reported("nobody", 0) == {}


def test_port_in_use_is_named() -> None:
    with StreamMetrics().serve(0) as port:
        second = StreamMetrics().serve(port)
        with pytest.raises(InputError, match=f"127.0.0.1:{port}"):
            second.__enter__()


class Streams:
    """The streams of a session with one query. If it has ended, Spark reports that late."""

    def __init__(self, ended: bool) -> None:
        self.listener: Any = None
        self.running_at_removal: float | None = None
        self._ended, self._asked = ended, 0

    @property
    def streams(self) -> Streams:
        return self

    @property
    def active(self) -> list[Any]:
        self._asked += 1
        if self._ended and self._asked == 2:
            end = SimpleNamespace(runId="run", exception=None)
            threading.Thread(target=self.listener.onQueryTerminated, args=(end,)).start()
        return [] if self._ended else [SimpleNamespace(runId="run")]

    def addListener(self, listener: Any) -> None:
        self.listener = listener
        listener.onQueryStarted(SimpleNamespace(runId="run", name="q"))

    def removeListener(self, listener: Any) -> None:
        self.running_at_removal = sample(listener._metrics, "running", query="q")


@pytest.mark.parametrize(("ended", "running"), [(True, 0), (False, 1)])
def test_listener_is_removed_after_the_end_of_ended_queries(ended: bool, running: int) -> None:
    spark = Streams(ended)
    with StreamMetrics().watch(spark):
        pass
    assert spark.running_at_removal == running


def files(folder: Path, count: int) -> Path:
    """Write one file for each batch, each with three events."""
    for number in range(count):
        lines = [json.dumps({"price": price, "at": "2026-01-01T00:00:00Z"}) for price in (number, 2, 5)]
        (folder / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")
    return folder


def stream(spark: Any, folder: Path) -> Any:
    return (
        spark.readStream.schema("price int, at timestamp").option("maxFilesPerTrigger", 1).json(str(folder))
    )


def sample(metrics: StreamMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"tamis_stream_{name}", {"query": "watched", **labels})


@pytest.mark.spark
def test_stream_progress_becomes_metrics(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    lines: list[Batch] = []
    metrics = StreamMetrics(lines.append)
    events = stream(spark, files(tmp_path, 2)).withWatermark("at", "1 second")
    events = events.observe("work", F.sum("price").alias("matches"), F.lit(3).alias("index_version"))

    def sink(frame: Any, batch_id: int) -> None:
        report("watched", batch_id, rows=frame.count(), candidates=10)

    with metrics.watch(spark), metrics.serve(0) as port:
        writer = events.writeStream.queryName("watched").trigger(availableNow=True).foreachBatch(sink)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        query.awaitTermination()
        settle(metrics)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
            text = page.read().decode()
    assert [(batch.number, batch.events) for batch in lines[:2]] == [(0, 3), (1, 3)]
    assert 'tamis_stream_events_total{query="watched"} 6.0' in text
    assert sample(metrics, "matches_total") == 15.0
    assert sample(metrics, "rows_total") == 6.0
    assert sample(metrics, "work_total", kind="candidates") == 10.0 * len(lines)
    assert sample(metrics, "index_version") == 3.0
    assert sample(metrics, "running") == 0.0
    assert sample(metrics, "failures_total") is None
    assert sample(metrics, "batch_seconds_count") == len(lines) == sample(metrics, "batches_total")
    phase = sample(metrics, "phase_seconds_total", phase="addBatch")
    assert phase is not None
    assert phase > 0
    assert live_line(query.lastProgress).startswith(f"batch {lines[-1].number} · ")
    assert batch_of(query.lastProgress).late is None or batch_of(query.lastProgress).late > 86400
    metrics.poll(query)
    assert sample(metrics, "batches_total") == len(lines), "a batch that comes again is not counted again"


@pytest.mark.spark
def test_failed_stream_is_counted(spark: Any, tmp_path: Path) -> None:
    metrics = StreamMetrics()

    def sink(frame: Any, batch_id: int) -> None:
        if batch_id:
            raise ValueError("the sink is down")

    with metrics.watch(spark):
        writer = stream(spark, files(tmp_path, 2)).writeStream.queryName("watched").foreachBatch(sink)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        with pytest.raises(Exception, match="the sink is down"):
            query.awaitTermination()
        settle(metrics)
    assert sample(metrics, "failures_total") == 1.0
    assert sample(metrics, "running") == 0.0


def settle(metrics: StreamMetrics) -> None:
    """Wait until the listener, which is called later, has seen the end."""
    eventually(lambda: sample(metrics, "running") == 0.0)
