"""The notifier's figures for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from tamis.store.deliveries import Lag
from tamis.store.dispatch import DispatchResult

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0)


class NotifyMetrics:
    """Counters and gauges of one notifier, in a registry of its own unless one is given."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = CollectorRegistry() if registry is None else registry
        self._rows = self._counter("rows", "Rows of the outbox that were looked at")
        self._ordered = self._counter("ordered", "Deliveries that were ordered")
        self._digests = self._counter("digests", "Digests that were made")
        self._dropped = self._counter("dropped", "Rows of the outbox whose subscription is gone")
        self._attempts = self._counter(
            "attempts", "Attempts to send, by how they ended", "transport", "result"
        )
        self._returned = self._counter("returned", "Claims that were given back without an attempt")
        self._freed = self._counter("freed", "Claims of a notifier that did not come back")
        self._seconds = Histogram(
            "tamis_notify_send_seconds",
            "Length of an attempt",
            ["transport"],
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._sending = self._gauge("sending", "Deliveries that are claimed here")
        self._open = self._gauge("open_breakers", "Endpoints that are left alone")
        self._behind = self._gauge("behind_rows", "Rows of the outbox that were not looked at")
        self._waiting = self._gauge("waiting_deliveries", "Deliveries that are due")
        self._late = self._gauge("late_seconds", "How long the first of them has been due")
        self._dead = self._gauge("dead_letters", "Deliveries that were given up")

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"tamis_notify_{name}", about, labels, registry=self.registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f"tamis_notify_{name}", about, registry=self.registry)

    def dispatched(self, done: DispatchResult) -> None:
        """A transaction of the dispatcher."""
        self._rows.inc(done.read)
        self._ordered.inc(done.deliveries)
        self._digests.inc(done.digests)
        self._dropped.inc(done.dropped)

    def attempted(self, transport: str, result: str, seconds: float) -> None:
        """An attempt that ended."""
        self._attempts.labels(transport, result).inc()
        self._seconds.labels(transport).observe(seconds)

    def returned(self) -> None:
        """A claim that was not used."""
        self._returned.inc()

    def freed(self, number: int) -> None:
        """Claims that had expired."""
        self._freed.inc(number)

    def state(self, sending: int, open_breakers: int) -> None:
        """What goes on here."""
        self._sending.set(sending)
        self._open.set(open_breakers)

    def lag(self, lag: Lag) -> None:
        """What the store says about all notifiers together."""
        self._behind.set(lag.rows)
        self._waiting.set(lag.waiting)
        self._late.set(lag.seconds)
        self._dead.set(lag.dead)
