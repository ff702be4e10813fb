"""A circuit breaker for each endpoint: who does not answer is left alone for a while, then asked once.

::

    closed ──failures in a row──▶ open ──time──▶ half open ──success──▶ closed
                                    ▲                │
                                    └────failure─────┘  for twice as long

Between closed and open lies *doubt*: an endpoint that failed last, or was slow, gets one sender, not several.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tamis.errors import InputError


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """When a breaker opens, and for how long."""

    failures: int = 5  # in a row
    open_seconds: float = 30.0  # the first time; it doubles with each failed probe
    longest: float = 600.0
    slow_seconds: float = 2.0  # an answer that took longer casts doubt
    endpoints: int = 100_000  # that are remembered

    def __post_init__(self) -> None:
        if not (self.failures >= 1 and 0 < self.open_seconds <= self.longest and self.endpoints >= 1):
            raise InputError(
                f"a breaker has failures >= 1, 0 < open_seconds <= longest and endpoints >= 1, unlike {self}"
            )


class State(StrEnum):
    """What a breaker says about its endpoint."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class _Circuit:
    __slots__ = ("failures", "opened", "until")

    def __init__(self) -> None:
        self.failures = 0
        self.opened = 0  # times in a row
        self.until = 0.0


class Breakers:
    """The breakers of one process; safe to use from many threads."""

    def __init__(self, rules: BreakerRules, clock: Callable[[], float]) -> None:
        self._rules = rules
        self._clock = clock
        self._circuits: OrderedDict[str, _Circuit] = OrderedDict()  # only those that are not simply well
        self._lock = threading.Lock()

    def state(self, endpoint: str) -> State:
        """Return whether the endpoint may be tried."""
        with self._lock:
            circuit = self._circuits.get(endpoint)
            if circuit is None or not circuit.opened:
                return State.CLOSED
            left = circuit.until - self._clock()
            # More than the longest time is left only where the clock was set back.
            return State.OPEN if 0 < left <= self._rules.longest else State.HALF_OPEN

    def is_doubtful(self, endpoint: str) -> bool:
        """Return whether one attempt at a time is enough: it failed or dawdled last, or is being probed."""
        with self._lock:
            return endpoint in self._circuits

    def reopens(self, endpoint: str) -> float:
        """Return the clock's time at which an open endpoint is probed."""
        with self._lock:
            circuit = self._circuits.get(endpoint)
            return circuit.until if circuit else 0.0

    def succeeded(self, endpoint: str, seconds: float = 0.0) -> None:
        """The endpoint took it, or at least answered."""
        with self._lock:
            self._circuits.pop(endpoint, None)
            if seconds > self._rules.slow_seconds:
                self._circuit(endpoint)  # to be known is to be doubtful

    def failed(self, endpoint: str) -> bool:
        """Return the endpoint did not answer, or not as it should; whether its breaker is open now."""
        with self._lock:
            circuit = self._circuit(endpoint)
            circuit.failures += 1
            if circuit.opened or circuit.failures >= self._rules.failures:
                self._open(circuit)
            return bool(circuit.opened)

    def count_open(self) -> int:
        """Return how many endpoints are left alone, or on probation."""
        with self._lock:
            return sum(1 for circuit in self._circuits.values() if circuit.opened)

    def _open(self, circuit: _Circuit) -> None:
        if circuit.opened and self._clock() < circuit.until:
            return  # a straggler: it was sent before the breaker opened
        length = self._rules.open_seconds * 2 ** min(circuit.opened, 32)
        circuit.opened += 1
        circuit.until = self._clock() + min(length, self._rules.longest)

    def _circuit(self, endpoint: str) -> _Circuit:
        circuit = self._circuits.setdefault(endpoint, _Circuit())
        self._circuits.move_to_end(endpoint)
        if len(self._circuits) > self._rules.endpoints:
            self._circuits.popitem(last=False)
        return circuit
