"""What went wrong, as the same errors that the library raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tamis.client.steps import Answer
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

NOT_DONE = (RateExceeded, ServiceBusy, ServiceUnreachable)  # passing, and surely nothing was done
UNSURE = (AnswerLost, RequestTimeout, StoreUnavailable)  # passing, but something may have been done

# What stands before a service answers these, too, in its own words.
_PASSING: dict[int, type[ServiceError]] = {
    429: RateExceeded,
    502: AnswerLost,
    503: ServiceBusy,
    504: AnswerLost,
}
_KNOWN = ("type", "title", "status", "detail", "code", "message", "retry_after")  # what stands elsewhere


def refusal(answer: Answer, about: str | None = None) -> TamisError:
    """Return the error that an answer tells of; ``about`` is the expression that positions are in."""
    if answer.headers.get("content-type", "").startswith(PROBLEM):
        error = _problem(answer, about)
    else:
        error = _not_ours(answer)
    if name := answer.headers.get("x-request-id"):
        error.details["request_id"] = name
    if (seconds := retry_after(answer.headers.get("retry-after"))) is not None:
        error.details["retry_after"] = seconds
    return error


def error_of(told: Mapping[str, Any], message: str, about: str | None = None) -> TamisError:
    """Return the error with the code that was told, and all that was told with it."""
    code = str(told.get("code"))
    known = class_of(code)
    error = (known or ServiceError)(message)
    error.details |= {name: value for name, value in told.items() if name not in _KNOWN}
    if known is None:
        error.details["code"] = code
    if isinstance(error, ExpressionError) and isinstance(position := told.get("position"), int):
        error.text, error.position = about, position
    return error


def _problem(answer: Answer, about: str | None) -> TamisError:
    try:
        told = msgspec.json.decode(answer.content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError):
        return _not_ours(answer)
    return error_of(told, str(told.get("detail", f"the service answers {answer.status}")), about)


def _not_ours(answer: Answer) -> TamisError:
    kind = _PASSING.get(answer.status, AnswerInvalid)
    to = f" and points to {answer.headers['location'][:200]}" if "location" in answer.headers else ""
    return kind(
        f"what answers says {answer.status}{to}, not in the words of Tamis; is the URL right?",
        status=answer.status,
    )
