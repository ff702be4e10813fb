"""List every failure that Tamis can report, each with a stable code.

::

    TamisError
    ├── ExpressionError            something is wrong with a subscription's expression
    │   ├── ParseError             expression-syntax      the text or JSON cannot be read
    │   ├── TypeMismatch           expression-type        an operand does not fit its operator
    │   ├── PatternError           expression-pattern     a regular expression is not RE2
    │   ├── AnalyserError          analyser-invalid       an analyser is unknown, or its settings are unusable
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
    │   └── IndexConflict          index-conflict         another writer changed it in the meantime
    ├── EngineError                engine-error
    │   ├── UnknownEngine          engine-unknown
    │   ├── UnknownHead            head-unknown           no structure for new subscriptions has this name
    │   ├── EngineParameter        engine-parameter       a parameter is out of its range
    │   ├── AuditFailed            audit-difference       the index and the tree evaluator disagree
    │   └── DeviceError            device-error           a graphics card cannot be used
    │       ├── DeviceMissing      device-missing         there is no such card, or no driver
    │       ├── DeviceUnsupported  device-unsupported     the index or a package does not work with a card
    │       ├── DeviceMemory       device-memory          the card has too little memory
    │       └── DeviceFailed       device-failed          the card failed during a batch
    ├── StoreError                 store-error            the database refuses an operation
    │   ├── StoreAddress           store-address          the URL names no store
    │   ├── StoreUnavailable       store-unavailable      the database is down, locked or full
    │   └── StoreVersion           store-version          written by a later release
    ├── ServiceError               service-error          the service refuses a request
    │   ├── RequestInvalid         request-invalid        a body, header or parameter cannot be read
    │   ├── RequestTooLarge        request-too-large      a body or line passes its bound
    │   ├── HeaderTooLarge         header-too-large       the headers exceed their limit
    │   ├── RequestTimeout         request-timeout        a request or its body did not arrive
    │   ├── MediaType              media-type             the path does not read this media type
    │   ├── RouteUnknown           route-unknown          there is no resource at this path
    │   ├── MethodUnknown          method-unknown         the path does not support the method
    │   ├── KeyInvalid             key-invalid            no key, or a key that is not in force
    │   ├── ScopeMissing           scope-missing          the key lacks the scope
    │   ├── ResourceUnknown        resource-unknown       there is no such key, owner or notification
    │   ├── VersionConflict        version-conflict       the subscription was changed since it was read
    │   ├── AnswerConflict         idempotency-conflict   the key was used for another request
    │   ├── QuotaExceeded          quota-exceeded         the owner has reached its quota
    │   ├── RateExceeded           rate-exceeded          the owner exceeds its rate limit
    │   ├── ServiceBusy            service-busy           too much at once, or about to stop
    │   ├── InternalError          internal-error         the service has a defect; its log names it
    │   ├── DataInUse              data-in-use            another process serves this folder
    │   ├── ServiceUnreachable     service-unreachable    no answer: the request was not carried out
    │   ├── AnswerLost             answer-lost            no whole response: the outcome is unknown
    │   └── AnswerInvalid          answer-invalid         the response cannot be understood or trusted
    ├── NotifyError                notify-error           a notification could not be delivered
    │   ├── SendFailed             send-failed            the receiver is away or busy: a retry may succeed
    │   │   └── TransportUnavailable  transport-unavailable  this notifier has no server or folder for it
    │   └── SendRefused            send-refused           a retry cannot succeed
    │       ├── AddressForbidden   address-forbidden      the address must not be called from here
    │       └── PortForbidden      port-forbidden         the port must not be called from here
    ├── InputError                 input-invalid          a file, table or option cannot be used
    ├── ExtraMissing               extra-missing          an optional part of Tamis is not installed
    └── SparkError                 spark-error
        ├── SparkUnavailable       spark-unavailable      Java is missing or too old
        └── SparkFailed            spark-failed           a Spark job failed

    RefusedWarning (a Python warning): some items of a batch were refused, the rest was processed

A code never changes its meaning; messages may improve.
"""

from __future__ import annotations

import functools

from tamis.errors.base import RefusedWarning, TamisError
from tamis.errors.events import EventConflict, EventError, EventLimit, EventSyntax, EventValue
from tamis.errors.indexes import (
    AuditFailed,
    DeviceError,
    DeviceFailed,
    DeviceMemory,
    DeviceMissing,
    DeviceUnsupported,
    EngineError,
    EngineParameter,
    IndexConflict,
    IndexCorrupt,
    IndexError_,
    IndexNotFound,
    IndexUntrusted,
    IndexVersion,
    UnknownEngine,
    UnknownHead,
)
from tamis.errors.services import (
    AddressForbidden,
    AnswerConflict,
    AnswerInvalid,
    AnswerLost,
    DataInUse,
    ExtraMissing,
    HeaderTooLarge,
    InputError,
    InternalError,
    KeyInvalid,
    MediaType,
    MethodUnknown,
    NotifyError,
    PortForbidden,
    QuotaExceeded,
    RateExceeded,
    RequestInvalid,
    RequestTimeout,
    RequestTooLarge,
    ResourceUnknown,
    RouteUnknown,
    ScopeMissing,
    SendFailed,
    SendRefused,
    ServiceBusy,
    ServiceError,
    ServiceUnreachable,
    SparkError,
    SparkFailed,
    SparkUnavailable,
    StoreAddress,
    StoreError,
    StoreUnavailable,
    StoreVersion,
    TransportUnavailable,
    VersionConflict,
)
from tamis.errors.subscriptions import (
    AnalyserError,
    DeliveryError,
    DuplicateSubscription,
    ExpressionError,
    ExpressionLimit,
    ParseError,
    PatternError,
    ScheduleError,
    SubscriptionError,
    SubscriptionsRefused,
    TypeMismatch,
    UnknownSubscription,
)

__all__ = [
    "AddressForbidden",
    "AnalyserError",
    "AnswerConflict",
    "AnswerInvalid",
    "AnswerLost",
    "AuditFailed",
    "DataInUse",
    "DeliveryError",
    "DeviceError",
    "DeviceFailed",
    "DeviceMemory",
    "DeviceMissing",
    "DeviceUnsupported",
    "DuplicateSubscription",
    "EngineError",
    "EngineParameter",
    "EventConflict",
    "EventError",
    "EventLimit",
    "EventSyntax",
    "EventValue",
    "ExpressionError",
    "ExpressionLimit",
    "ExtraMissing",
    "HeaderTooLarge",
    "IndexConflict",
    "IndexCorrupt",
    "IndexError_",
    "IndexNotFound",
    "IndexUntrusted",
    "IndexVersion",
    "InputError",
    "InternalError",
    "KeyInvalid",
    "MediaType",
    "MethodUnknown",
    "NotifyError",
    "ParseError",
    "PatternError",
    "PortForbidden",
    "QuotaExceeded",
    "RateExceeded",
    "RefusedWarning",
    "RequestInvalid",
    "RequestTimeout",
    "RequestTooLarge",
    "ResourceUnknown",
    "RouteUnknown",
    "ScheduleError",
    "ScopeMissing",
    "SendFailed",
    "SendRefused",
    "ServiceBusy",
    "ServiceError",
    "ServiceUnreachable",
    "SparkError",
    "SparkFailed",
    "SparkUnavailable",
    "StoreAddress",
    "StoreError",
    "StoreUnavailable",
    "StoreVersion",
    "SubscriptionError",
    "SubscriptionsRefused",
    "TamisError",
    "TransportUnavailable",
    "TypeMismatch",
    "UnknownEngine",
    "UnknownHead",
    "UnknownSubscription",
    "VersionConflict",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # the name that users see and import


def class_of(code: str) -> type[TamisError] | None:
    """Return the class that has this code, if there is one."""
    return _classes().get(code)


@functools.cache
def _classes() -> dict[str, type[TamisError]]:
    found: list[type[TamisError]] = [TamisError]
    for known in found:  # grows while it is read
        found += known.__subclasses__()
    return {known.code: known for known in found}
