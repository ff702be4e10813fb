"""Failures of the store, the service, the notifier, the command line and Spark."""

from __future__ import annotations

from typing import Any

from tamis.errors.base import TamisError


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
