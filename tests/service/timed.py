"""Provide an event loop on a test clock, so that service timeouts expire when the test says."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from tests.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from tests.service.service import Wire

ROUNDS = 50  # rounds of the loop: more than any request needs once its bytes have arrived


class Seen:
    """The server's record of one connection."""

    received, answers, is_open = 0, 0, True


class Timed(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still until a test advances it.

    It knows how much the server has read, so that a test advances the clock only after that.
    """

    _now = 0.0
    _runs_since: float | None = None

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[Any, Seen] = {}

    def time(self) -> float:
        """Return the seconds that the test has advanced this clock, and those since it was let run."""
        passed = 0.0 if self._runs_since is None else super().time() - self._runs_since
        return self._now + passed

    def let_run(self) -> None:
        """Let the clock run in real time from now on."""
        self._runs_since = super().time()
        self.call_soon_threadsafe(lambda: None)

    def advance(self, seconds: float, *lines: Wire) -> None:
        """Advance the clock when the server has read what was sent; return when all that is due has run."""
        for line in lines:
            eventually(lambda line=line: self.seen(line).received == line.sent)
        passed = threading.Event()

        def rest(rounds: int, then: Any) -> None:
            self.call_soon(rest, rounds - 1, then) if rounds else then()

        def jump() -> None:
            self._now += seconds
            rest(ROUNDS, passed.set)

        self.call_soon_threadsafe(rest, ROUNDS, jump)
        assert passed.wait(PATIENCE)

    def seen(self, line: Wire) -> Seen:
        """Return the server's record of a connection."""
        return self._seen.get(line.getsockname(), Seen())

    def watching(self, protocol: Any) -> Any:
        """Return the server's connection class, extended to record each connection."""
        loop = self

        class Watched(protocol):  # type: ignore[misc]
            def connection_made(self, transport: Any) -> None:
                self.seen = loop._seen[transport.get_extra_info("peername")] = Seen()
                super().connection_made(transport)

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                self.seen.received += len(data)

            def on_response_complete(self) -> None:
                super().on_response_complete()
                self.seen.answers += 1

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                self.seen.is_open = False

        return Watched
