"""The notifier's metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from tamis.store.deliveries import Lag
from tamis.store.dispatch import DispatchResult

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0)


class NotifyMetrics:
    """Counters and gauges of one notifier, in a registry of its own unless one is given."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = CollectorRegistry() if registry is None else registry
        self._rows = self._counter("rows", "Outbox rows dispatched")
        self._ordered = self._counter("ordered", "Deliveries created")
        self._digests = self._counter("digests", "Digests created")
        self._dropped = self._counter("dropped", "Outbox rows whose subscription is gone")
        self._attempts = self._counter("attempts", "Attempts to send, by result", "transport", "result")
        self._returned = self._counter("returned", "Claims returned without an attempt")
        self._freed = self._counter("freed", "Expired claims released")
        self._seconds = Histogram(
            "tamis_notify_send_seconds",
            "Duration of an attempt",
            ["transport"],
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._sending = self._gauge("sending", "Deliveries claimed by this notifier")
        self._open = self._gauge("open_breakers", "Endpoints with an open breaker")
        self._behind = self._gauge("behind_rows", "Outbox rows not yet dispatched")
        self._waiting = self._gauge("waiting_deliveries", "Deliveries due")
        self._late = self._gauge("late_seconds", "Seconds since the first of them was due")
        self._dead = self._gauge("dead_letters", "Deliveries given up")

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"tamis_notify_{name}", about, labels, registry=self.registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f"tamis_notify_{name}", about, registry=self.registry)

    def dispatched(self, done: DispatchResult) -> None:
        """Count the results of a dispatch transaction."""
        self._rows.inc(done.read)
        self._ordered.inc(done.deliveries)
        self._digests.inc(done.digests)
        self._dropped.inc(done.dropped)

    def attempted(self, transport: str, result: str, seconds: float) -> None:
        """Count a finished attempt."""
        self._attempts.labels(transport, result).inc()
        self._seconds.labels(transport).observe(seconds)

    def returned(self) -> None:
        """Count a claim that was returned unused."""
        self._returned.inc()

    def freed(self, number: int) -> None:
        """Count released claims."""
        self._freed.inc(number)

    def state(self, sending: int, open_breakers: int) -> None:
        """Set the number of claims and open breakers."""
        self._sending.set(sending)
        self._open.set(open_breakers)

    def lag(self, lag: Lag) -> None:
        """Set the backlog of all notifiers together."""
        self._behind.set(lag.rows)
        self._waiting.set(lag.waiting)
        self._late.set(lag.seconds)
        self._dead.set(lag.dead)
