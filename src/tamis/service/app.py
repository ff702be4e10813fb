"""Builds the ASGI application from all operations and the console's pages, behind the request middleware."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from tamis.errors import MethodUnknown, RouteUnknown
from tamis.service import admin, bulk, events, health, match, notifications, openapi, stream, subscriptions
from tamis.service.bodies import JSON
from tamis.service.console_files import ConsoleFiles
from tamis.service.middleware import RequestMiddleware
from tamis.service.operation import Endpoint, Operation
from tamis.service.service import Service

# A path with fixed words must come before a path with a placeholder in the same position.
OPERATIONS: tuple[Operation, ...] = (
    *bulk.OPERATIONS,
    *match.OPERATIONS,
    *subscriptions.OPERATIONS,
    *notifications.OPERATIONS,
    *events.OPERATIONS,
    *stream.OPERATIONS,
    *admin.OPERATIONS,
    *health.OPERATIONS,
)
OPENAPI = "/openapi.json"

Answering = Callable[[Request], Awaitable[Response]]


def make_app(service: Service) -> ASGIApp:
    """Return the service as an ASGI application, which starts and stops the service's background tasks."""

    @contextlib.asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        async with service.running():
            yield

    by_path: dict[str, dict[str, Answering]] = {OPENAPI: {"GET": _Description()}}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = Endpoint(service, operation)
    paths = {path: _Methods(path, methods) for path, methods in by_path.items()}
    routes = [Route(path, methods) for path, methods in paths.items() if "{" in path]
    routes.append(Route("/{name:path}", _Methods("pages", {"GET": ConsoleFiles()})))
    return RequestMiddleware(_Routes(paths, _router(routes, lifespan)), service)


def _router(routes: list[Route], lifespan: Lifespan[Any]) -> Router:
    return Router(routes, redirect_slashes=False, default=_nothing, lifespan=lifespan)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a path that no route can match: one with a line break, or the ``*`` of ``OPTIONS *``."""
    raise RouteUnknown(f"there is nothing at {scope['path'][:100]!r}")


class _Routes:
    """A table of the paths without placeholders, and a router for the others."""

    def __init__(self, fixed: Mapping[str, ASGIApp], others: Router) -> None:
        self._fixed, self._others = fixed, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the route of the path."""
        # A route's pattern also matches before a final line break.
        if scope["type"] == "http" and "\n" in scope["path"]:
            await _nothing(scope, receive, send)
        found = self._fixed.get(scope["path"]) if scope["type"] == "http" else None
        await (found or self._others)(scope, receive, send)


class _Methods:
    """The methods of one path."""

    def __init__(self, path: str, methods: Mapping[str, Answering]) -> None:
        self._path, self._methods = path, dict(methods)
        if "GET" in methods:
            self._methods["HEAD"] = methods["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the handler of the method."""
        scope["state"]["route"] = self._path
        answer = self._methods.get(scope["method"])
        if answer is None:
            allowed = ", ".join(sorted(self._methods))
            raise MethodUnknown(f"this path knows {allowed}, not {scope['method'][:20]}", allow=allowed)
        response = await answer(Request(scope, receive))
        await (_head_of(response, send) if scope["method"] == "HEAD" else response(scope, receive, send))


async def _head_of(response: Response, send: Send) -> None:
    """Send the status and headers of a GET response, without starting a stream."""
    head = {"status": response.status_code, "headers": response.raw_headers}
    await send({"type": "http.response.start", **head})
    await send({"type": "http.response.body"})


class _Description:
    """The OpenAPI description, rendered once."""

    def __init__(self) -> None:
        self._text = msgspec.json.encode(openapi.describe(OPERATIONS))

    async def __call__(self, request: Request) -> Response:
        """Return the description."""
        return Response(self._text, headers={"cache-control": "no-cache"}, media_type=JSON)
