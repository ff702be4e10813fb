"""Runs flows in an asyncio event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

import httpx

from tamis.client.core import SUCCESS
from tamis.client.steps import END, Feed, Flow, More, Open, Request, Send, ServiceResponse, Step, Take, Wait
from tamis.client.transport import TRANSPORT_ERRORS, arguments, service_response, transport_error
from tamis.errors import InputError, TamisError

T = TypeVar("T")


async def run(http: httpx.AsyncClient, flow: Flow[T], items: Any = ()) -> T:
    """Return the result of a flow; ``items`` holds the items that it takes from the caller."""
    async with contextlib.aclosing(_StepRunner(http, items)) as runner:
        with contextlib.closing(flow):
            outcome = None
            while True:
                try:
                    step = flow.send(outcome)
                except StopIteration as end:
                    result: T = end.value
                    return result
                outcome = await runner.do(step)


async def batches(http: httpx.AsyncClient, feed: Feed[T]) -> AsyncGenerator[list[T], None]:
    """Yield the lists of a feed as they arrive."""
    async with contextlib.aclosing(_StepRunner(http)) as runner:
        with contextlib.closing(feed):
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
                    outcome = await runner.do(step)


class AsyncItems(AsyncIterator[T], Generic[T]):
    """An iterator over the items of a feed.

    It connects when the first item is requested, or when it is entered as a context manager. Leaving the
    context closes the connection, which an endless stream needs.
    """

    def __init__(self, batches: AsyncGenerator[list[T], None]) -> None:
        self._batches = batches
        self._buffered: deque[T] = deque()

    async def __anext__(self) -> T:
        while not self._buffered:
            self._buffered.extend(await anext(self._batches))
        return self._buffered.popleft()

    async def __aenter__(self) -> Self:
        with contextlib.suppress(StopAsyncIteration):
            self._buffered.extend(await anext(self._batches))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection and discard buffered items."""
        self._buffered.clear()
        await self._batches.aclose()


class _StepRunner:
    """Performs the steps of one flow, and holds its open response."""

    def __init__(self, http: httpx.AsyncClient, items: Any = ()) -> None:
        if http.is_closed:
            raise InputError("this client is closed; make another")
        self._http, self._items = http, _iterated(items)
        self._open: _Opened | None = None

    async def do(self, step: Step) -> Any:
        """Perform a step and return its outcome."""
        match step:
            case Take():
                return await anext(self._items, END)
            case Wait(seconds):
                return await asyncio.sleep(seconds)
            case Send(request):
                return await self._send(request)
            case Open(request):
                return await self._begin(request)
            case More():
                return await self._more()

    async def aclose(self) -> None:
        """Close the open response."""
        if self._open is not None:
            await self._open.response.aclose()

    async def _send(self, request: Request) -> ServiceResponse | TamisError:
        try:
            response = await self._http.request(**arguments(request, self._http.timeout))
        except TRANSPORT_ERRORS as bad:
            return transport_error(bad, request)
        return service_response(response, response.content)

    async def _begin(self, request: Request) -> ServiceResponse | TamisError:
        await self.aclose()
        try:
            asked = self._http.build_request(**arguments(request, self._http.timeout))
            response = await self._http.send(asked, stream=True)
            self._open = _Opened(response, response.aiter_bytes(), request)
            return service_response(
                response, b"" if response.status_code in SUCCESS else await response.aread()
            )
        except TRANSPORT_ERRORS as bad:
            return transport_error(bad, request)

    async def _more(self) -> bytes | TamisError:
        assert self._open is not None  # a flow opens a response before it reads it
        try:
            return await anext(self._open.content, b"")
        except TRANSPORT_ERRORS as bad:
            return transport_error(bad, self._open.request)


class _Opened(NamedTuple):
    response: httpx.Response
    content: AsyncIterator[bytes]
    request: Request


async def _iterated(items: Any) -> AsyncGenerator[Any, None]:
    """Yield the items items from a synchronous or asynchronous iterable."""
    if hasattr(items, "__aiter__"):
        async for one in items:
            yield one
    else:
        for one in items:
            yield one
