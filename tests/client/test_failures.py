"""Client behaviour when the service or the network fails, over connections that really break."""

from __future__ import annotations

import functools
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from tamis.client import async_runner, core, retry, sync_runner
from tamis.contract import retry_after
from tamis.errors import (
    AnswerInvalid,
    AnswerLost,
    InternalError,
    KeyInvalid,
    RateExceeded,
    ServiceBusy,
    ServiceError,
    ServiceUnreachable,
    StoreUnavailable,
)
from tests.client.between import Between, between, cut, dropped, hanging, problem, saying
from tests.client.conftest import Make

HEALTH = {"status": "ok", "version": "1"}


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the client's pauses, which take no time; only they advance the clock of the retry budget."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(sync_runner, "time", SimpleNamespace(sleep=pauses.append))
    monkeypatch.setattr(async_runner, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(core, "RetryBudget", functools.partial(retry.RetryBudget, clock=lambda: sum(pauses)))
    return pauses


# -- retries -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "act",
    [
        dropped,
        cut,
        problem(503, "service-busy"),
        problem(503, "store-unavailable"),
        problem(429, "rate-exceeded"),
        problem(408, "request-timeout"),
        saying(502, b"<html>", content_type="text/html"),
        saying(503, b""),
        saying(504, b""),
        saying(429, b""),
    ],
    ids=["dropped", "cut", "busy", "store", "rate", "slow", "502", "503", "504", "429"],
)
def test_request_is_retried_after_a_transient_failure(far: Any, way: Between, act: Any) -> None:
    way.script += [act, act]
    assert far.status().lag >= 0
    assert len(way.seen) == 3


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (problem(500, "internal-error"), InternalError),
        (problem(401, "key-invalid"), KeyInvalid),
        (problem(418, "made-up"), ServiceError),
        (saying(200, b"<html>", content_type="text/html"), AnswerInvalid),
        (saying(200, {"version": 1}, content_type="application/json"), AnswerInvalid),
        (saying(200, b'{"status": "ok\xff"}'), AnswerInvalid),
        (saying(404, b"not here"), AnswerInvalid),
        (saying(301, b"", location="https://elsewhere.example/"), AnswerInvalid),
        (saying(400, b"{", content_type="application/problem+json"), AnswerInvalid),
        (saying(400, b"[]", content_type="application/problem+json"), AnswerInvalid),
    ],
    ids=["defect", "key", "unknown", "html", "shape", "utf8", "404", "moved", "torn", "list"],
)
def test_permanent_failure_is_raised_without_a_retry(
    make: Make, alone: Between, act: Any, kind: type[ServiceError]
) -> None:
    alone.script.append(act)
    with pytest.raises(ServiceError) as refused:
        make(alone.url, "tamis_a_b").health()
    assert type(refused.value) is kind
    assert len(alone.seen) == 1


def test_unknown_error_code_is_kept(make: Make, alone: Between) -> None:
    alone.script.append(problem(418, "made-up", limit="tea"))
    with pytest.raises(ServiceError) as refused:
        make(alone.url).health()
    assert refused.value.as_dict() == {"code": "made-up", "message": "no", "limit": "tea", "request_id": "r1"}


def test_redirect_is_not_followed_with_the_key(make: Make, alone: Between) -> None:
    with between() as elsewhere:
        alone.script.append(saying(307, b"", location=elsewhere.url))
        with pytest.raises(AnswerInvalid, match="points to"):
            make(alone.url, "tamis_a_b").status()
        assert elsewhere.seen == []


def test_retries_end_when_retry_for_is_spent(make: Make, alone: Between, slept: list[float]) -> None:
    alone.script += [problem(503, "store-unavailable")] * 50
    with pytest.raises(StoreUnavailable) as refused:
        make(alone.url, retry_for=0.6).health()
    assert sum(slept) <= 0.6
    assert refused.value.details["attempts"] == len(alone.seen) > 2


def test_request_is_not_retried_when_retry_for_is_zero(make: Make, alone: Between) -> None:
    alone.script += [dropped, dropped]
    with pytest.raises(AnswerLost) as refused:
        make(alone.url, retry_for=0).health()
    assert "attempts" not in refused.value.details
    assert len(alone.seen) == 1


def test_retry_after_is_respected(
    make: Make, alone: Between, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime(2026, 11, 15, tzinfo=UTC)
    monkeypatch.setattr(retry_after, "datetime", SimpleNamespace(now=lambda _zone: moment))
    at = format_datetime(moment + timedelta(seconds=2), usegmt=True)
    alone.script += [
        problem(429, "rate-exceeded", retry_after=1),
        saying(503, b"", retry_after=at),
        saying(503, b"", retry_after="soon"),
        saying(200, HEALTH),
    ]
    assert make(alone.url).health().version == "1"
    asked = zip(slept, (1, 2, 0), (retry.FIRST * 2**at for at in range(3)), strict=True)
    assert all(said < pause <= said + longest for pause, said, longest in asked), slept


def test_error_is_raised_when_retry_after_exceeds_retry_for(make: Make, alone: Between) -> None:
    alone.script += [problem(429, "rate-exceeded", retry_after=3600)]
    with pytest.raises(RateExceeded) as refused:
        make(alone.url).health()
    assert refused.value.details["retry_after"] == 3600
    assert len(alone.seen) == 1


def test_pauses_grow_with_jitter() -> None:
    error, clock = ServiceBusy("x"), lambda: 0.0
    runs = [
        [patient.pause(error) for _ in range(8)]
        for patient in (retry.RetryBudget(9, clock) for _ in range(20))
    ]
    for run in runs:
        for at, wait in enumerate(run):
            longest = min(retry.LONGEST, retry.FIRST * 2**at)
            assert longest / 2 <= wait <= longest
    assert len({run[0] for run in runs}) > 10


# -- no response -------------------------------------------------------------------------------------------


def test_connection_refused_is_raised_as_a_typed_error(make: Make) -> None:
    with socket.socket() as bound:  # the port stays bound, and nothing listens on it
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        for ask in (lambda one: one.health(), lambda one: list(one.export()), lambda one: next(one.stream())):
            with pytest.raises(ServiceUnreachable, match="no service answers"):
                ask(make(url, retry_for=0.2))


def test_timeout_is_raised_when_the_service_hangs(make: Make, alone: Between) -> None:
    alone.script += [hanging, hanging]
    with pytest.raises(AnswerLost) as refused:
        make(alone.url, timeout=1, retry_for=0).health()
    assert isinstance(refused.value.__cause__, Exception)


def test_ready_returns_the_reasons_when_the_service_is_not_ready(make: Make, alone: Between) -> None:
    alone.script.append(saying(503, {"ready": False, "reasons": ["the store does not answer"]}))
    found = make(alone.url).ready()
    assert not found
    assert found.reasons == ["the store does not answer"]


def test_private_certificate_authority_is_trusted_when_given(make: Make, alone: Between) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    alone.socket = context.wrap_socket(alone.socket, server_side=True)
    alone.script.append(saying(200, HEALTH))
    url = alone.url.replace("http:", "https:")
    with pytest.raises(AnswerInvalid, match="trusted"):
        make(url).health()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    assert make(url, tls=trusting).health().version == "1"
