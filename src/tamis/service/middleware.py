"""The outermost layer around each request: request id, common headers, errors, log and metrics."""

from __future__ import annotations

import contextvars
import itertools
import logging
import re
import secrets
import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tamis.errors import RequestInvalid, TamisError
from tamis.service import problems
from tamis.service.bodies import header
from tamis.service.service import Service

REQUEST_ID: contextvars.ContextVar[str | None] = contextvars.ContextVar("request_id", default=None)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
UNLESS_SAID = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)

# Headers with a single value: of two, a proxy and the service might use different ones. If-Match and
# If-None-Match are lists, which RFC 9110 allows in several lines.
SINGLE = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"last-event-id",
    }
)

_log = logging.getLogger("tamis.service.requests")
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_process, _numbers = (
    secrets.token_hex(4),
    itertools.count(),
)  # a counter is cheaper than a random id for each request


class RequestMiddleware:
    """An ASGI middleware around all routes."""

    def __init__(self, inner: ASGIApp, service: Service) -> None:
        self._inner, self._service = inner, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        current = _RequestInProgress(scope, send)
        token = REQUEST_ID.set(current.id)
        try:
            await self._inside(scope, receive, current)
        finally:
            if (slot := scope["state"].get("slot")) is not None:
                slot.release()
            self._record(scope, current)
            REQUEST_ID.reset(token)

    async def _inside(self, scope: Scope, receive: Receive, current: _RequestInProgress) -> None:
        try:
            _check_single(scope)
            await self._inner(scope, receive, current.send)
        except TamisError as bad:
            if problems.is_ours(bad):
                _log.error("%s: %s", bad.code, bad.message)
            await current.answer(problems.response_of(bad), scope, receive)
        except Exception:
            _log.exception("a request failed: this is a defect")
            await current.answer(problems.internal(), scope, receive)

    def _record(self, scope: Scope, current: _RequestInProgress) -> None:
        route, caller = scope["state"].get("route", "none"), scope["state"].get("caller")
        seconds = time.perf_counter() - current.began
        self._service.metrics.request(scope["method"], route, current.status, seconds)
        fields = {
            "method": scope["method"],
            "path": scope["path"][:200],
            "status": current.status,
            "ms": round(seconds * 1_000, 2),
        }
        if caller is not None:
            fields |= {"owner": caller.owner, "key": caller.key}
        _log.info("request", extra={"fields": fields})


def _check_single(scope: Scope) -> None:
    """Raise ``RequestInvalid`` if a header with a single value occurs twice."""
    if len(scope["headers"]) == len(scope["state"]["headers"]):
        return
    seen: set[bytes] = set()
    for name, _ in scope["headers"]:
        if name in SINGLE and name in seen:
            said = name.decode()
            raise RequestInvalid(f"the header {said} stands twice; send it once", header=said)
        seen.add(name)


class _RequestInProgress:
    """A request in progress: its id and the state of its response."""

    def __init__(self, scope: Scope, send: Send) -> None:
        state = scope.setdefault("state", {})
        state["headers"] = dict(scope["headers"])
        given = header(scope, b"x-request-id")
        self.id = given if given and _ID.fullmatch(given) else f"{_process}{next(_numbers) % 2**32:08x}"
        self.status = 499  # the status if the client disconnects before a response begins
        self.began = time.perf_counter()
        self._send = send
        self._started = False

    async def send(self, message: Message) -> None:
        """Send a message, with the common headers added to the start of a response."""
        if message["type"] == "http.response.start":
            self._started, self.status = True, message["status"]
            said = {name for name, _ in message["headers"]}
            more = [pair for pair in UNLESS_SAID if pair[0] not in said]
            message["headers"] = [*message["headers"], *HEADERS, *more, (b"x-request-id", self.id.encode())]
        await self._send(message)

    async def answer(self, response: Response, scope: Scope, receive: Receive) -> None:
        """Send an error response in slot of a handler's; a response that has begun can only be cut off."""
        if self._started:
            raise ConnectionAbortedError("the answer had begun when it failed")
        await response(scope, receive, self.send)
