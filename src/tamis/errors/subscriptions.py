"""Define the failures of expressions and subscriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.errors.base import TamisError, point_at


class ExpressionError(TamisError):
    """Something is wrong with an expression. ``position`` is an offset into ``text`` if known."""

    code = "expression-error"

    def __init__(
        self, message: str, *, text: str | None = None, position: int | None = None, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.text = text
        self.position = position
        if position is not None:
            self.details["position"] = position

    def __str__(self) -> str:
        if self.text is None or self.position is None:
            return self.message
        return f"{self.message}\n{point_at(self.text, self.position)}"


class ParseError(ExpressionError):
    """The text, JSON, query string or search box input is not an expression."""

    code = "expression-syntax"


class TypeMismatch(ExpressionError):
    """An operand has a type that its operator cannot use."""

    code = "expression-type"


class PatternError(ExpressionError):
    """A regular expression, network or shape is malformed."""

    code = "expression-pattern"


class AnalyserError(ExpressionError):
    """There is no analyser with this name, or its settings cannot be used."""

    code = "analyser-invalid"


class ExpressionLimit(ExpressionError):
    """An expression passes one of the bounds in ``tamis.limits``."""

    code = "expression-limit"


class SubscriptionError(TamisError):
    """A subscription's id, priority or other property cannot be used."""

    code = "subscription-invalid"


class UnknownSubscription(SubscriptionError):
    """No subscription has this id."""

    code = "subscription-unknown"


class DuplicateSubscription(SubscriptionError):
    """Two subscriptions in one build or ``add`` carry the same id."""

    code = "subscription-duplicate"


class SubscriptionsRefused(SubscriptionError):
    """Several subscriptions of one source cannot be used; ``refused`` has all of them as (id, error)."""

    code = "subscriptions-refused"

    def __init__(
        self, message: str, *, refused: Sequence[tuple[str, TamisError]] = (), **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.refused = list(refused)


class ScheduleError(SubscriptionError):
    """A schedule cannot be read."""

    code = "schedule-invalid"


class DeliveryError(SubscriptionError):
    """The delivery settings of a subscription, or a template in them, cannot be used."""

    code = "delivery-invalid"
