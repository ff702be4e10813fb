"""Sends a POST to a user's URL: one lookup, checked addresses, no redirects or proxies, bounded.

It uses ``http.client`` to control the connection itself: it connects to the checked address, while Host, SNI
and the certificate use the host name. A client with a pool, proxies and redirects would need each of them
disabled.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import http.client
import io
import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from tamis.contract.addresses import Address, Network, check_addresses, check_literal_address
from tamis.contract.retry_after import retry_after
from tamis.contract.webhook import PORTS
from tamis.errors import InputError, PortForbidden, SendFailed
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.notify.tls import tls_context
from tamis.version import __version__

Resolve = Callable[[str, int], list[str]]
_LOOKUPS = 32  # names looked up at the same time
_PORTS = re.compile(r" *([0-9]{1,5})(?:-([0-9]{1,5}))? *")


class HttpResult(NamedTuple):
    """The status of a response; the body is ignored."""

    status: int
    retry_after: float | None  # seconds


@dataclass(frozen=True, slots=True)
class HttpRules:
    """The addresses and ports that may be called, and the timeouts."""

    allowed: tuple[Network, ...] = ()  # private networks that may be called
    ports: tuple[range, ...] = (range(80, 81), range(443, 444), range(1_024, 65_536))
    connect_seconds: float = 5.0  # for the name, and for each address
    total_seconds: float = 20.0  # for everything
    ca_file: str | None = None  # certificates to trust instead of the system's


def read_ports(text: str) -> tuple[range, ...]:
    """Return the ports in a text such as ``80,443,8000-8999``."""
    parts = [_PORTS.fullmatch(part) for part in text.split(",")]
    found = tuple(range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part)
    if len(found) != len(parts) or any(not ports or ports[-1] > 65_535 for ports in found):
        raise InputError(f"ports are written such as 80,443,8000-8999, not {text[:80]!r}")
    return found


class GuardedHttpClient:
    """Calls URLs under the rules; threads may share it."""

    def __init__(
        self, rules: HttpRules, limits: Limits = DEFAULT_LIMITS, resolve: Resolve | None = None
    ) -> None:
        self._rules = rules
        self._limits = limits
        self._resolve = resolve or _look_up
        self._tls = tls_context(rules.ca_file)
        self._names = concurrent.futures.ThreadPoolExecutor(_LOOKUPS, "tamis-names")

    def close(self) -> None:
        """Stop without waiting for pending name lookups."""
        self._names.shutdown(wait=False, cancel_futures=True)

    def check(self, url: str) -> None:
        """Raise an error for a URL that the rules exclude without a name lookup."""
        self._port(urlsplit(url))
        check_literal_address(url, self._rules.allowed)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> HttpResult:
        """Send ``body`` and return the response with any status; raise :class:`SendFailed` without one."""
        parts = urlsplit(url)
        until = time.monotonic() + self._rules.total_seconds
        port, host = self._port(parts), str(parts.hostname)
        try:
            with self._connected(parts.scheme, host, self._addresses(host, port), port, until) as sock:
                return self._exchange(sock, parts, body, headers, until)
        except (OSError, http.client.HTTPException) as bad:
            raise SendFailed(f"{parts.scheme}://{parts.netloc} failed: {_said(bad)}") from None

    def _port(self, parts: SplitResult) -> int:
        port = parts.port or PORTS[parts.scheme]
        if not any(port in ports for ports in self._rules.ports):
            raise PortForbidden(f"port {port} may not be called; the service allows others", port=port)
        return port

    def _addresses(self, host: str, port: int) -> list[Address]:
        with contextlib.suppress(ValueError):
            return check_addresses(host, [str(ip_address(host))], self._rules.allowed)
        found = self._names.submit(self._resolve, host, port)
        try:
            texts = found.result(self._rules.connect_seconds)
        except concurrent.futures.TimeoutError:
            found.cancel()
            raise SendFailed(
                f"the name {host} was not found within {self._rules.connect_seconds:g} s"
            ) from None
        except (OSError, UnicodeError) as bad:
            raise SendFailed(f"the name {host} cannot be found: {_said(bad)}") from None
        return check_addresses(host, texts, self._rules.allowed)

    def _connected(
        self, scheme: str, host: str, addresses: Sequence[Address], port: int, until: float
    ) -> socket.socket:
        """Return a connection to the first address that accepts it."""
        failure: OSError = OSError("the name has no address")
        for address in addresses:
            try:
                sock = socket.create_connection((str(address), port), self._connect_timeout(until))
            except OSError as bad:
                failure = bad
                continue
            try:
                sock.settimeout(_left(until))
                return self._tls.wrap_socket(sock, server_hostname=host) if scheme == "https" else sock
            except BaseException:
                sock.close()
                raise
        raise failure

    def _connect_timeout(self, until: float) -> float:
        return min(self._rules.connect_seconds, _left(until))

    def _exchange(
        self, sock: socket.socket, parts: SplitResult, body: bytes, headers: Mapping[str, str], until: float
    ) -> HttpResult:
        wire = _DeadlineSocket(sock, until, self._limits.answer_bytes)
        connection = http.client.HTTPConnection(str(parts.hostname))
        connection.sock = wire  # has all the methods of a socket that are used
        connection.auto_open = 0
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        ours = {"Host": parts.netloc, "User-Agent": f"tamis/{__version__}", "Connection": "close"}
        connection.request("POST", target, body, {**ours, **headers})
        answer = connection.getresponse()
        return HttpResult(answer.status, retry_after(answer.getheader("Retry-After")))


class _DeadlineSocket:
    """A socket with a deadline for all its operations together, and a limit on the size of the response."""

    def __init__(self, sock: socket.socket, until: float, most: int) -> None:
        self._sock = sock
        self._until = until
        self._most = most

    def sendall(self, data: bytes) -> None:
        """Send all of it before the deadline."""
        left = memoryview(data)
        while left:
            self._sock.settimeout(_left(self._until))
            left = left[self._sock.send(left) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the reader for ``http.client``."""
        return io.BufferedReader(_Reader(self._sock, self._until, self._most))

    def close(self) -> None:
        """Do nothing: the owner of the socket closes it."""


class _Reader(io.RawIOBase):
    def __init__(self, sock: socket.socket, until: float, most: int) -> None:
        self._sock = sock
        self._until = until
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._left:
            raise OSError("the headers of the response are longer than answer_bytes")
        self._sock.settimeout(_left(self._until))
        got = self._sock.recv_into(buffer[: self._left])
        self._left -= got
        return got


def _left(until: float) -> float:
    """Return the seconds until the deadline; raise ``TimeoutError`` if it has passed."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    return left


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _said(bad: Exception) -> str:
    """Return the error in one bounded line, since it may quote the receiver."""
    said = "it took too long" if isinstance(bad, TimeoutError) else str(bad) or type(bad).__name__
    return " ".join(said.split())[:200]
