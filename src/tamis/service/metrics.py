"""Exports metrics for Prometheus: counters of this process, and figures of the index and the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tamis.errors import StoreError

if TYPE_CHECKING:
    from tamis.live.matcher import Step
    from tamis.service.service import Service

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_LONG = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0)


class Metrics:
    """The metrics of one service."""

    media = CONTENT_TYPE_LATEST

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self._requests = self._counter("tamis_http_requests", "Requests.", "method", "route", "status")
        self._seconds = self._histogram("tamis_http_request_seconds", "Response time.", _FAST, "route")
        self._events = self._counter("tamis_events", "Events received.", "outcome")
        self._batches = self._histogram("tamis_match_batch_seconds", "Time to match a batch.", _FAST)
        self._waited = self._histogram(
            "tamis_match_latency_seconds", "Time from accepting an event to its matches.", _LONG
        )
        self._common: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.registry.register(_Index(service))
        service.live.on_step(self._step)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is the path with its placeholders, so there are few labels."""
        key = method, route, status
        known = self._common.get(key)
        if known is None:  # looking up labels takes longer than counting
            known = self._requests.labels(method, route, str(status)), self._seconds.labels(route)
            self._common[key] = known
        known[0].inc()
        known[1].observe(seconds)

    def events(self, outcome: str, number: int) -> None:
        """Count events by outcome."""
        if number:
            self._events.labels(outcome).inc(number)

    def text(self) -> bytes:
        """Return the current metrics in the Prometheus format."""
        return generate_latest(self.registry)

    def _step(self, step: Step) -> None:
        self._batches.observe(step.seconds)
        self._waited.observe(max(0.0, step.waited))

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, registry=self.registry)

    def _histogram(self, name: str, about: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, about, labels, buckets=buckets, registry=self.registry)


class _Index(Collector):
    """Figures of the index and the store; those of the store are left out while it is unavailable."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def describe(self) -> list[Any]:
        """Return no metrics, so that registering does not read the store."""
        return []

    def collect(self) -> Iterator[Any]:
        """Yield the current figures."""
        live = self._service.live
        info = live.index.info()
        rates = live.rates
        yield CounterMetricFamily("tamis_events_matched", "Events matched.", rates.events)
        yield CounterMetricFamily("tamis_matches", "Matches found.", rates.matches)
        yield GaugeMetricFamily("tamis_subscriptions", "Subscriptions in force.", info["subscriptions"])
        yield GaugeMetricFamily("tamis_segments", "Segments of the index.", len(info["segments"]))
        yield GaugeMetricFamily("tamis_fresh_subscriptions", "Subscriptions outside segments.", info["fresh"])
        yield GaugeMetricFamily("tamis_index_bytes", "Size of the index.", info["bytes"])
        yield GaugeMetricFamily("tamis_streams", "Open streams.", self._service.open_streams.count())
        try:
            lag = live.lag()
        except StoreError:
            return
        yield GaugeMetricFamily("tamis_lag_events", "Events waiting for the matcher.", lag)
