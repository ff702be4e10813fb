"""Measure the time from publishing an event until its match arrives at a listening client."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import NamedTuple

from tamis import Client

INTERVAL = 0.25  # seconds between two probes
ATTRIBUTE = "probe_number"


class Waited(NamedTuple):
    """The moment at which a match arrived, and the seconds since its event was published."""

    arrived: float
    seconds: float


class Probe:
    """Numbered events of an owner with one subscription, and their way through the service."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sent: dict[int, float] = {}
        self._waited: list[Waited] = []
        self._stopped = threading.Event()

    def between(self, start: float, end: float) -> list[float]:
        """Return the latencies in seconds of the matches that arrived in this time, sorted."""
        return sorted(found.seconds for found in self._waited if start <= found.arrived < end)

    def wait_for_first(self, seconds: float) -> None:
        """Wait until a match has arrived: a service that has just started compiles its kernels first."""
        deadline = time.monotonic() + seconds
        while not self._waited and time.monotonic() < deadline:
            time.sleep(INTERVAL)

    @contextmanager
    def running(self) -> Iterator[Probe]:
        """Send and listen in two threads until the end of the block."""
        self._client.put("probe", f"{ATTRIBUTE} >= 0")
        threads = [threading.Thread(target=act, daemon=True) for act in (self._listen, self._send)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join(10)

    def _send(self) -> None:
        number = 0
        while not self._stopped.wait(INTERVAL):
            self._publish(number)
            number += 1
        self._publish(number)  # wakes the listener, which then ends

    def _publish(self, number: int) -> None:
        self._sent[number] = time.monotonic()
        self._client.publish({ATTRIBUTE: number})

    def _listen(self) -> None:
        with self._client.stream() as matches:
            for match in matches:
                now = time.monotonic()
                assert match.event is not None  # no schedule, so no digest
                number = match.event.attributes[ATTRIBUTE]
                self._waited.append(Waited(now, now - self._sent[number]))
                if self._stopped.is_set():
                    return


def milliseconds(latencies: list[float]) -> dict[str, float]:
    """Return the median and the greatest of some latencies, or nothing if there are none."""
    if not latencies:
        return {}
    return {"latency_ms": 1e3 * median(latencies), "slowest_ms": 1e3 * latencies[-1]}
