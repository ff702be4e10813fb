"""A POST for a stranger: one lookup, checked addresses, no redirects, no proxies, bounded in time and size.

Built on ``http.client``, since everything here is about the connection itself: it goes to the address that
was checked, while Host, SNI and the certificate are the name's. A client with a pool, proxies and redirects
would have to be talked out of each of them.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import http.client
import io
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from tamis.contract.addresses import Address, Network, check_addresses, check_written
from tamis.contract.retry_after import retry_after
from tamis.contract.webhook import PORTS
from tamis.errors import InputError, PortForbidden, SendFailed
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.version import __version__

Resolve = Callable[[str, int], list[str]]
_LOOKUPS = 32  # names that are looked up at the same time
_PORTS = re.compile(r" *([0-9]{1,5})(?:-([0-9]{1,5}))? *")


class Answer(NamedTuple):
    """What a receiver said; of its body, nobody asks."""

    status: int
    retry_after: float | None  # seconds


@dataclass(frozen=True, slots=True)
class HttpRules:
    """Where the service calls, and how long it waits."""

    allowed: tuple[Network, ...] = ()  # networks that may be called although they are not public
    ports: tuple[range, ...] = (range(80, 81), range(443, 444), range(1_024, 65_536))
    connect_seconds: float = 5.0  # for the name, and for each address
    total_seconds: float = 20.0  # for everything
    ca_file: str | None = None  # certificates to trust instead of the system's


def read_ports(text: str) -> tuple[range, ...]:
    """Ports such as ``80,443,8000-8999``."""
    parts = [_PORTS.fullmatch(part) for part in text.split(",")]
    found = tuple(range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part)
    if len(found) != len(parts) or any(not ports or ports[-1] > 65_535 for ports in found):
        raise InputError(f"ports are written such as 80,443,8000-8999, not {text[:80]!r}")
    return found


class Caller:
    """Calls URLs by the rules; safe to use from many threads."""

    def __init__(
        self, rules: HttpRules, limits: Limits = DEFAULT_LIMITS, resolve: Resolve | None = None
    ) -> None:
        self._rules = rules
        self._limits = limits
        self._resolve = resolve or _look_up
        self._tls = ssl.create_default_context(cafile=rules.ca_file)
        self._names = concurrent.futures.ThreadPoolExecutor(_LOOKUPS, "tamis-names")

    def close(self) -> None:
        """Do not wait for names that are still being looked up."""
        self._names.shutdown(wait=False, cancel_futures=True)

    def check(self, url: str) -> None:
        """Refuse a URL that says itself that it will not be called."""
        self._port(urlsplit(url))
        check_written(url, self._rules.allowed)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send ``body``; the answer, whatever it is. No answer is a :class:`SendFailed`."""
        parts = urlsplit(url)
        until = time.monotonic() + self._rules.total_seconds
        port, host = self._port(parts), str(parts.hostname)
        try:
            with self._connected(parts.scheme, host, self._addresses(host, port), port, until) as sock:
                return self._talk(sock, parts, body, headers, until)
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
        """Return a connection to the first address that takes it."""
        failure: OSError = OSError("the name has no address")
        for address in addresses:
            try:
                sock = socket.create_connection((str(address), port), self._patience(until))
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

    def _patience(self, until: float) -> float:
        return min(self._rules.connect_seconds, _left(until))

    def _talk(
        self, sock: socket.socket, parts: SplitResult, body: bytes, headers: Mapping[str, str], until: float
    ) -> Answer:
        wire = _Wire(sock, until, self._limits.answer_bytes)
        connection = http.client.HTTPConnection(str(parts.hostname))
        connection.sock = wire  # has all that is used of a socket
        connection.auto_open = 0
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        ours = {"Host": parts.netloc, "User-Agent": f"tamis/{__version__}", "Connection": "close"}
        connection.request("POST", target, body, {**ours, **headers})
        answer = connection.getresponse()
        return Answer(answer.status, retry_after(answer.getheader("Retry-After")))


class _Wire:
    """A socket on which everything together has to end by a moment, and to stay within a size."""

    def __init__(self, sock: socket.socket, until: float, most: int) -> None:
        self._sock = sock
        self._until = until
        self._most = most

    def sendall(self, data: bytes) -> None:
        """Send all of it, in time."""
        left = memoryview(data)
        while left:
            self._sock.settimeout(_left(self._until))
            left = left[self._sock.send(left) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        """What ``http.client`` reads from."""
        return io.BufferedReader(_Reader(self._sock, self._until, self._most))

    def close(self) -> None:
        """The one who opened the socket closes it."""


class _Reader(io.RawIOBase):
    def __init__(self, sock: socket.socket, until: float, most: int) -> None:
        self._sock = sock
        self._until = until
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._left:
            raise OSError("the head of the answer is longer than answer_bytes")
        self._sock.settimeout(_left(self._until))
        got = self._sock.recv_into(buffer[: self._left])
        self._left -= got
        return got


def _left(until: float) -> float:
    """Seconds until then: none left is a time-out."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    return left


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _said(bad: Exception) -> str:
    """What went wrong, in one bounded line: some of it may be the receiver's words."""
    said = "it took too long" if isinstance(bad, TimeoutError) else str(bad) or type(bad).__name__
    return " ".join(said.split())[:200]
