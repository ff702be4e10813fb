"""What a flow asks of the one who runs it: the only things that differ between now and await.

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
    """A request, whole."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    quiet: float | None = None  # seconds without a byte that are borne; None: as usual


class Answer(NamedTuple):
    """An answer; of one that was opened and is well the content is still to come."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""


class Send(NamedTuple):
    """Send a request: the whole :class:`Answer`, or the error that came in its place."""

    request: Request


class Open(NamedTuple):
    """Send a request and leave the answer open, if it is well; what was open is closed."""

    request: Request


class More(NamedTuple):
    """The next bytes of the open answer: none at its end, or the error that came in their place."""


class Wait(NamedTuple):
    """Let seconds pass."""

    seconds: float


class Take(NamedTuple):
    """The next of what the caller gave, or :data:`END`."""


class End(enum.Enum):
    """Nothing more was given."""

    END = enum.auto()


END = End.END

Step: TypeAlias = Send | Open | More | Wait | Take
Flow: TypeAlias = Generator[Step, Any, T]
Feed: TypeAlias = Generator[Step | list[T], Any, None]
