"""Shared use of httpx by the synchronous and the asynchronous client."""

from __future__ import annotations

import ssl
from typing import Any

import httpx

from tamis.client.steps import Request, ServiceResponse
from tamis.errors import AnswerInvalid, AnswerLost, InputError, ServiceUnreachable, TamisError

TRANSPORT_ERRORS = (httpx.HTTPError, httpx.InvalidURL)

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_UNUSABLE = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)


def options(timeout: float, tls: ssl.SSLContext | None) -> dict[str, Any]:
    """Return the options of an httpx client; it follows no redirects, because a key is for one host."""
    if not timeout > 0:
        raise InputError(f"a timeout is a number of seconds above 0, not {timeout!r}")
    return {"timeout": timeout, "verify": True if tls is None else tls, "follow_redirects": False}


def arguments(request: Request, timeout: httpx.Timeout) -> dict[str, Any]:
    """Return a request as arguments of httpx."""
    if request.read_timeout is not None:
        timeout = httpx.Timeout(**{**timeout.as_dict(), "read": request.read_timeout})
    return {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "content": request.content,
        "timeout": timeout,
    }


def service_response(response: httpx.Response, content: bytes = b"") -> ServiceResponse:
    """Return an httpx response as a response of the service."""
    return ServiceResponse(response.status_code, response.headers, content)


def transport_error(bad: Exception, request: Request) -> TamisError:
    """Return the error for a response that is missing or incomplete."""
    said, place = str(bad) or type(bad).__name__, f"{request.method} {request.url}"
    error: TamisError
    if isinstance(bad, _UNUSABLE):
        error = InputError(f"{place} cannot be sent: {said}")
    elif _is_distrust(bad):
        error = AnswerInvalid(f"{place}: its certificate cannot be trusted: {said}")
    elif isinstance(bad, _NEVER_SENT):
        error = ServiceUnreachable(f"{place}: no service answers there: {said}")
    else:
        error = AnswerLost(f"{place}: the answer was lost ({said}); it may have been done all the same")
    error.__cause__ = bad
    return error


def _is_distrust(bad: BaseException | None) -> bool:
    while bad is not None:
        if isinstance(bad, ssl.SSLCertVerificationError):
            return True
        bad = bad.__cause__ or bad.__context__
    return False
