"""Defines ``tamis.AsyncClient``, whose methods are awaited."""

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
from tamis.client.async_runner import AsyncItems, batches, run
from tamis.client.calls import bulk
from tamis.client.calls.bulk import Each
from tamis.client.core import Core, Settings
from tamis.client.request_bodies import RowLike, Rows
from tamis.client.results import Published, Report
from tamis.client.steps import Feed, Flow
from tamis.client.transport import options
from tamis.client.wrappers import copy_signature
from tamis.contract.on_error import OnError
from tamis.values.event import Event, EventLike

P = ParamSpec("P")
T = TypeVar("T")
_KINDS = (Iterable, AsyncIterable)


def _call(
    operation: Callable[Concatenate[Core, P], Flow[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def method(self: AsyncClient, /, *args: P.args, **options: P.kwargs) -> T:
        return await run(self._http, operation(self._core, *args, **options))

    copy_signature(method, operation, "{}")
    return method


def _iterate(
    operation: Callable[Concatenate[Core, P], Feed[T]],
) -> Callable[Concatenate[AsyncClient, P], AsyncItems[T]]:
    def method(self: AsyncClient, /, *args: P.args, **options: P.kwargs) -> AsyncItems[T]:
        return AsyncItems(batches(self._http, operation(self._core, *args, **options)))

    copy_signature(method, operation, "AsyncItems[{}]")
    return method


class AsyncClient:
    """:class:`~tamis.client.Client` for asyncio: ``async with tamis.AsyncClient(url, key) as client: …``

    It has the same methods with the same arguments. Methods with one result are awaited; methods with many
    results are used with ``async for``. ``publish`` and ``import_`` also accept asynchronous iterables.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retry_for: float = 30.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._core = Core(Settings.of(url, key, retry_for))
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
        """Return this client acting for another owner, for administrators (``*`` lists all owners).

        It shares the connections, which close with this client.
        """
        other = AsyncClient.__new__(AsyncClient)
        other._core, other._http, other._is_first = self._core.acting_for(owner), self._http, False
        return other

    # -- subscriptions -----------------------------------------------------------------------------------

    add = _call(calls.subscriptions.add)
    put = _call(calls.subscriptions.put)
    update = _call(calls.subscriptions.update)
    remove = _call(calls.subscriptions.remove)
    pause = _call(calls.subscriptions.pause)
    resume = _call(calls.subscriptions.resume)
    subscription = _call(calls.subscriptions.subscription)
    subscriptions = _iterate(calls.subscriptions.subscriptions)
    validate = _call(calls.subscriptions.validate)
    export = _iterate(calls.subscriptions.export)

    async def import_(self, rows: Rows | AsyncIterable[RowLike], *, each: Each | None = None) -> Report:
        """Create or replace many subscriptions in batches; see :meth:`Client.import_`."""
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
        """Publish one event, or many in batches; see :meth:`Client.publish`."""
        if isinstance(event, Event | Mapping):
            return await run(self._http, calls.events.publish(self._core, event, id=id, time=time))
        return await run(
            self._http,
            bulk.publish_many(self._core, each, on_error),
            bulk.events_given(event, id, time, _KINDS),
        )

    match = _call(calls.events.match)
    top_k = _call(calls.events.top_k)
    explain = _call(calls.events.explain)
    stream = _iterate(calls.events.stream)

    # -- notifications -----------------------------------------------------------------------------------

    notifications = _iterate(calls.notifications.notifications)
    replay = _call(calls.notifications.replay)
    dead_letters = _iterate(calls.notifications.dead_letters)
    retry = _call(calls.notifications.retry)
    retry_all = _call(calls.notifications.retry_all)

    # -- service, keys and owners ------------------------------------------------------------------------

    health = _call(calls.admin.health)
    ready = _call(calls.admin.ready)
    status = _call(calls.admin.status)
    create_key = _call(calls.admin.create_key)
    keys = _iterate(calls.admin.keys)
    revoke_key = _call(calls.admin.revoke_key)
    owner = _call(calls.admin.owner)
    set_quotas = _call(calls.admin.set_quotas)
    quarantine = _iterate(calls.admin.quarantine)
