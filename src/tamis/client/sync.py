"""``tamis.Client``: the operations as methods that return when they are done."""

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
from tamis.client.results import Published, Report
from tamis.client.steps import Feed, Flow
from tamis.client.sync_runner import Items, pieces, run
from tamis.client.transport import options
from tamis.client.wrappers import dressed
from tamis.client.writing import Rows
from tamis.contract.on_error import OnError
from tamis.values.event import Event, EventLike

P = ParamSpec("P")
T = TypeVar("T")


def _now(operation: Callable[Concatenate[Core, P], Flow[T]]) -> Callable[Concatenate[Client, P], T]:
    def method(self: Client, /, *given: P.args, **named: P.kwargs) -> T:
        return run(self._http, operation(self._core, *given, **named))

    dressed(method, operation, "{}")
    return method


def _each(operation: Callable[Concatenate[Core, P], Feed[T]]) -> Callable[Concatenate[Client, P], Items[T]]:
    def method(self: Client, /, *given: P.args, **named: P.kwargs) -> Items[T]:
        return Items(pieces(self._http, operation(self._core, *given, **named)))

    dressed(method, operation, "Items[{}]")
    return method


class Client:
    """The service, with the names of the library: ``with tamis.Client(url, key) as client: …``

    ``url`` and ``key`` may stand in the environment, as TAMIS_URL and TAMIS_KEY. ``timeout`` is how many
    seconds pass without a byte until a connection counts as broken, ``patience`` for how many seconds a
    call is repeated that failed in passing; 0: never. ``tls``: for certificates of one's own. Threads may
    share a client.
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
        """For administrators: the same client, for what belongs to another owner (``*``: list everybody's).

        It shares the connections, and ends with the first one.
        """
        other = Client.__new__(Client)
        other._core, other._http, other._is_first = self._core.acting_for(owner), self._http, False
        return other

    # -- subscriptions -----------------------------------------------------------------------------------

    add = _now(calls.subscriptions.add)
    put = _now(calls.subscriptions.put)
    update = _now(calls.subscriptions.update)
    remove = _now(calls.subscriptions.remove)
    pause = _now(calls.subscriptions.pause)
    resume = _now(calls.subscriptions.resume)
    subscription = _now(calls.subscriptions.subscription)
    subscriptions = _each(calls.subscriptions.subscriptions)
    validate = _now(calls.subscriptions.validate)
    export = _each(calls.subscriptions.export)

    def import_(self, rows: Rows, *, each: Each | None = None) -> Report:
        """Make or replace many subscriptions, some at a time; one that is refused stops no other.

        ``rows`` are pairs of id and expression, dictionaries with the arguments of :meth:`put`, what
        :meth:`export` gives, or ids with their expressions. ``each`` is told what became of every one; the
        report then has only the sums.
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
        """Publish an event, or many, some at a time: they are kept when this returns.

        Of many, one that is refused stops no other. ``each`` is told what became of every one; the report
        then has only the sums. ``on_error="report"`` gives one warning with the number of those refused,
        ``"raise"`` ends at the first, and ``"skip"`` counts them.
        """
        if isinstance(event, Event | Mapping):
            return run(self._http, calls.events.publish(self._core, event, id=id, time=time))
        return run(
            self._http, bulk.publish_many(self._core, each, on_error), bulk.events_given(event, id, time)
        )

    match = _now(calls.events.match)
    top_k = _now(calls.events.top_k)
    explain = _now(calls.events.explain)
    stream = _each(calls.events.stream)

    # -- notifications -----------------------------------------------------------------------------------

    notifications = _each(calls.notifications.notifications)
    replay = _now(calls.notifications.replay)
    dead_letters = _each(calls.notifications.dead_letters)
    retry = _now(calls.notifications.retry)
    retry_all = _now(calls.notifications.retry_all)

    # -- the service, and who may what -------------------------------------------------------------------

    health = _now(calls.admin.health)
    ready = _now(calls.admin.ready)
    status = _now(calls.admin.status)
    create_key = _now(calls.admin.create_key)
    keys = _each(calls.admin.keys)
    revoke_key = _now(calls.admin.revoke_key)
    owner = _now(calls.admin.owner)
    set_quotas = _now(calls.admin.set_quotas)
    quarantine = _each(calls.admin.quarantine)
