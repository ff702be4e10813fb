"""Turns error responses into the errors that the library raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tamis.client.steps import ServiceResponse
from tamis.contract.retry_after import retry_after
from tamis.errors import (
    AnswerInvalid,
    AnswerLost,
    ExpressionError,
    RateExceeded,
    RequestTimeout,
    ServiceBusy,
    ServiceError,
    ServiceUnreachable,
    StoreUnavailable,
    TamisError,
    class_of,
)

PROBLEM = "application/problem+json"

NOT_EXECUTED = (RateExceeded, ServiceBusy, ServiceUnreachable)  # transient; the request was not executed
MAYBE_EXECUTED = (
    AnswerLost,
    RequestTimeout,
    StoreUnavailable,
)  # transient; the request may have been executed

# A proxy in front of the service also sends these statuses, without a Tamis problem.
_TRANSIENT: dict[int, type[ServiceError]] = {
    429: RateExceeded,
    502: AnswerLost,
    503: ServiceBusy,
    504: AnswerLost,
}
# Fields that are not details.
_NOT_DETAILS = ("type", "title", "status", "detail", "code", "message", "retry_after")


def refusal(response: ServiceResponse, about: str | None = None) -> TamisError:
    """Return the error of a response; ``about`` is the expression that its position refers to."""
    if response.headers.get("content-type", "").startswith(PROBLEM):
        error = _problem(response, about)
    else:
        error = _foreign_response(response)
    if name := response.headers.get("x-request-id"):
        error.details["request_id"] = name
    if (seconds := retry_after(response.headers.get("retry-after"))) is not None:
        error.details["retry_after"] = seconds
    return error


def error_of(problem: Mapping[str, Any], message: str, about: str | None = None) -> TamisError:
    """Return the error with the reported code and details."""
    code = str(problem.get("code"))
    known = class_of(code)
    error = (known or ServiceError)(message)
    error.details |= {name: value for name, value in problem.items() if name not in _NOT_DETAILS}
    if known is None:
        error.details["code"] = code
    if isinstance(error, ExpressionError) and isinstance(position := problem.get("position"), int):
        error.text, error.position = about, position
    return error


def _problem(response: ServiceResponse, about: str | None) -> TamisError:
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError):
        return _foreign_response(response)
    return error_of(problem, str(problem.get("detail", f"the service answers {response.status}")), about)


def _foreign_response(response: ServiceResponse) -> TamisError:
    kind = _TRANSIENT.get(response.status, AnswerInvalid)
    to = f" and points to {response.headers['location'][:200]}" if "location" in response.headers else ""
    return kind(
        f"the response has status {response.status}{to} and is not from Tamis; is the URL right?",
        status=response.status,
    )
