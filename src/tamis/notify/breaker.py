"""A circuit breaker for each endpoint: an endpoint that fails gets no attempts for a while, then a probe.

::

    closed ──failures in a row──▶ open ──time──▶ half open ──success──▶ closed
                                    ▲                │
                                    └────failure─────┘  for twice as long

Between closed and open is *doubt*: an endpoint that failed last, or was slow, gets one sender, not several.
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
    """The thresholds and times of a breaker."""

    failures: int = 5  # in a row
    open_seconds: float = 30.0  # the first time; doubles with each failed probe
    longest: float = 600.0
    slow_seconds: float = 2.0  # a slower response makes the endpoint doubtful
    endpoints: int = 100_000  # endpoints remembered

    def __post_init__(self) -> None:
        if not (self.failures >= 1 and 0 < self.open_seconds <= self.longest and self.endpoints >= 1):
            raise InputError(
                f"a breaker has failures >= 1, 0 < open_seconds <= longest and endpoints >= 1, unlike {self}"
            )


class State(StrEnum):
    """The state of a breaker."""

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
    """The breakers of one process; threads may share them."""

    def __init__(self, rules: BreakerRules, clock: Callable[[], float]) -> None:
        self._rules = rules
        self._clock = clock
        self._circuits: OrderedDict[str, _Circuit] = OrderedDict()  # only endpoints in doubt or open
        self._lock = threading.Lock()

    def state(self, endpoint: str) -> State:
        """Return the state of an endpoint's breaker."""
        with self._lock:
            circuit = self._circuits.get(endpoint)
            if circuit is None or not circuit.opened:
                return State.CLOSED
            left = circuit.until - self._clock()
            # More than the longest time is left only if the clock was set back.
            return State.OPEN if 0 < left <= self._rules.longest else State.HALF_OPEN

    def is_doubtful(self, endpoint: str) -> bool:
        """Return whether to make one attempt at a time: it failed or was slow last, or is being probed."""
        with self._lock:
            return endpoint in self._circuits

    def reopens(self, endpoint: str) -> float:
        """Return the time at which an open endpoint is probed."""
        with self._lock:
            circuit = self._circuits.get(endpoint)
            return circuit.until if circuit else 0.0

    def succeeded(self, endpoint: str, seconds: float = 0.0) -> None:
        """Record a delivery or any other response of the endpoint."""
        with self._lock:
            self._circuits.pop(endpoint, None)
            if seconds > self._rules.slow_seconds:
                self._circuit(endpoint)  # every endpoint in the table is doubtful

    def failed(self, endpoint: str) -> bool:
        """Record a failure of the endpoint; return whether its breaker is open now."""
        with self._lock:
            circuit = self._circuit(endpoint)
            circuit.failures += 1
            if circuit.opened or circuit.failures >= self._rules.failures:
                self._open(circuit)
            return bool(circuit.opened)

    def count_open(self) -> int:
        """Return the number of endpoints with an open or half-open breaker."""
        with self._lock:
            return sum(1 for circuit in self._circuits.values() if circuit.opened)

    def _open(self, circuit: _Circuit) -> None:
        if circuit.opened and self._clock() < circuit.until:
            return  # an attempt that began before the breaker opened
        length = self._rules.open_seconds * 2 ** min(circuit.opened, 32)
        circuit.opened += 1
        circuit.until = self._clock() + min(length, self._rules.longest)

    def _circuit(self, endpoint: str) -> _Circuit:
        circuit = self._circuits.setdefault(endpoint, _Circuit())
        self._circuits.move_to_end(endpoint)
        if len(self._circuits) > self._rules.endpoints:
            self._circuits.popitem(last=False)
        return circuit
