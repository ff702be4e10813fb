"""``tamis.AsyncClient``: runs flows in an event loop of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
)
from datetime import datetime
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeVar, overload

import httpx

from tamis.client import calls
from tamis.client.calls import bulk
from tamis.client.calls.bulk import Each
from tamis.client.core import WELL, Core, Settings
from tamis.client.faces import dressed
from tamis.client.results import Published, Report
from tamis.client.steps import END, Answer, Feed, Flow, More, Open, Request, Send, Step, Take, Wait
from tamis.client.transport import BAD, answer_of, arguments, broken, options
from tamis.client.writing import RowLike, Rows
from tamis.errors import InputError, TamisError
from tamis.model.event import Event, EventLike

P = ParamSpec("P")
T = TypeVar("T")


def _later(
    operation: Callable[Concatenate[Core, P], Flow[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def method(self: AsyncClient, /, *given: P.args, **named: P.kwargs) -> T:
        return await self._run(operation(self._core, *given, **named))

    dressed(method, operation, "{}")
    return method


def _each(
    operation: Callable[Concatenate[Core, P], Feed[T]],
) -> Callable[Concatenate[AsyncClient, P], AsyncItems[T]]:
    def method(self: AsyncClient, /, *given: P.args, **named: P.kwargs) -> AsyncItems[T]:
        return AsyncItems(self._pieces(operation(self._core, *given, **named)))

    dressed(method, operation, "AsyncItems[{}]")
    return method


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


class AsyncClient:
    """:class:`~tamis.client.Client` for asyncio: ``async with tamis.AsyncClient(url, key) as client: …``

    The same methods with the same arguments; those that answer are awaited, those that give many are for
    ``async for``. What is published or imported may also be an asynchronous iterable.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._core = Core(Settings.of(url, key, patience))
        self._http = httpx.AsyncClient(**options(timeout, tls))
        self._is_first = True

    def __repr__(self) -> str:
        return f"AsyncClient({self._core.settings.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        if self._is_first:
            await self._http.aclose()

    def acting_for(self, owner: str) -> AsyncClient:
        """For administrators: the same client, for what belongs to another owner (``*``: list everybody's).

        It shares the connections, and ends with the first one.
        """
        other = AsyncClient.__new__(AsyncClient)
        other._core, other._http, other._is_first = self._core.acting_for(owner), self._http, False
        return other

    # -- subscriptions -----------------------------------------------------------------------------------

    add = _later(calls.subscriptions.add)
    put = _later(calls.subscriptions.put)
    update = _later(calls.subscriptions.update)
    remove = _later(calls.subscriptions.remove)
    pause = _later(calls.subscriptions.pause)
    resume = _later(calls.subscriptions.resume)
    subscription = _later(calls.subscriptions.subscription)
    subscriptions = _each(calls.subscriptions.subscriptions)
    validate = _later(calls.subscriptions.validate)
    export = _each(calls.subscriptions.export)

    async def import_(self, rows: Rows | AsyncIterable[RowLike], *, each: Each | None = None) -> Report:
        """Make or replace many subscriptions, some at a time; see :meth:`Client.import_`."""
        return await self._run(bulk.import_rows(self._core, each), bulk.rows_given(rows))

    # -- events ------------------------------------------------------------------------------------------

    @overload
    async def publish(
        self, event: EventLike, *, id: str | None = None, time: datetime | None = None
    ) -> Published: ...

    @overload
    async def publish(
        self, event: Iterable[EventLike] | AsyncIterable[EventLike], *, each: Each | None = None
    ) -> Report: ...

    async def publish(
        self,
        event: EventLike | Iterable[EventLike] | AsyncIterable[EventLike],
        *,
        id: str | None = None,
        time: datetime | None = None,
        each: Each | None = None,
    ) -> Published | Report:
        """Publish an event, or many, some at a time; see :meth:`Client.publish`."""
        if isinstance(event, Event | Mapping):
            return await self._run(calls.events.publish(self._core, event, id=id, time=time))
        return await self._run(bulk.publish_many(self._core, each), bulk.events_given(event, id, time))

    match = _later(calls.events.match)
    top_k = _later(calls.events.top_k)
    explain = _later(calls.events.explain)
    stream = _each(calls.events.stream)

    # -- notifications -----------------------------------------------------------------------------------

    notifications = _each(calls.notifications.notifications)
    replay = _later(calls.notifications.replay)
    dead_letters = _each(calls.notifications.dead_letters)
    retry = _later(calls.notifications.retry)
    retry_all = _later(calls.notifications.retry_all)

    # -- the service, and who may what -------------------------------------------------------------------

    health = _later(calls.admin.health)
    ready = _later(calls.admin.ready)
    status = _later(calls.admin.status)
    create_key = _later(calls.admin.create_key)
    keys = _each(calls.admin.keys)
    revoke_key = _later(calls.admin.revoke_key)
    owner = _later(calls.admin.owner)
    set_quotas = _later(calls.admin.set_quotas)
    quarantine = _each(calls.admin.quarantine)

    # -- how ---------------------------------------------------------------------------------------------

    async def _run(self, flow: Flow[T], given: Any = ()) -> T:
        async with contextlib.aclosing(_Doer(self._http, given)) as doer:
            with contextlib.closing(flow):
                came = None
                while True:
                    try:
                        step = flow.send(came)
                    except StopIteration as end:
                        result: T = end.value
                        return result
                    came = await doer.do(step)

    async def _pieces(self, feed: Feed[T]) -> AsyncGenerator[list[T], None]:
        async with contextlib.aclosing(_Doer(self._http)) as doer:
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
        asked = self._http.build_request(**arguments(request, self._http.timeout))
        try:
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
