"""Runs flows in an event loop of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

import httpx

from tamis.client.core import WELL
from tamis.client.steps import END, Answer, Feed, Flow, More, Open, Request, Send, Step, Take, Wait
from tamis.client.transport import BAD, answer_of, arguments, broken
from tamis.errors import InputError, TamisError

T = TypeVar("T")


async def run(http: httpx.AsyncClient, flow: Flow[T], given: Any = ()) -> T:
    """Return the result of a flow; ``given`` is what it takes from the caller."""
    async with contextlib.aclosing(_Doer(http, given)) as doer:
        with contextlib.closing(flow):
            came = None
            while True:
                try:
                    step = flow.send(came)
                except StopIteration as end:
                    result: T = end.value
                    return result
                came = await doer.do(step)


async def pieces(http: httpx.AsyncClient, feed: Feed[T]) -> AsyncGenerator[list[T], None]:
    """What a feed gives, as it comes."""
    async with contextlib.aclosing(_Doer(http)) as doer:
        with contextlib.closing(feed):
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
                    came = await doer.do(step)


class AsyncItems(AsyncIterator[T], Generic[T]):
    """What comes piece by piece, one by one.

    It begins when the first one is asked for; as a context manager at once, and its connection is given
    back at the end, also of a stream that has none.
    """

    def __init__(self, pieces: AsyncGenerator[list[T], None]) -> None:
        self._pieces = pieces
        self._here: deque[T] = deque()

    async def __anext__(self) -> T:
        while not self._here:
            self._here.extend(await anext(self._pieces))
        return self._here.popleft()

    async def __aenter__(self) -> Self:
        with contextlib.suppress(StopAsyncIteration):
            self._here.extend(await anext(self._pieces))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ask for no more."""
        self._here.clear()
        await self._pieces.aclose()


class _Doer:
    """Does the steps of one flow; holds the answer that it has open."""

    def __init__(self, http: httpx.AsyncClient, given: Any = ()) -> None:
        if http.is_closed:
            raise InputError("this client is closed; make another")
        self._http, self._given = http, _iterated(given)
        self._open: _Opened | None = None

    async def do(self, step: Step) -> Any:
        """What comes of a step."""
        match step:
            case Take():
                return await anext(self._given, END)
            case Wait(seconds):
                return await asyncio.sleep(seconds)
            case Send(request):
                return await self._send(request)
            case Open(request):
                return await self._begin(request)
            case More():
                return await self._more()

    async def aclose(self) -> None:
        """Give back the connection of what is open."""
        if self._open is not None:
            await self._open.response.aclose()

    async def _send(self, request: Request) -> Answer | TamisError:
        try:
            response = await self._http.request(**arguments(request, self._http.timeout))
        except BAD as bad:
            return broken(bad, request)
        return answer_of(response, response.content)

    async def _begin(self, request: Request) -> Answer | TamisError:
        await self.aclose()
        try:
            asked = self._http.build_request(**arguments(request, self._http.timeout))
            response = await self._http.send(asked, stream=True)
            self._open = _Opened(response, response.aiter_bytes(), request)
            return answer_of(response, b"" if response.status_code in WELL else await response.aread())
        except BAD as bad:
            return broken(bad, request)

    async def _more(self) -> bytes | TamisError:
        assert self._open is not None  # a flow opens before it reads
        try:
            return await anext(self._open.content, b"")
        except BAD as bad:
            return broken(bad, self._open.request)


class _Opened(NamedTuple):
    response: httpx.Response
    content: AsyncIterator[bytes]
    request: Request


async def _iterated(given: Any) -> AsyncGenerator[Any, None]:
    """What is given, one by one, however it is iterated."""
    if hasattr(given, "__aiter__"):
        async for one in given:
            yield one
    else:
        for one in given:
            yield one
