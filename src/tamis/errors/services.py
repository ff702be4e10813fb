"""Define the failures of the store, the service, the notifier, the command line and Spark."""

from __future__ import annotations

from typing import Any

from tamis.errors.base import TamisError


class StoreError(TamisError):
    """The database of a store refuses an operation."""

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
    """The service refuses a request."""

    code = "service-error"


class RequestInvalid(ServiceError):
    """The body, a header or a parameter of a request cannot be read."""

    code = "request-invalid"


class RequestTooLarge(ServiceError):
    """A body or a line of it passes one of the bounds in ``tamis.limits``."""

    code = "request-too-large"


class HeaderTooLarge(ServiceError):
    """The headers of a request exceed their limit."""

    code = "header-too-large"


class RequestTimeout(ServiceError):
    """A request or its body did not arrive in time."""

    code = "request-timeout"


class MediaType(ServiceError):
    """This path does not read bodies of this media type."""

    code = "media-type"


class RouteUnknown(ServiceError):
    """There is no resource at this path."""

    code = "route-unknown"


class MethodUnknown(ServiceError):
    """The path does not support this method."""

    code = "method-unknown"


class KeyInvalid(ServiceError):
    """The request has no API key, or the key is not in force."""

    code = "key-invalid"


class ScopeMissing(ServiceError):
    """The API key lacks the scope for this request."""

    code = "scope-missing"


class ResourceUnknown(ServiceError):
    """There is no such key, owner or notification, or not for this owner."""

    code = "resource-unknown"


class VersionConflict(ServiceError):
    """The subscription does not have the version that the request names."""

    code = "version-conflict"


class AnswerConflict(ServiceError):
    """An idempotency key was used before, for another request."""

    code = "idempotency-conflict"


class QuotaExceeded(ServiceError):
    """The owner has reached its quota."""

    code = "quota-exceeded"


class RateExceeded(ServiceError):
    """The owner exceeds its rate or concurrency limit."""

    code = "rate-exceeded"


class ServiceBusy(ServiceError):
    """The service has too much to do at once, or is about to stop."""

    code = "service-busy"


class InternalError(ServiceError):
    """The service has a defect; its log names the place, under the id of the request."""

    code = "internal-error"


class DataInUse(ServiceError):
    """Another process serves this folder."""

    code = "data-in-use"


class ServiceUnreachable(ServiceError):
    """The service does not answer; the request was not carried out."""

    code = "service-unreachable"


class AnswerLost(ServiceError):
    """A request was sent, but no whole response came back; the service may have carried it out."""

    code = "answer-lost"


class AnswerInvalid(ServiceError):
    """The response does not come from a service that this client understands or may trust."""

    code = "answer-invalid"


class NotifyError(TamisError):
    """A notification could not be delivered."""

    code = "notify-error"


class SendFailed(NotifyError):
    """The receiver cannot be reached or is busy; ``retry_after`` is the delay (s) that it requested."""

    code = "send-failed"

    def __init__(self, message: str, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class TransportUnavailable(SendFailed):
    """The notifier is not configured for a transport; another notifier of the same store may be."""

    code = "transport-unavailable"


class SendRefused(NotifyError):
    """A retry cannot succeed: the receiver refuses, or the notification cannot be sent."""

    code = "send-refused"


class AddressForbidden(SendRefused):
    """A receiver's address lies in a network that must not be called from here."""

    code = "address-forbidden"


class PortForbidden(SendRefused):
    """A receiver's port must not be called from here."""

    code = "port-forbidden"


class InputError(TamisError):
    """A file, table, column or option cannot be used as it is."""

    code = "input-invalid"


class ExtraMissing(TamisError, ModuleNotFoundError):
    """A part of Tamis needs a package that is not installed; the message says how to install it."""

    code = "extra-missing"


class SparkError(TamisError):
    """Spark cannot carry out the request."""

    code = "spark-error"


class SparkUnavailable(SparkError):
    """Spark finds no Java that it can use."""

    code = "spark-unavailable"


class SparkFailed(SparkError):
    """A Spark job failed for a reason other than its input."""

    code = "spark-failed"
