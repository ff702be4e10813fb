"""Defines ``tamis.Client``, whose methods block until they have a result."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Concatenate, ParamSpec, Self, TypeVar, overload

import httpx

from tamis.client import calls
from tamis.client.calls import bulk
from tamis.client.calls.bulk import Each
from tamis.client.core import Core, Settings
from tamis.client.request_bodies import Rows
from tamis.client.results import Published, Report
from tamis.client.steps import Feed, Flow
from tamis.client.sync_runner import Items, batches, run
from tamis.client.transport import options
from tamis.client.wrappers import copy_signature
from tamis.contract.on_error import OnError
from tamis.values.event import Event, EventLike

P = ParamSpec("P")
T = TypeVar("T")


def _call(operation: Callable[Concatenate[Core, P], Flow[T]]) -> Callable[Concatenate[Client, P], T]:
    def method(self: Client, /, *args: P.args, **options: P.kwargs) -> T:
        return run(self._http, operation(self._core, *args, **options))

    copy_signature(method, operation, "{}")
    return method


def _iterate(
    operation: Callable[Concatenate[Core, P], Feed[T]],
) -> Callable[Concatenate[Client, P], Items[T]]:
    def method(self: Client, /, *args: P.args, **options: P.kwargs) -> Items[T]:
        return Items(batches(self._http, operation(self._core, *args, **options)))

    copy_signature(method, operation, "Items[{}]")
    return method


class Client:
    """A client of the service, with the names of the library: ``with tamis.Client(url, key) as client: …``

    The environment variables TAMIS_URL and TAMIS_KEY replace a missing ``url`` and ``key``. A connection
    without a byte for ``timeout`` seconds counts as broken. A call that fails with a transient error is
    retried for ``retry_for`` seconds; 0 means no retry. ``tls`` is for private certificates. Threads may
    share a client.
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
        self._http = httpx.Client(**options(timeout, tls))
        self._is_first = True

    def __repr__(self) -> str:
        return f"Client({self._core.settings.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        if self._is_first:
            self._http.close()

    def acting_for(self, owner: str) -> Client:
        """Return this client acting for another owner, for administrators (``*`` lists all owners).

        It shares the connections, which close with this client.
        """
        other = Client.__new__(Client)
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

    def import_(self, rows: Rows, *, each: Each | None = None) -> Report:
        """Create or replace many subscriptions in batches; a refused one does not stop the others.

        ``rows`` are pairs of id and expression, dictionaries with the arguments of :meth:`put`, rows from
        :meth:`export`, or a dictionary of ids and expressions. ``each`` is called with every outcome; the
        report then has only the totals.
        """
        return run(self._http, bulk.import_rows(self._core, each), bulk.rows_given(rows))

    # -- events ------------------------------------------------------------------------------------------

    @overload
    def publish(
        self, event: EventLike, *, id: str | None = None, time: datetime | None = None
    ) -> Published: ...

    @overload
    def publish(
        self, event: Iterable[EventLike], *, each: Each | None = None, on_error: OnError = "report"
    ) -> Report: ...

    def publish(
        self,
        event: EventLike | Iterable[EventLike],
        *,
        id: str | None = None,
        time: datetime | None = None,
        each: Each | None = None,
        on_error: OnError = "report",
    ) -> Published | Report:
        """Publish one event, or many in batches; they are stored when this returns.

        Among many events, a refused one does not stop the others. ``each`` is called with every outcome; the
        report then has only the totals. ``on_error="report"`` gives one warning with the number of refused
        events, ``"raise"`` stops at the first, and ``"skip"`` only counts them.
        """
        if isinstance(event, Event | Mapping):
            return run(self._http, calls.events.publish(self._core, event, id=id, time=time))
        return run(
            self._http, bulk.publish_many(self._core, each, on_error), bulk.events_given(event, id, time)
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
