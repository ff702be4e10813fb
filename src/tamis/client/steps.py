"""The steps that a flow yields: the only part in which synchronous and asynchronous I/O differ.

A *flow* is a generator. It yields steps, receives the outcome of each, and returns its result. A *feed* also
yields lists, whose elements the caller gets one by one. Flows and feeds do no I/O. The runners do it:
:mod:`tamis.client.sync_runner` and :mod:`tamis.client.async_runner`.
"""

from __future__ import annotations

import enum
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class Request(NamedTuple):
    """A complete request."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    read_timeout: float | None = (
        None  # seconds without a byte before a timeout; None means the client's default
    )


class ServiceResponse(NamedTuple):
    """A response; the content of an open, successful one is read later."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""


class Send(NamedTuple):
    """A step that sends a request; its outcome is the complete :class:`ServiceResponse`, or an error."""

    request: Request


class Open(NamedTuple):
    """A step that sends a request and leaves a successful response open; it closes the previous one."""

    request: Request


class More(NamedTuple):
    """A step that reads the next bytes of the open response; empty at its end, or an error."""


class Wait(NamedTuple):
    """A step that waits."""

    seconds: float


class Take(NamedTuple):
    """A step that takes the next item from the caller; its outcome is the item or :data:`END`."""


class End(enum.Enum):
    """The end of the caller's items."""

    END = enum.auto()


END = End.END

Step: TypeAlias = Send | Open | More | Wait | Take
Flow: TypeAlias = Generator[Step, Any, T]
Feed: TypeAlias = Generator[Step | list[T], Any, None]
