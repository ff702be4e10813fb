"""Define the failures of indexes and engines."""

from __future__ import annotations

from tamis.errors.base import TamisError


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
    """Two writers tried to publish the same version of an index; one of them must start again."""

    code = "index-conflict"


class EngineError(TamisError):
    """An engine cannot carry out the request."""

    code = "engine-error"


class UnknownEngine(EngineError):
    """No engine has this name."""

    code = "engine-unknown"


class UnknownHead(EngineError):
    """No dynamic structure for new subscriptions has this name."""

    code = "head-unknown"


class EngineParameter(EngineError):
    """An engine parameter is unknown or out of range."""

    code = "engine-parameter"


class AuditFailed(EngineError):
    """An audit found that the index and the tree evaluator disagree: a bug of Tamis."""

    code = "audit-difference"


class DeviceError(EngineError):
    """A graphics card cannot be used for matching."""

    code = "device-error"


class DeviceMissing(DeviceError):
    """There is no card of this number, or no driver for it."""

    code = "device-missing"


class DeviceUnsupported(DeviceError):
    """The index, or a package that is installed, does not work with a card."""

    code = "device-unsupported"


class DeviceMemory(DeviceError):
    """The memory of the card is too small for a segment or a batch."""

    code = "device-memory"


class DeviceFailed(DeviceError):
    """The card failed during a batch; the index still matches on the processor."""

    code = "device-failed"
