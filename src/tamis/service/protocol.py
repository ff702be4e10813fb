"""Limits connections: their number, the size of request headers, and the time a client may take to send them.

uvicorn has none of these limits, and an application sees a request only after its headers are complete. A
timer runs while the server waits for headers, or for the rest of a body after an early response. No received
byte resets it. :class:`~tamis.service.bodies.BodyDeadline` limits the time to read a body.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tamis.errors import HeaderTooLarge, RequestInvalid, RequestTimeout, ServiceBusy, TamisError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.service import problems


class LimitedProtocol(HttpToolsProtocol):
    """A connection with limits."""

    limits: ClassVar[Limits] = DEFAULT_LIMITS

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._loose = 0  # bytes received since the last complete header block or body chunk
        self._is_head, self._is_refused = False, False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it if too many are open."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections_at_once:
            self._refuse(ServiceBusy("too many connections; come again", limit="connections_at_once"))
        else:
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a closed connection."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and refuse headers that are too long."""
        most, at = self.limits.header_bytes, 0
        while at < len(data) and not self._is_refused:
            piece = data[
                at : at + max(1, most + 1 - self._loose)
            ]  # so that long headers cannot hide in a long read
            at += len(piece)
            self._loose += len(piece)
            super().data_received(piece)
            if self._loose > most:
                self._refuse(self._long_head())
        if not self._is_refused and self._timer is None and (self._is_head or self._is_unasked()):
            self._arm()

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        self._is_head = True
        self._unset_keepalive_if_required()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Check the size of the complete headers, and start the request."""
        self._is_head, self._loose = False, 0
        self._disarm()
        if self._head_bytes() > self.limits.header_bytes:  # wherever they began in the bytes received
            self._refuse(self._long_head())
        if not self._is_refused:
            super().on_headers_complete()

    def _head_bytes(self) -> int:
        """Return the size of the headers, from the method to the empty line, one space after each colon."""
        line = len(self.parser.get_method()) + len(self.url) + len("  HTTP/1.1\r\n")
        return (
            line + sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers) + len("\r\n")
        )

    def _long_head(self) -> HeaderTooLarge:
        most = self.limits.header_bytes
        return HeaderTooLarge(f"the headers have more than header_bytes = {most}", limit="header_bytes")

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._loose = 0
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Finish a request; if it was answered early, make the connection available for the next one."""
        if self._is_left_over():
            self.cycle.more_body = False
            self._disarm()
            self._wait_for_more()
        if not self._is_refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Read the rest of a body for a while after the response, so that the client receives it."""
        super().on_response_complete()
        if self._is_left_over() and not self.transport.is_closing():
            self._arm()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP."""
        self._refuse(RequestInvalid("this is not a request that HTTP/1.1 knows"))

    def _is_unasked(self) -> bool:
        """Return whether the bytes arriving now belong to no request in progress."""
        return self._is_answered() and self.timeout_keep_alive_task is None

    def _is_left_over(self) -> bool:
        """Return whether the request was answered before all of it arrived."""
        return self._is_answered() and getattr(self.cycle, "more_body", False)

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def _wait_for_more(self) -> None:
        """Start the keep-alive timeout, as uvicorn does after a response."""
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
        """Send the reason and close the connection."""
        self._disarm()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        # Otherwise the client would take it for the response to another request.
        if self._is_answered() and not self._is_left_over():
            self.transport.write(_answer(error))
        self.transport.close()


def _answer(error: TamisError) -> bytes:
    response = problems.response_of(error)
    status = HTTPStatus(response.status_code)
    lines = [b"HTTP/1.1 %d %s" % (status, status.phrase.encode())]
    lines += [name + b": " + value for name, value in response.raw_headers if name != b"connection"]
    return b"\r\n".join([*lines, b"connection: close", b"", bytes(response.body)])


def protocol_with(limits: Limits) -> type[LimitedProtocol]:
    """Return a protocol class with these limits."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})
