"""Every failure Tamis can report, each with a stable code.

::

    TamisError
    ├── ExpressionError            something is wrong with a subscription's expression
    │   ├── ParseError             expression-syntax      the text or JSON cannot be read
    │   ├── TypeMismatch           expression-type        an operand does not fit its operator
    │   ├── PatternError           expression-pattern     a regular expression is not RE2
    │   └── ExpressionLimit        expression-limit       a bound of ``limits`` was passed
    ├── SubscriptionError          subscription-invalid   id, weight or priority unusable
    │   ├── UnknownSubscription    subscription-unknown
    │   ├── DuplicateSubscription  subscription-duplicate
    │   ├── SubscriptionsRefused   subscriptions-refused  several subscriptions of one source are unusable
    │   ├── ScheduleError          schedule-invalid       a schedule cannot be read
    │   └── DeliveryError          delivery-invalid       a delivery or its template cannot be used
    ├── EventError                 event-invalid          the event cannot be understood
    │   ├── EventSyntax            event-syntax           not JSON, duplicate keys, bad UTF-8
    │   ├── EventValue             event-value            NaN, infinity, big integers, surrogates
    │   ├── EventLimit             event-limit            a bound of ``limits`` was passed
    │   └── EventConflict          event-conflict         the id stands for another event
    ├── IndexError_                index-error
    │   ├── IndexNotFound          index-not-found
    │   ├── IndexVersion           index-version          written by another format version
    │   ├── IndexCorrupt           index-corrupt          torn, truncated or altered file
    │   ├── IndexUntrusted         index-untrusted        not signed by the key of this place
    │   └── IndexConflict          index-conflict         somebody else changed it meanwhile
    ├── EngineError                engine-error
    │   ├── UnknownEngine          engine-unknown
    │   ├── EngineParameter        engine-parameter       a parameter is out of its range
    │   └── AuditFailed            audit-difference       the index and the tree evaluator disagree
    ├── StoreError                 store-error            the database refuses what was asked
    │   ├── StoreAddress           store-address          the URL names no store
    │   ├── StoreUnavailable       store-unavailable      the database is down, locked or full
    │   └── StoreVersion           store-version          written by a later release
    ├── ServiceError               service-error          the service does not do what was asked
    │   ├── RequestInvalid         request-invalid        a body, header or parameter cannot be read
    │   ├── RequestTooLarge        request-too-large      a body or line passes its bound
    │   ├── HeaderTooLarge         header-too-large       the head of a request passes its bound
    │   ├── RequestTimeout         request-timeout        a request or its body did not arrive
    │   ├── MediaType              media-type             the body is of a kind that is not read here
    │   ├── RouteUnknown           route-unknown          nothing lives at this path
    │   ├── MethodUnknown          method-unknown         this path does not know the method
    │   ├── KeyInvalid             key-invalid            no key, or not one that is in force
    │   ├── ScopeMissing           scope-missing          the key may not do this
    │   ├── ResourceUnknown        resource-unknown       there is no such key, owner or notification
    │   ├── VersionConflict        version-conflict       it was changed since it was read
    │   ├── AnswerConflict         idempotency-conflict   the key was used for another request
    │   ├── QuotaExceeded          quota-exceeded         the owner holds as much as it may
    │   ├── RateExceeded           rate-exceeded          the owner asks more often than it may
    │   ├── ServiceBusy            service-busy           too much at once, or about to stop
    │   ├── InternalError          internal-error         the service has a defect; its log says where
    │   ├── DataInUse              data-in-use            another process serves this folder
    │   ├── ServiceUnreachable     service-unreachable    nothing answers: it was not done
    │   ├── AnswerLost             answer-lost            no whole answer came: it may have been done
    │   └── AnswerInvalid          answer-invalid         what answers is no such service
    ├── NotifyError                notify-error           a notification could not be told
    │   ├── SendFailed             send-failed            the receiver is away or busy: worth another try
    │   │   └── TransportUnavailable  transport-unavailable  this notifier has no server or folder for it
    │   └── SendRefused            send-refused           the receiver or the service will not have it
    │       ├── AddressForbidden   address-forbidden      the address is not one to be called from here
    │       └── PortForbidden      port-forbidden         the port is not one to be called from here
    ├── InputError                 input-invalid          a file, table or option cannot be used
    ├── ExtraMissing               extra-missing          an optional part of Tamis is not installed
    └── SparkError                 spark-error
        ├── SparkUnavailable       spark-unavailable      Java is missing or too old
        └── SparkFailed            spark-failed           Spark gave up on a job

    RefusedWarning (a Python warning): something of a batch was refused, and the rest was processed

A code never changes its meaning; messages may improve.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar


class TamisError(Exception):
    """Root of all errors raised on purpose. ``code`` is stable, ``details`` is plain data."""

    code: ClassVar[str] = "tamis-error"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def as_dict(self) -> dict[str, Any]:
        """Return the error as plain data, for JSON output, quarantine rows and HTTP problems."""
        return {"code": self.code, "message": self.message, **self.details}


class RefusedWarning(UserWarning):
    """Some events or subscriptions of a batch were refused; the rest was processed."""


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
    """A schedule is not written in a way that can be read."""

    code = "schedule-invalid"


class DeliveryError(SubscriptionError):
    """The delivery settings of a subscription, or a template in them, cannot be used."""

    code = "delivery-invalid"


class EventError(TamisError):
    """An event cannot be understood; it is refused, its batch goes on."""

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


class IndexError_(TamisError):
    """An index on disk cannot be used."""

    code = "index-error"


class IndexNotFound(IndexError_):
    """There is no index at this path."""

    code = "index-not-found"


class IndexVersion(IndexError_):
    """The index was written by an incompatible format version or an unknown engine."""

    code = "index-version"


class IndexCorrupt(IndexError_):
    """A file of the index is torn, truncated or altered."""

    code = "index-corrupt"


class IndexUntrusted(IndexError_):
    """A key is set, and the index is not signed by it or a file is not the one that was signed."""

    code = "index-untrusted"


class IndexConflict(IndexError_):
    """Two writers wanted to put the same version of an index in force; one of them must begin anew."""

    code = "index-conflict"


class EngineError(TamisError):
    """An engine cannot do what was asked."""

    code = "engine-error"


class UnknownEngine(EngineError):
    """No engine has this name."""

    code = "engine-unknown"


class EngineParameter(EngineError):
    """An engine parameter is unknown or out of range."""

    code = "engine-parameter"


class AuditFailed(EngineError):
    """An audit found that the index and the tree evaluator disagree: a bug of Tamis."""

    code = "audit-difference"


class StoreError(TamisError):
    """The database of a store refuses what was asked of it."""

    code = "store-error"


class StoreAddress(StoreError):
    """A URL does not name a database that can be a store."""

    code = "store-address"


class StoreUnavailable(StoreError):
    """The database of a store cannot be reached, is locked for too long, or is full."""

    code = "store-unavailable"


class StoreVersion(StoreError):
    """The tables of a store were made by a later release."""

    code = "store-version"


class ServiceError(TamisError):
    """The service does not do what a request asks."""

    code = "service-error"


class RequestInvalid(ServiceError):
    """The body, a header or a parameter of a request cannot be read."""

    code = "request-invalid"


class RequestTooLarge(ServiceError):
    """A body or a line of it passes one of the bounds in ``tamis.limits``."""

    code = "request-too-large"


class HeaderTooLarge(ServiceError):
    """The head of a request passes its bound."""

    code = "header-too-large"


class RequestTimeout(ServiceError):
    """A request or its body did not arrive in time."""

    code = "request-timeout"


class MediaType(ServiceError):
    """The body is of a kind that this path does not read."""

    code = "media-type"


class RouteUnknown(ServiceError):
    """Nothing lives at this path."""

    code = "route-unknown"


class MethodUnknown(ServiceError):
    """The path does not know this method."""

    code = "method-unknown"


class KeyInvalid(ServiceError):
    """The request has no API key, or not one that is in force."""

    code = "key-invalid"


class ScopeMissing(ServiceError):
    """The API key may not do this."""

    code = "scope-missing"


class ResourceUnknown(ServiceError):
    """There is no such key, owner or notification, or not for this owner."""

    code = "resource-unknown"


class VersionConflict(ServiceError):
    """The subscription is not the version that the request speaks of."""

    code = "version-conflict"


class AnswerConflict(ServiceError):
    """An idempotency key was used before, for another request."""

    code = "idempotency-conflict"


class QuotaExceeded(ServiceError):
    """The owner holds as much as it may."""

    code = "quota-exceeded"


class RateExceeded(ServiceError):
    """The owner asks more often than it may."""

    code = "rate-exceeded"


class ServiceBusy(ServiceError):
    """The service has too much to do at once, or is about to stop."""

    code = "service-busy"


class InternalError(ServiceError):
    """The service has a defect; its log says where, under the id of the request."""

    code = "internal-error"


class DataInUse(ServiceError):
    """Another process serves this folder."""

    code = "data-in-use"


class ServiceUnreachable(ServiceError):
    """Nothing answers where the service should be; nothing was done."""

    code = "service-unreachable"


class AnswerLost(ServiceError):
    """A request was sent and no whole answer came back; whether it was done is not known."""

    code = "answer-lost"


class AnswerInvalid(ServiceError):
    """What answers is not a service that this client understands or may trust."""

    code = "answer-invalid"


class NotifyError(TamisError):
    """A notification could not be told."""

    code = "notify-error"


class SendFailed(NotifyError):
    """The receiver cannot be reached or is busy; ``retry_after`` is the seconds it asked for, if any."""

    code = "send-failed"

    def __init__(self, message: str, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class TransportUnavailable(SendFailed):
    """The notifier is not configured for a transport; another notifier of the same store may be."""

    code = "transport-unavailable"


class SendRefused(NotifyError):
    """Another attempt would end alike: the receiver refuses, or what is to be sent cannot be."""

    code = "send-refused"


class AddressForbidden(SendRefused):
    """A receiver's address lies in a network that must not be called from here."""

    code = "address-forbidden"


class PortForbidden(SendRefused):
    """A receiver's port is none that may be called from here."""

    code = "port-forbidden"


class InputError(TamisError):
    """A file, table, column or option cannot be used as it is."""

    code = "input-invalid"


class ExtraMissing(TamisError, ModuleNotFoundError):
    """A part of Tamis needs a package that is not installed; the message says how to install it."""

    code = "extra-missing"


class SparkError(TamisError):
    """Spark cannot do what was asked."""

    code = "spark-error"


class SparkUnavailable(SparkError):
    """A Java that Spark can use is missing."""

    code = "spark-unavailable"


class SparkFailed(SparkError):
    """Spark gave up on a job, for a reason that is not the input's."""

    code = "spark-failed"


def class_of(code: str) -> type[TamisError] | None:
    """Return the class that has this code, if there is one."""
    return _classes().get(code)


@functools.cache
def _classes() -> dict[str, type[TamisError]]:
    found: list[type[TamisError]] = [TamisError]
    for known in found:  # grows while it is read
        found += known.__subclasses__()
    return {known.code: known for known in found}


def point_at(text: str, position: int) -> str:
    """Return the line of ``text`` around ``position`` with a caret below the place."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    if len(line) > 100:  # show a window, so that a 16 KiB one-liner stays readable
        left = max(0, column - 50)
        line, column = line[left : left + 100], column - left
    return f"  {line}\n  {' ' * column}^"
