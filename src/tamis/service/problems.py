"""Turns errors into HTTP problems (RFC 9457): one table maps error classes to statuses.

The response to a client's error contains the complete message. The message of an internal error (which may
name the store's address or describe a defect) goes to the log; the client gets the code and a request id.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from tamis import errors
from tamis.errors import TamisError

MEDIA = "application/problem+json"
INTERNAL = errors.InternalError.code
RETRY_AFTER = 1  # seconds until a retry is worthwhile

STATUS: dict[type[TamisError], int] = {
    TamisError: 500,
    errors.ExpressionError: 422,
    errors.SubscriptionError: 422,
    errors.UnknownSubscription: 404,
    errors.DuplicateSubscription: 409,
    errors.EventError: 422,
    errors.EventSyntax: 400,
    errors.EventConflict: 409,
    errors.InputError: 400,
    errors.StoreUnavailable: 503,
    errors.RequestInvalid: 400,
    errors.KeyInvalid: 401,
    errors.ScopeMissing: 403,
    errors.QuotaExceeded: 403,
    errors.ResourceUnknown: 404,
    errors.RouteUnknown: 404,
    errors.MethodUnknown: 405,
    errors.RequestTimeout: 408,
    errors.VersionConflict: 412,
    errors.RequestTooLarge: 413,
    errors.MediaType: 415,
    errors.AnswerConflict: 422,
    errors.RateExceeded: 429,
    errors.HeaderTooLarge: 431,
    errors.ServiceBusy: 503,
}

# Details that become headers and are left out of the body.
_HEADERS = {"allow": "allow", "retry_after": "retry-after"}
_encode = msgspec.json.Encoder().encode


class Problem(msgspec.Struct):
    """A failed request. Further members may name the limit, the field or the position."""

    type: str
    title: str
    status: int
    detail: str
    code: str


def status_of(error: TamisError) -> int:
    """Return the status of the nearest class in the table."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def is_ours(error: TamisError) -> bool:
    """Return whether the error is internal: its message may name hosts and files, so it is only logged."""
    return status_of(error) >= 500 and not isinstance(error, errors.ServiceBusy)


def problem_of(error: TamisError) -> dict[str, Any]:
    """Return the problem as plain data."""
    detail = error.message
    more = {name: value for name, value in error.details.items() if name not in _HEADERS}
    if is_ours(error):
        detail, more = "the service cannot do this now; try again, or look into its log", {}
    known = Problem(f"urn:tamis:{error.code}", _title(error), status_of(error), detail, error.code)
    return more | msgspec.structs.asdict(known)


def response_of(error: TamisError) -> Response:
    """Return the complete response."""
    headers = {header: str(error.details[name]) for name, header in _HEADERS.items() if name in error.details}
    status = status_of(error)
    if status == 401:
        headers["www-authenticate"] = 'Bearer realm="tamis"'
    if status == 503:
        headers.setdefault("retry-after", str(RETRY_AFTER))
    if isinstance(error, errors.RequestTooLarge | errors.RequestTimeout | errors.MediaType):
        headers["connection"] = "close"  # the rest of the body is not read
    return Response(_encode(problem_of(error)), status, headers, MEDIA)


def internal() -> Response:
    """Return the response for a defect of the service."""
    problem = Problem(
        f"urn:tamis:{INTERNAL}",
        "The service has a defect",
        500,
        "the request failed; the service's log says why, under the request id",
        INTERNAL,
    )
    return Response(_encode(problem), 500, media_type=MEDIA)


def _title(error: TamisError) -> str:
    return (type(error).__doc__ or error.code).partition("\n")[0].rstrip(".")
