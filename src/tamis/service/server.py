"""Runs the service on a socket with uvicorn, and shuts it down in order.

A stop signal ends the streams and refuses long requests; requests in progress are completed. Then the caller
of :func:`serve` takes down the rest of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from tamis.errors import InputError
from tamis.service.app import make_app
from tamis.service.protocol import protocol_with
from tamis.service.service import Service

ANY = "0.0.0.0"  # every address of this machine
BACKLOG = 2_048
GRACE = 30  # seconds for requests in progress when the service stops
KEEP_ALIVE = 75  # seconds for which an idle connection stays open


def allow_connections() -> None:
    """Raise the limit of open files to the system's maximum: each connection needs one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 chooses a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as refused:  # UnicodeError: an impossible host name
        why = getattr(refused, "strerror", None) or refused
        remedy = "choose another --port" if _is_taken(refused) else f"choose another --host, such as {ANY}"
        raise InputError(f"cannot listen on {host} port {port}: {why}; {remedy}") from None


def _is_taken(refused: Exception) -> bool:
    """Return whether the port is unavailable, rather than the address."""
    return isinstance(refused, OSError) and refused.errno in (errno.EADDRINUSE, errno.EACCES)


def address_of(listening: socket.socket) -> str:
    """Return the URL for a browser."""
    host, port = listening.getsockname()[:2]
    shown = {ANY: "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def serve(service: Service, listening: socket.socket, started: Callable[[], None]) -> None:
    """Serve until the process receives a stop signal (SIGTERM, SIGINT)."""
    config = config_of(service)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(_Server(config), service, listening, started))


def config_of(service: Service) -> uvicorn.Config:
    """Return the uvicorn configuration."""
    return uvicorn.Config(
        make_app(service),
        http=protocol_with(service.limits),
        log_config=None,
        access_log=False,  # the middleware logs requests
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )


async def _serve(
    server: _Server, service: Service, listening: socket.socket, started: Callable[[], None]
) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        service.stop()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.call_soon(started)  # connections queue in the backlog from now on
    await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """A uvicorn server without signal handlers: uvicorn raises signals again and spoils the exit status."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield
