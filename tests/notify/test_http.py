"""Calls to a real receiver that is slow, dead, far too talkative, or an impostor."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from tamis.contract import retry_after
from tamis.contract.addresses import read_networks
from tamis.errors import SendFailed, SendRefused
from tamis.limits import Limits
from tamis.notify.http import GuardedHttpClient, HttpResult, HttpRules
from tamis.notify.transports.webhook import raise_unless_accepted
from tests.notify.receiver import answer, receiving
from tests.waiting import PATIENCE

HERE = read_networks(["127.0.0.0/8"])
Make = Callable[..., GuardedHttpClient]


@pytest.fixture
def calling() -> Iterator[Make]:
    made: list[GuardedHttpClient] = []

    def make(limits: Limits | None = None, resolve: Any = None, **rules: Any) -> GuardedHttpClient:
        chosen = HttpRules(
            **({"allowed": HERE, "connect_seconds": PATIENCE, "total_seconds": PATIENCE} | rules)
        )
        made.append(GuardedHttpClient(chosen, limits or Limits(), resolve))
        return made[-1]

    yield make
    for caller in made:
        caller.close()


def test_request_arrives_as_sent(calling: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with receiving() as receiver:
        caller = calling(resolve=lambda host, port: ["127.0.0.1"])
        url = f"http://hooks.example:{receiver.port}/a/b?c=d"
        assert caller.post(url, b'{"x":1}', {"X-One": "1"}) == HttpResult(204, None)
        assert caller.post(f"http://hooks.example:{receiver.port}", b"", {}).status == 204
    first, second = receiver.calls
    assert (first.path, first.body, second.path) == ("/a/b?c=d", b'{"x":1}', "/")
    assert first.headers["host"] == f"hooks.example:{receiver.port}"
    assert first.headers["x-one"] == "1"
    assert first.headers["user-agent"].startswith("tamis/")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (200, None), (204, None), (299, None),
        (301, SendRefused), (302, SendRefused), (307, SendRefused), (308, SendRefused), (304, SendRefused),
        (400, SendRefused), (410, SendRefused), (413, SendRefused), (422, SendRefused),
        (401, SendFailed), (404, SendFailed), (408, SendFailed), (429, SendFailed),
        (500, SendFailed), (502, SendFailed), (503, SendFailed), (599, SendFailed),
    ],
)  # fmt: skip
def test_status_decides_the_outcome(calling: Make, status: int, error: type[Exception] | None) -> None:
    with receiving(answer(status, {"Location": "http://127.0.0.1:1/"})) as receiver:
        got = calling().post(receiver.url, b"", {})
        assert got.status == status
        if error is None:
            raise_unless_accepted(got)
        else:
            with pytest.raises(error, match=str(status)):
                raise_unless_accepted(got)
        assert len(receiver.calls) == 1  # no redirect is followed, and no request is repeated


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        ("120", 120, 120),
        ("0", 0, 0),
        ("date", 60, 60),
        ("past", 0, 0),
        ("soon", None, None),
        ("-5", None, None),
    ],
)
def test_retry_after_is_read(
    calling: Make, header: str, low: float | None, high: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime(2026, 11, 15, tzinfo=UTC)
    monkeypatch.setattr(retry_after, "datetime", SimpleNamespace(now=lambda _zone: moment))
    dates = {"date": formatdate(moment.timestamp() + 60, usegmt=True), "past": formatdate(0, usegmt=True)}
    busy = answer(429, {"Retry-After": dates.get(header, header)})
    with receiving(busy) as receiver, pytest.raises(SendFailed) as failed:
        raise_unless_accepted(calling().post(receiver.url, b"", {}))
    if low is None or high is None:
        assert failed.value.retry_after is None
    else:
        assert low <= failed.value.retry_after <= high


def test_connection_refused_is_reported(calling: Make) -> None:
    with socket.socket() as bound:  # the port stays bound, and nothing listens on it
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        with pytest.raises(SendFailed, match=f"http://127.0.0.1:{port} failed"):
            calling().post(f"http://127.0.0.1:{port}/", b"", {})
    with pytest.raises(SendFailed, match="cannot be found"):
        calling().post("http://nowhere.invalid/", b"", {})


def test_name_lookup_times_out(calling: Make) -> None:
    gate = threading.Event()

    def slow(host: str, port: int) -> list[str]:
        gate.wait(PATIENCE)
        return ["127.0.0.1"]

    with pytest.raises(SendFailed, match=r"was not found within 0.1 s"):
        calling(resolve=slow, connect_seconds=0.1).post("http://slow.example/", b"", {})
    gate.set()


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte from time to time, so that no single read waits long."""
    with contextlib.suppress(OSError):  # until the caller leaves
        while True:
            handler.wfile.write(b"H")
            handler.wfile.flush()
            time.sleep(0.05)


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Accept the request and send nothing until the caller leaves."""
    handler.connection.recv(1)


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Send interim responses forever."""
    while True:
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def headers_without_end(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.flush_headers()
    for number in range(100_000):
        handler.wfile.write(b"X-%d: %s\r\n" % (number, b"x" * 1_000))


def gibberish(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")


def hanging_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "behave",
    [dripping, silent, endless, headers_without_end, gibberish, hanging_up],
    ids=lambda f: f.__name__,
)
def test_call_ends_when_the_receiver_never_does(calling: Make, behave: Any) -> None:
    """No receiver ends the connection by itself, so a call that returns has closed it."""
    with receiving(behave) as receiver, pytest.raises(SendFailed):
        calling(total_seconds=0.4).post(receiver.url, b"x" * 1_000, {})


def test_huge_response_body_is_not_read(calling: Make) -> None:
    def huge(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:  # until the caller leaves
            handler.wfile.write(b"x" * 1_000_000)

    with receiving(huge) as receiver:
        assert calling().post(receiver.url, b"", {}).status == 200


def test_response_head_is_bounded(calling: Make) -> None:
    head = b"HTTP/1.0 200 OK\r\nA: %s\r\n\r\n"

    def sized(size: int) -> Any:
        return lambda handler: handler.wfile.write(head % (b"x" * (size - len(head) + 2)))

    for size in (999, 1_000):
        with receiving(sized(size)) as receiver:
            assert calling(Limits(answer_bytes=1_000)).post(receiver.url, b"", {}).status == 200
    with receiving(sized(1_001)) as receiver, pytest.raises(SendFailed, match="answer_bytes"):
        calling(Limits(answer_bytes=1_000)).post(receiver.url, b"", {})


def test_header_injection_is_refused(calling: Make) -> None:
    with receiving() as receiver:
        for name, value in (("X-A", "1\r\nX-B: 2"), ("X-A", "1\n"), ("X A\r\n", "1")):
            with pytest.raises(ValueError, match="header"):
                calling().post(receiver.url, b"", {name: value})
        assert receiver.calls == []


# -- https ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Any) -> str:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return str(tmp_path / "ca.pem")


def tls_for(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def test_https_connects_to_the_checked_address_with_the_host_name(
    calling: Make, authority: trustme.CA, ca_file: str
) -> None:
    caller = calling(ca_file=ca_file, resolve=lambda host, port: ["127.0.0.1"])
    context, asked = tls_for(authority, "hooks.example"), []
    context.sni_callback = lambda _, name, __: asked.append(name)
    with receiving(tls=context) as receiver:
        assert caller.post(f"https://hooks.example:{receiver.port}/", b"", {}).status == 204
        with pytest.raises(SendFailed, match="CERTIFICATE_VERIFY_FAILED"):
            caller.post(f"https://other.example:{receiver.port}/", b"", {})
        with pytest.raises(SendFailed, match="CERTIFICATE_VERIFY_FAILED"):  # the system does not know this CA
            calling(resolve=lambda host, port: ["127.0.0.1"]).post(
                f"https://hooks.example:{receiver.port}/", b"", {}
            )
    assert asked[:2] == ["hooks.example", "other.example"]
    assert len(receiver.calls) == 1
