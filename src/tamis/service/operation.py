"""Defines operations, each a method on a path, and runs the common steps around their handlers."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tamis.contract.names import stored_name
from tamis.errors import RequestInvalid
from tamis.service import bodies
from tamis.service.access import Caller
from tamis.service.concurrency import Slot
from tamis.service.service import REQUEST_OWNER, Service
from tamis.store import registry

Handler = Callable[["Call"], Awaitable["Answer | Response"]]

_encode = msgspec.json.Encoder().encode


class Answer(NamedTuple):
    """A response as data: body, status and headers."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = {}


class Header(NamedTuple):
    """A header that an operation reads, for the OpenAPI description."""

    name: str
    about: str
    pattern: str


@dataclasses.dataclass(frozen=True)
class Stream:
    """A response that is not one JSON object, for the OpenAPI description."""

    media: str
    about: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Operation:
    """A method on a path with its scope, body, query, responses and handler."""

    method: str
    path: str
    handler: Handler
    scope: str | None  # the scope that a key needs, or None if no key is needed
    tag: str
    body: type | None = None
    media: tuple[str, ...] = (bodies.JSON,)
    reads_itself: bool = False  # the handler reads the body itself
    is_stream: bool = False  # the response stays open and takes a stream slot
    query: type | None = None
    answers: Mapping[int, type | Stream | tuple[type | Stream, ...] | None]
    headers: tuple[Header, ...] = ()
    refusals: tuple[int, ...] = ()  # further error statuses, beyond those that follow from the other fields

    @property
    def name(self) -> str:
        """The unique name of the operation."""
        return self.handler.__name__

    @property
    def about(self) -> str:
        """The docstring of the handler, which becomes the OpenAPI description."""
        return inspect.getdoc(self.handler) or ""


def operation(method: str, path: str, **spec: Any) -> Callable[[Handler], Operation]:
    """Turn a handler into an operation."""
    return lambda handler: Operation(method=method, path=path, handler=handler, **spec)


class Call:
    """One request to an operation."""

    def __init__(self, service: Service, request: Request) -> None:
        self.service, self.request = service, request
        self.caller: Caller = request.scope["state"].get("caller")
        self.query: Any = None
        self.body: Any = None

    @property
    def owner(self) -> str:
        """The owner that the request acts for."""
        return self.caller.acting_for(getattr(self.query, "owner", None))

    @property
    def page_items(self) -> int:
        """The number of items on a page: the requested one, up to the limit."""
        return int(min(self.query.limit, self.service.limits.page_items))

    def part(self, name: str) -> str:
        """Return a parameter of the path."""
        return str(self.request.path_params[name])

    @property
    def stored(self) -> str:
        """The stored id of the subscription in the path."""
        return registry.possible(stored_name(self.owner, self.part("id")))


class Endpoint:
    """Runs an operation: authenticates, limits rates, reads query and body, calls the handler, responds."""

    def __init__(self, service: Service, spec: Operation) -> None:
        self._service, self._operation = service, spec
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(spec.body or Any)

    async def __call__(self, request: Request) -> Response:
        """Return the response to a request."""
        spec = self._operation
        if spec.scope is not None:
            await self._admit(request, spec.scope)
        call = Call(self._service, request)
        if spec.query is not None:
            call.query = _query(request, spec.query)
            call.owner  # noqa: B018  (raises first if the caller may not act for this owner)
        if spec.body is not None and not spec.reads_itself:
            bodies.media_of(request.scope, spec.media)
            call.body = bodies.decoded(await bodies.read_whole(request, self._service.limits), self._decoder)
        answer = await spec.handler(call)
        return answer if isinstance(answer, Response) else respond(answer)

    async def _admit(self, request: Request, scope: str) -> None:
        caller = await self._service.access.caller(bodies.header(request.scope, b"authorization"))
        request.scope["state"]["caller"] = caller  # so that the log names the caller in every case
        REQUEST_OWNER.set(caller.owner)
        bucket = self._service.requests.of(caller.owner, caller.quotas.requests)
        bucket.check(f"{caller.owner} may ask {caller.quotas.requests} times a second; wait", "requests")
        bucket.take()
        caller.need(scope)
        request.scope["state"]["slot"] = self._acquire_slot(caller)  # the middleware releases it

    def _acquire_slot(self, caller: Caller) -> Slot:
        """Return a slot for an authenticated caller."""
        service, quotas = self._service, caller.quotas
        if self._operation.is_stream:
            return service.open_streams.acquire(caller.owner, quotas.streams)
        return service.open_requests.acquire(caller.owner, quotas.requests_at_once)


def respond(answer: Answer) -> Response:
    """Return an answer as an HTTP response."""
    if answer.body is None:
        return Response(None, answer.status, answer.headers)
    content = answer.body if isinstance(answer.body, bytes) else _encode(answer.body)
    return Response(content, answer.status, answer.headers, bodies.JSON)


def _query(request: Request, kind: type) -> Any:
    given = _parameters(request)
    found: Any = bodies.converted(given, kind, "the query")
    for name in given:
        if getattr(found, name) is None:  # msgspec reads the word "null" as None in an optional parameter
            raise RequestInvalid(f"the parameter {name} is not null; leave it out", field=name)
    return found


def _parameters(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise RequestInvalid(f"the parameter {name[:40]!r} stands twice", field=name[:40])
        found[name] = value
    return found
