"""``tamis.AsyncClient``: the operations as methods that are awaited."""

from __future__ import annotations

import ssl
from collections.abc import (
    AsyncIterable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
)
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

import httpx

from tamis.client import calls
from tamis.client.async_runner import AsyncItems, pieces, run
from tamis.client.calls import bulk
from tamis.client.calls.bulk import Each
from tamis.client.core import Core, Settings
from tamis.client.results import Published, Report
from tamis.client.steps import Feed, Flow
from tamis.client.transport import options
from tamis.client.wrappers import dressed
from tamis.client.writing import RowLike, Rows
from tamis.contract.on_error import OnError
from tamis.values.event import Event, EventLike

P = ParamSpec("P")
T = TypeVar("T")
_KINDS = (Iterable, AsyncIterable)


def _later(
    operation: Callable[Concatenate[Core, P], Flow[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def method(self: AsyncClient, /, *given: P.args, **named: P.kwargs) -> T:
        return await run(self._http, operation(self._core, *given, **named))

    dressed(method, operation, "{}")
    return method


def _each(
    operation: Callable[Concatenate[Core, P], Feed[T]],
) -> Callable[Concatenate[AsyncClient, P], AsyncItems[T]]:
    def method(self: AsyncClient, /, *given: P.args, **named: P.kwargs) -> AsyncItems[T]:
        return AsyncItems(pieces(self._http, operation(self._core, *given, **named)))

    dressed(method, operation, "AsyncItems[{}]")
    return method


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
        return await run(self._http, bulk.import_rows(self._core, each), bulk.rows_given(rows, _KINDS))

    # -- events ------------------------------------------------------------------------------------------

    @overload
    async def publish(
        self, event: EventLike, *, id: str | None = None, time: datetime | None = None
    ) -> Published: ...

    @overload
    async def publish(
        self,
        event: Iterable[EventLike] | AsyncIterable[EventLike],
        *,
        each: Each | None = None,
        on_error: OnError = "report",
    ) -> Report: ...

    async def publish(
        self,
        event: EventLike | Iterable[EventLike] | AsyncIterable[EventLike],
        *,
        id: str | None = None,
        time: datetime | None = None,
        each: Each | None = None,
        on_error: OnError = "report",
    ) -> Published | Report:
        """Publish an event, or many, some at a time; see :meth:`Client.publish`."""
        if isinstance(event, Event | Mapping):
            return await run(self._http, calls.events.publish(self._core, event, id=id, time=time))
        return await run(
            self._http,
            bulk.publish_many(self._core, each, on_error),
            bulk.events_given(event, id, time, _KINDS),
        )

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
