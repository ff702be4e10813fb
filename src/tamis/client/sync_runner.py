"""Runs flows in the calling thread."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

import httpx

from tamis.client.core import SUCCESS
from tamis.client.steps import END, Feed, Flow, More, Open, Request, Send, ServiceResponse, Step, Take, Wait
from tamis.client.transport import TRANSPORT_ERRORS, arguments, service_response, transport_error
from tamis.errors import InputError, TamisError

T = TypeVar("T")


def run(http: httpx.Client, flow: Flow[T], items: Iterable[Any] = ()) -> T:
    """Return the result of a flow; ``items`` holds the items that it takes from the caller."""
    with contextlib.closing(_StepRunner(http, items)) as runner, contextlib.closing(flow):
        outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = runner.do(step)


def batches(http: httpx.Client, feed: Feed[T]) -> Generator[list[T], None, None]:
    """Yield the lists of a feed as they arrive."""
    with contextlib.closing(_StepRunner(http)) as runner, contextlib.closing(feed):
        outcome = None
        while True:
            try:
                step = feed.send(outcome)
            except StopIteration:
                return
            if isinstance(step, list):
                yield step
                outcome = None
            else:
                outcome = runner.do(step)


class Items(Iterator[T], Generic[T]):
    """An iterator over the items of a feed.

    It connects when the first item is requested, or when it is entered as a context manager. Leaving the
    context closes the connection, which an endless stream needs.
    """

    def __init__(self, batches: Generator[list[T], None, None]) -> None:
        self._batches = batches
        self._buffered: deque[T] = deque()

    def __next__(self) -> T:
        while not self._buffered:
            self._buffered.extend(next(self._batches))
        return self._buffered.popleft()

    def __enter__(self) -> Self:
        with contextlib.suppress(StopIteration):
            self._buffered.extend(next(self._batches))
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and discard buffered items."""
        self._buffered.clear()
        self._batches.close()


class _StepRunner:
    """Performs the steps of one flow, and holds its open response."""

    def __init__(self, http: httpx.Client, items: Iterable[Any] = ()) -> None:
        if http.is_closed:
            raise InputError("this client is closed; make another")
        self._http, self._items = http, iter(items)
        self._open: _Opened | None = None

    def do(self, step: Step) -> Any:
        """Perform a step and return its outcome."""
        match step:
            case Take():
                return next(self._items, END)
            case Wait(seconds):
                return time.sleep(seconds)
            case Send(request):
                return self._send(request)
            case Open(request):
                return self._begin(request)
            case More():
                return self._more()

    def close(self) -> None:
        """Close the open response."""
        if self._open is not None:
            self._open.response.close()

    def _send(self, request: Request) -> ServiceResponse | TamisError:
        try:
            response = self._http.request(**arguments(request, self._http.timeout))
        except TRANSPORT_ERRORS as bad:
            return transport_error(bad, request)
        return service_response(response, response.content)

    def _begin(self, request: Request) -> ServiceResponse | TamisError:
        self.close()
        try:
            asked = self._http.build_request(**arguments(request, self._http.timeout))
            response = self._http.send(asked, stream=True)
            self._open = _Opened(response, response.iter_bytes(), request)
            return service_response(response, b"" if response.status_code in SUCCESS else response.read())
        except TRANSPORT_ERRORS as bad:
            return transport_error(bad, request)

    def _more(self) -> bytes | TamisError:
        assert self._open is not None  # a flow opens a response before it reads it
        try:
            return next(self._open.content, b"")
        except TRANSPORT_ERRORS as bad:
            return transport_error(bad, self._open.request)


class _Opened(NamedTuple):
    response: httpx.Response
    content: Iterator[bytes]
    request: Request
