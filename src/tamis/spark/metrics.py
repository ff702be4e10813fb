"""Turns the progress of streaming queries into a live line and metrics for Prometheus."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from pyspark.sql.streaming.listener import StreamingQueryListener

from tamis.errors import InputError
from tamis.spark.progress import COUNTS, WORK, Batch, batch_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BUCKETS = (0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_HELP = {
    "matches": "Pairs of event and subscription",
    "rows": "New rows in the outbox",
    "refused": "Refused events",
}
REMOVE_SECONDS = 10.0  # seconds to wait for the last events of a listener, and for its removal
ASK_SECONDS = 0.1  # between two questions which queries are active
_log = logging.getLogger(__name__)


class StreamMetrics:
    """The metrics of all queries of a session, in their own registry.

    :meth:`watch` collects them, :meth:`serve` publishes them; ``on_batch`` is called with every batch.
    """

    def __init__(self, on_batch: Callable[[Batch], None] | None = None) -> None:
        self.registry = CollectorRegistry()
        self._on_batch = on_batch
        self._seen: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()
        self._ended = threading.Condition()
        counter, gauge = self._maker(Counter), self._maker(Gauge)
        self._batches = counter("batches", "Micro-batches done")
        self._events = counter("events", "Events read")
        self._counts = {name: counter(name, _HELP[name]) for name in COUNTS}
        self._work = counter("work", "Work done by the index", "kind")
        self._phases = counter("phase_seconds", "Time by phase of a micro-batch", "phase")
        self._failures = counter("failures", "Queries that ended with an error")
        self._seconds = self._maker(Histogram, buckets=_BUCKETS)("batch_seconds", "Duration of a micro-batch")
        self._gauges = {
            "arriving": gauge("arriving_events_per_second", "Events arriving"),
            "matched": gauge("matched_events_per_second", "Events matched"),
            "behind": gauge("waiting_events", "Events waiting in the source"),
            "late": gauge("late_seconds", "Age of the newest event when it was matched"),
        }
        self._version = gauge("index_version", "Version of the index")
        self._running = gauge("running", "1 while the query runs")

    def _maker(self, kind: Any, **settings: Any) -> Callable[..., Any]:
        def make(name: str, about: str, *labels: str) -> Any:
            return kind(f"tamis_stream_{name}", about, ["query", *labels], registry=self.registry, **settings)

        return make

    # -- collecting -----------------------------------------------------------------------------------

    def started(self, run: str, query: str) -> None:
        """Note that a query has started."""
        self._names[run] = query
        self._running.labels(query).set(1)

    def add(self, progress: Any) -> None:
        """Count a batch; ignore one that was already counted."""
        batch = batch_of(progress)
        with self._lock:
            if self._seen.get(batch.run, -1) >= batch.number:
                return
            self._seen[batch.run] = batch.number
            self._count(batch)
        if self._on_batch:
            self._on_batch(batch)

    def _count(self, batch: Batch) -> None:
        self._batches.labels(batch.query).inc()
        self._events.labels(batch.query).inc(batch.events)
        self._seconds.labels(batch.query).observe(batch.seconds)
        for phase, spent in batch.phases.items():
            self._phases.labels(batch.query, phase).inc(spent)
        for name, number in batch.numbers.items():
            if name in self._counts:
                self._counts[name].labels(batch.query).inc(number)
            elif name in WORK:
                self._work.labels(batch.query, name).inc(number)
        for name, gauge in self._gauges.items():
            if (value := getattr(batch, name)) is not None:
                gauge.labels(batch.query).set(value)
        if (version := batch.numbers.get("index_version")) is not None:
            self._version.labels(batch.query).set(version)

    def ended(self, run: str, failed: bool) -> None:
        """Note that a query has ended."""
        name = self._names.pop(run, run)
        self._running.labels(name).set(0)
        if failed:
            self._failures.labels(name).inc()
        with self._ended:
            self._ended.notify_all()

    @contextlib.contextmanager
    def watch(self, spark: SparkSession) -> Iterator[None]:
        """Count the batches of all queries of ``spark`` until the block ends."""
        listener = _Listener(self)
        spark.streams.addListener(listener)
        try:
            yield
        finally:
            self._await_ends(spark)
            _remove_listener(spark, listener)

    def _await_ends(self, spark: SparkSession) -> None:
        """Wait until Spark has reported the end of each query that has ended.

        Over Connect, PySpark holds a lock while it removes a listener, and waits for the thread that delivers
        events. That thread needs the same lock for an event that is still to come: neither ever ends.
        """

        def all_reported() -> bool:
            active = {str(query.runId) for query in spark.streams.active}
            return set(self._names) <= active

        with self._ended, contextlib.suppress(Exception):  # a session that is gone reports nothing
            until = time.monotonic() + REMOVE_SECONDS
            while not all_reported() and time.monotonic() < until:
                self._ended.wait(ASK_SECONDS)

    def poll(self, query: Any) -> None:
        """Count the recent batches of ``query``, without a listener or ahead of it."""
        for progress in query.recentProgress:
            if "addBatch" in progress.durationMs:  # otherwise there was no input
                self.add(progress)

    # -- publishing -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def serve(self, port: int, address: str = "127.0.0.1") -> Iterator[int]:
        """Serve Prometheus at ``http://address:port/metrics``; yield the port; port 0 chooses a free one."""
        try:
            server, thread = start_http_server(port, address, self.registry)
        except OSError as refused:
            raise InputError(
                f"metrics cannot be served at {address}:{port}: {refused.strerror or refused}"
            ) from None
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _remove_listener(spark: SparkSession, listener: StreamingQueryListener) -> None:
    """Remove a listener without waiting for ever: over Connect, PySpark sometimes does."""
    leaving = threading.Thread(target=spark.streams.removeListener, args=(listener,), daemon=True)
    leaving.start()
    leaving.join(REMOVE_SECONDS)
    if leaving.is_alive():
        _log.warning("Spark does not remove its listener; it continues in the background")


class _Listener(StreamingQueryListener):
    """Passes on progress; an error here must not reach the query."""

    def __init__(self, metrics: StreamMetrics) -> None:
        self._metrics = metrics

    def onQueryStarted(self, event: Any) -> None:
        """Note that a query has started."""
        self._metrics.started(str(event.runId), event.name or str(event.id))

    def onQueryProgress(self, event: Any) -> None:
        """Count a finished micro-batch."""
        try:
            self._metrics.add(event.progress)
        except Exception:
            _log.exception("a micro-batch could not be counted")

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing: there was no input."""

    def onQueryTerminated(self, event: Any) -> None:
        """Note that a query was stopped or has failed."""
        self._metrics.ended(str(event.runId), event.exception is not None)
