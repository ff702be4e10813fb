"""Connections, bounded: how many, how long a head may be, and how long one may hang.

uvicorn bounds none of these, and an application sees a request only when its head is complete. While we wait
for a head, or for what is left of a body that was answered without it, a clock runs that no byte puts back;
whoever reads a body has a clock for it (:class:`~tamis.service.bodies.Patience`).
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tamis.errors import HeaderTooLarge, RequestInvalid, RequestTimeout, ServiceBusy, TamisError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.service import problems


class Bounded(HttpToolsProtocol):
    """One connection."""

    limits: ClassVar[Limits] = DEFAULT_LIMITS

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._loose = 0  # bytes that came since a head or a piece of a body was complete
        self._is_head, self._is_refused = False, False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Someone came; if there are too many, they are sent away."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections_at_once:
            self._refuse(ServiceBusy("too many connections; come again", limit="connections_at_once"))
        else:
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Someone went."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something came."""
        most, at = self.limits.header_bytes, 0
        while at < len(data) and not self._is_refused:
            piece = data[
                at : at + max(1, most + 1 - self._loose)
            ]  # so that a head cannot hide in a long read
            at += len(piece)
            self._loose += len(piece)
            super().data_received(piece)
            if self._loose > most:
                self._refuse(self._long_head())
        if not self._is_refused and self._timer is None and (self._is_head or self._is_unasked()):
            self._arm()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._is_head = True
        self._unset_keepalive_if_required()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is here."""
        self._is_head, self._loose = False, 0
        self._disarm()
        if self._head_bytes() > self.limits.header_bytes:  # wherever it stood in what was read
            self._refuse(self._long_head())
        if not self._is_refused:
            super().on_headers_complete()

    def _head_bytes(self) -> int:
        """Return the size of the head, from the method to the empty line, with one space after each colon."""
        line = len(self.parser.get_method()) + len(self.url) + len("  HTTP/1.1\r\n")
        return (
            line + sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers) + len("\r\n")
        )

    def _long_head(self) -> HeaderTooLarge:
        most = self.limits.header_bytes
        return HeaderTooLarge(f"the head has more than header_bytes = {most}", limit="header_bytes")

    def on_body(self, body: bytes) -> None:
        """A piece of its body is here."""
        self._loose = 0
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """All of a request is here; if it was answered before, the connection is as good as any other."""
        if self._is_left_over():
            self.cycle.more_body = False
            self._disarm()
            self._wait_for_more()
        if not self._is_refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """It is answered. What is left of its body is read for a while, so that the answer is not lost."""
        super().on_response_complete()
        if self._is_left_over() and not self.transport.is_closing():
            self._arm()

    def send_400_response(self, msg: str) -> None:
        """What came is not HTTP."""
        self._refuse(RequestInvalid("this is not a request that HTTP/1.1 knows"))

    def _is_unasked(self) -> bool:
        """Return whether what comes now belongs to no request that is worked on."""
        return self._is_answered() and self.timeout_keep_alive_task is None

    def _is_left_over(self) -> bool:
        """Return whether the request was answered before all of it was here."""
        return self._is_answered() and getattr(self.cycle, "more_body", False)

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def _wait_for_more(self) -> None:
        """As uvicorn does after an answer."""
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def _arm(self) -> None:
        self._timer = self.loop.call_later(self.limits.request_seconds, self._is_late)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _is_late(self) -> None:
        most = self.limits.request_seconds
        self._refuse(
            RequestTimeout(f"no request came within request_seconds = {most}", limit="request_seconds")
        )

    def _refuse(self, error: TamisError) -> None:
        """Say why, and end the connection."""
        self._disarm()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        if self._is_answered() and not self._is_left_over():  # else it would be taken for another's answer
            self.transport.write(_answer(error))
        self.transport.close()


def _answer(error: TamisError) -> bytes:
    response = problems.response_of(error)
    status = HTTPStatus(response.status_code)
    lines = [b"HTTP/1.1 %d %s" % (status, status.phrase.encode())]
    lines += [name + b": " + value for name, value in response.raw_headers if name != b"connection"]
    return b"\r\n".join([*lines, b"connection: close", b"", bytes(response.body)])


def bounded_by(limits: Limits) -> type[Bounded]:
    """Connections under these limits."""
    return type("Bounded", (Bounded,), {"limits": limits})
