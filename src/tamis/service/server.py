"""The server: a socket, uvicorn, and an orderly end.

A signal to stop ends the streams and refuses long work; what was begun is answered; only then the rest of
the process is taken down, by whoever called :func:`serve`.
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
from tamis.service.protocol import bounded_by
from tamis.service.service import Service

ANY = "0.0.0.0"  # every address of this machine
BACKLOG = 2_048
GRACE = 30  # seconds that what was begun may take when the service stops
KEEP_ALIVE = 75  # seconds that a quiet connection stays open


def allow_connections() -> None:
    """As many open files as the system lets us have: a connection is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def listen(host: str, port: int) -> socket.socket:
    """Return a socket to serve on; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as refused:  # the latter for what can be no name of a host
        why = getattr(refused, "strerror", None) or refused
        remedy = "choose another --port" if _is_taken(refused) else f"choose another --host, such as {ANY}"
        raise InputError(f"cannot listen on {host} port {port}: {why}; {remedy}") from None


def _is_taken(refused: Exception) -> bool:
    """Return whether it is the port that cannot be had, and not the address."""
    return isinstance(refused, OSError) and refused.errno in (errno.EADDRINUSE, errno.EACCES)


def address_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    shown = {ANY: "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def serve(service: Service, listening: socket.socket, started: Callable[[], None]) -> None:
    """Serve until the process is told to stop (SIGTERM, SIGINT)."""
    config = config_of(service)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(_Server(config), service, listening, started))


def config_of(service: Service) -> uvicorn.Config:
    """Return how uvicorn serves it."""
    return uvicorn.Config(
        make_app(service),
        http=bounded_by(service.limits),
        log_config=None,
        access_log=False,  # the gate writes one
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
    loop.call_soon(started)  # connections wait in the backlog from now on
    await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Leaves signals to us: uvicorn sends them again at the end, and the process would not exit with 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
