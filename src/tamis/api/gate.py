"""The outermost layer: a request id, the headers that every answer has, errors, the log and the figures."""

from __future__ import annotations

import contextvars
import logging
import re
import secrets
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tamis.api import problems
from tamis.api.service import Service
from tamis.errors import ServiceBusy, TamisError

REQUEST_ID: contextvars.ContextVar[str | None] = contextvars.ContextVar("request_id", default=None)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
UNLESS_SAID = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
ALWAYS_OPEN = ("/healthz", "/readyz")  # answered however busy the service is
STREAM = "/v1/stream"  # has bounds of its own

_log = logging.getLogger("tamis.api.requests")
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Gate:
    """Wraps the routes."""

    def __init__(self, inner: ASGIApp, service: Service) -> None:
        self._inner, self._service = inner, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        visit = _Visit(scope, send)
        token = REQUEST_ID.set(visit.id)
        counted = scope["path"] not in (*ALWAYS_OPEN, STREAM)
        self._service.open_requests += counted
        try:
            await self._inside(scope, receive, visit, counted)
        finally:
            self._service.open_requests -= counted
            self._tell(scope, visit)
            REQUEST_ID.reset(token)

    async def _inside(self, scope: Scope, receive: Receive, visit: _Visit, counted: bool) -> None:
        try:
            if counted and self._service.open_requests > self._service.limits.requests_at_once:
                raise ServiceBusy("too many requests at once; ask again", limit="requests_at_once")
            await self._inner(scope, receive, visit.send)
        except TamisError as bad:
            if problems.is_ours(bad):
                _log.error("%s: %s", bad.code, bad.message)
            await visit.answer(problems.response_of(bad), scope, receive)
        except Exception:
            _log.exception("a request failed: this is a defect")
            await visit.answer(problems.internal(), scope, receive)

    def _tell(self, scope: Scope, visit: _Visit) -> None:
        route, caller = scope["state"].get("route", "none"), scope["state"].get("caller")
        seconds = time.perf_counter() - visit.began
        self._service.metrics.request(scope["method"], route, visit.status, seconds)
        fields = {
            "method": scope["method"],
            "path": scope["path"][:200],
            "status": visit.status,
            "ms": round(seconds * 1_000, 2),
        }
        if caller is not None:
            fields |= {"owner": caller.owner, "key": caller.key}
        _log.info("request", extra={"fields": fields})


class _Visit:
    """A request while it is here: its id, and what was sent."""

    def __init__(self, scope: MutableMapping[str, Any], send: Send) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        self.id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})
        self.status = 499  # unless an answer begins, the client has gone
        self.began = time.perf_counter()
        self._send = send
        self._started = False

    async def send(self, message: Message) -> None:
        """Pass on what is sent, with our headers."""
        if message["type"] == "http.response.start":
            self._started, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.id
            headers.update(HEADERS)
            for name, value in UNLESS_SAID.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def answer(self, response: Response, scope: Scope, receive: Receive) -> None:
        """Answer in the place of a handler that failed; what has begun can only be cut off."""
        if self._started:
            raise ConnectionAbortedError("the answer had begun when it failed")
        await response(scope, receive, self.send)
