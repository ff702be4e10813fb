"""Define the failures of events."""

from __future__ import annotations

from tamis.errors.base import TamisError


class EventError(TamisError):
    """An event cannot be understood; it is refused, and the rest of its batch is processed."""

    code = "event-invalid"


class EventSyntax(EventError):
    """The event is not JSON, not UTF-8, or repeats a key."""

    code = "event-syntax"


class EventValue(EventError):
    """A value of the event lies outside the value model (NaN, infinity, huge integer …)."""

    code = "event-value"


class EventLimit(EventError):
    """The event passes one of the bounds in ``tamis.limits``."""

    code = "event-limit"


class EventConflict(EventError):
    """Another event was accepted under the same id."""

    code = "event-conflict"
