"""Runs flows in the calling thread."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

import httpx

from tamis.client.core import WELL
from tamis.client.steps import END, Answer, Feed, Flow, More, Open, Request, Send, Step, Take, Wait
from tamis.client.transport import BAD, answer_of, arguments, broken
from tamis.errors import InputError, TamisError

T = TypeVar("T")


def run(http: httpx.Client, flow: Flow[T], given: Iterable[Any] = ()) -> T:
    """Return the result of a flow; ``given`` is what it takes from the caller."""
    with contextlib.closing(_Doer(http, given)) as doer, contextlib.closing(flow):
        came = None
        while True:
            try:
                step = flow.send(came)
            except StopIteration as end:
                result: T = end.value
                return result
            came = doer.do(step)


def pieces(http: httpx.Client, feed: Feed[T]) -> Generator[list[T], None, None]:
    """What a feed gives, as it comes."""
    with contextlib.closing(_Doer(http)) as doer, contextlib.closing(feed):
        came = None
        while True:
            try:
                step = feed.send(came)
            except StopIteration:
                return
            if isinstance(step, list):
                yield step
                came = None
            else:
                came = doer.do(step)


class Items(Iterator[T], Generic[T]):
    """What comes piece by piece, one by one.

    It begins when the first one is asked for; as a context manager at once, and its connection is given
    back at the end, also of a stream that has none.
    """

    def __init__(self, pieces: Generator[list[T], None, None]) -> None:
        self._pieces = pieces
        self._here: deque[T] = deque()

    def __next__(self) -> T:
        while not self._here:
            self._here.extend(next(self._pieces))
        return self._here.popleft()

    def __enter__(self) -> Self:
        with contextlib.suppress(StopIteration):
            self._here.extend(next(self._pieces))
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ask for no more."""
        self._here.clear()
        self._pieces.close()


class _Doer:
    """Does the steps of one flow; holds the answer that it has open."""

    def __init__(self, http: httpx.Client, given: Iterable[Any] = ()) -> None:
        if http.is_closed:
            raise InputError("this client is closed; make another")
        self._http, self._given = http, iter(given)
        self._open: _Opened | None = None

    def do(self, step: Step) -> Any:
        """What comes of a step."""
        match step:
            case Take():
                return next(self._given, END)
            case Wait(seconds):
                return time.sleep(seconds)
            case Send(request):
                return self._send(request)
            case Open(request):
                return self._begin(request)
            case More():
                return self._more()

    def close(self) -> None:
        """Give back the connection of what is open."""
        if self._open is not None:
            self._open.response.close()

    def _send(self, request: Request) -> Answer | TamisError:
        try:
            response = self._http.request(**arguments(request, self._http.timeout))
        except BAD as bad:
            return broken(bad, request)
        return answer_of(response, response.content)

    def _begin(self, request: Request) -> Answer | TamisError:
        self.close()
        try:
            asked = self._http.build_request(**arguments(request, self._http.timeout))
            response = self._http.send(asked, stream=True)
            self._open = _Opened(response, response.iter_bytes(), request)
            return answer_of(response, b"" if response.status_code in WELL else response.read())
        except BAD as bad:
            return broken(bad, request)

    def _more(self) -> bytes | TamisError:
        assert self._open is not None  # a flow opens before it reads
        try:
            return next(self._open.content, b"")
        except BAD as bad:
            return broken(bad, self._open.request)


class _Opened(NamedTuple):
    response: httpx.Response
    content: Iterator[bytes]
    request: Request
