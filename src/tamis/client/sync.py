"""``tamis.Client``: runs flows in the calling thread."""

from __future__ import annotations

import contextlib
import ssl
import time as clock
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
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
from tamis.client.writing import Rows
from tamis.errors import InputError, TamisError
from tamis.model.event import Event, EventLike

P = ParamSpec("P")
T = TypeVar("T")


def _now(operation: Callable[Concatenate[Core, P], Flow[T]]) -> Callable[Concatenate[Client, P], T]:
    def method(self: Client, /, *given: P.args, **named: P.kwargs) -> T:
        return self._run(operation(self._core, *given, **named))

    dressed(method, operation, "{}")
    return method


def _each(operation: Callable[Concatenate[Core, P], Feed[T]]) -> Callable[Concatenate[Client, P], Items[T]]:
    def method(self: Client, /, *given: P.args, **named: P.kwargs) -> Items[T]:
        return Items(self._pieces(operation(self._core, *given, **named)))

    dressed(method, operation, "Items[{}]")
    return method


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
        return self._run(bulk.import_rows(self._core, each), bulk.rows_given(rows))

    # -- events ------------------------------------------------------------------------------------------

    @overload
    def publish(
        self, event: EventLike, *, id: str | None = None, time: datetime | None = None
    ) -> Published: ...

    @overload
    def publish(self, event: Iterable[EventLike], *, each: Each | None = None) -> Report: ...

    def publish(
        self,
        event: EventLike | Iterable[EventLike],
        *,
        id: str | None = None,
        time: datetime | None = None,
        each: Each | None = None,
    ) -> Published | Report:
        """Publish an event, or many, some at a time: they are kept when this returns.

        Of many, one that is refused stops no other. ``each`` is told what became of every one; the report
        then has only the sums.
        """
        if isinstance(event, Event | Mapping):
            return self._run(calls.events.publish(self._core, event, id=id, time=time))
        return self._run(bulk.publish_many(self._core, each), bulk.events_given(event, id, time))

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

    # -- how ---------------------------------------------------------------------------------------------

    def _run(self, flow: Flow[T], given: Iterable[Any] = ()) -> T:
        with contextlib.closing(_Doer(self._http, given)) as doer, contextlib.closing(flow):
            came = None
            while True:
                try:
                    step = flow.send(came)
                except StopIteration as end:
                    result: T = end.value
                    return result
                came = doer.do(step)

    def _pieces(self, feed: Feed[T]) -> Generator[list[T], None, None]:
        with contextlib.closing(_Doer(self._http)) as doer, contextlib.closing(feed):
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
                return clock.sleep(seconds)
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
        asked = self._http.build_request(**arguments(request, self._http.timeout))
        try:
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
