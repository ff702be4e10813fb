"""Client settings: URL, key, timeouts, environment variables and connection reuse."""

from __future__ import annotations

from typing import Any

import pytest

import tamis
from tamis.errors import (
    EventConflict,
    InputError,
)
from tests.client.between import Between, saying
from tests.client.conftest import Make

HEALTH = {"status": "ok", "version": "1"}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://x",
        "http://",
        "http://u:p@x",
        "http://x:99999",
        "http://x/?a=1",
        "http://[x",
    ],
)
def test_invalid_url_is_refused(make: Make, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAMIS_URL", raising=False)
    with pytest.raises(InputError) as refused:
        make(url or None, "tamis_a_b")
    assert "p@" not in str(refused.value)


@pytest.mark.parametrize("key", ["a b", "a\nb", "ä", ""])
def test_invalid_key_is_refused(make: Make, key: str, alone: Between) -> None:
    if key:
        with pytest.raises(InputError) as refused:
            make(alone.url, key)
        assert key not in str(refused.value)
    else:
        alone.script.append(saying(200, HEALTH))
        make(alone.url, key).health()
        assert "authorization" not in alone.seen[0].headers


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_invalid_timeout_is_refused(make: Make, timeout: float) -> None:
    with pytest.raises(InputError):
        make("http://x", timeout=timeout)


@pytest.mark.parametrize("retry_for", [-1, float("nan")])
def test_retry_for_is_refused_when_negative_or_nan(make: Make, retry_for: float) -> None:
    with pytest.raises(InputError):
        make("http://x", retry_for=retry_for)


def test_url_is_refused_at_the_request_when_it_holds_control_characters(make: Make) -> None:
    client = make("http://x\x01y")
    with pytest.raises(InputError):
        client.health()
    with pytest.raises(InputError):
        list(client.export())


def test_settings_are_read_from_the_environment(
    make: Make, alone: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAMIS_URL", f"{alone.url}/base/")
    monkeypatch.setenv("TAMIS_KEY", "tamis_a_secret")
    alone.script += [saying(200, HEALTH)]
    client = make(None, None)
    client.health()
    assert alone.seen[0].path == "/base/healthz"
    assert alone.seen[0].headers["authorization"] == "Bearer tamis_a_secret"
    assert alone.seen[0].headers["user-agent"] == f"tamis/{tamis.__version__}"
    assert "secret" not in repr(client)


def test_closed_client_refuses_requests(make: Make, alone: Between) -> None:
    client = make(alone.url)
    client.close()
    with pytest.raises(InputError, match="closed"):
        client.health()
    with pytest.raises(InputError, match="closed"):
        list(client.keys())


def test_connections_are_reused(far: Any, way: Between) -> None:
    accepted = 0
    accept = way.get_request

    def counting() -> Any:
        nonlocal accepted
        accepted += 1
        return accept()

    way.get_request = counting  # type: ignore[method-assign]
    for _ in range(5):
        far.health()
    assert accepted == 1


def test_conflict_is_raised_without_a_retry(far: Any, way: Between) -> None:
    far.publish({"a": 1}, id="e")
    with pytest.raises(EventConflict):
        far.publish({"a": 2}, id="e")
    assert len(way.seen) == 2
