"""A stream resumes at its last event after any failure of its connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import tamis
from tamis.errors import (
    AnswerInvalid,
    KeyInvalid,
    ServiceBusy,
)
from tamis.service import stream as service_side
from tests.client import between as acts
from tests.client.between import Between, dropped, ended, hanging, problem, saying
from tests.client.conftest import Make
from tests.service.service import Running


def told(number: int) -> bytes:
    data = {"number": number, "subscription": "s", "version": 1, "at": "2026-11-15T08:00:00Z"}
    data["event"] = {"id": f"e{number}", "attributes": {"a": number}}
    return f"id: {number}\nevent: match\ndata: {json.dumps(data)}\n\n".encode()


START = b"id: 7\nretry: 10\n\n"


def test_stream_resumes_after_the_last_event(make: Make, alone: Between) -> None:
    alone.script += [
        problem(503, "service-busy"),
        acts.streaming(START, b": still here\n\n"),  # broken before the first byte
        acts.streaming(b"retry: 10\r\n\r\n", told(8), told(9)[:30]),  # broken within an event
        saying(502, b""),
        acts.streaming(told(9), told(10), then=ended),
        dropped,
        acts.streaming(told(12)[:7], told(12)[7:], then=hanging),
    ]
    with make(alone.url).stream() as stream:
        assert [next(stream).number for _ in range(4)] == [8, 9, 10, 12]
    after = [seen.headers.get("last-event-id") for seen in alone.seen]
    assert after == [None, None, "7", "8", "8", "10", "10"]
    assert {seen.path for seen in alone.seen} == {"/v1/stream"}


def test_silent_stream_is_reopened(make: Make, alone: Between) -> None:
    """Several reopenings are allowed: on a busy machine a healthy stream may be silent for as long."""
    alone.script += [acts.streaming(START, then=hanging)] + [acts.streaming(told(8), then=hanging)] * 200
    with make(alone.url).stream(read_timeout=0.3) as stream:
        assert next(stream).number == 8
    first, *again = [seen.headers.get("last-event-id") for seen in alone.seen]
    assert first is None
    assert set(again) == {"7"}


def test_stream_starts_after_the_given_number(make: Make, alone: Between) -> None:
    alone.script += [acts.streaming(told(8)), acts.streaming(told(9), then=hanging)]
    with make(alone.url).stream(after=7) as stream:
        assert [next(stream).number for _ in range(2)] == [8, 9]
    assert [seen.headers.get("last-event-id") for seen in alone.seen] == ["7", "8"]


def test_stream_raises_when_it_cannot_resume(make: Make, alone: Between) -> None:
    alone.script += [acts.streaming(START), problem(401, "key-invalid")]
    with pytest.raises(KeyInvalid):
        next(make(alone.url).stream())
    alone.script += [acts.streaming(START)] + [problem(503, "service-busy")] * 50
    with pytest.raises(ServiceBusy):
        next(make(alone.url, retry_for=0.4).stream())
    alone.script.clear()
    alone.script += [acts.streaming(b"data: {}\n\n")]
    with pytest.raises(AnswerInvalid):
        next(make(alone.url).stream())


def until(mark: bytes, run: Running, then: Callable[[], Any] = lambda: None) -> acts.Act:
    """Forward the service's response up to ``mark``, call a function, and break the connection."""

    def act(handler: acts.Handler) -> None:
        taken = b""
        with run.http.stream("GET", "/v1/stream", headers=handler.request_seen.headers) as answer:
            for piece in answer.iter_bytes():
                taken += piece
                if mark in taken:
                    break
        then()
        acts.streaming(taken)(handler)

    return act


def test_stream_is_complete_when_cut_off_around_each_event(
    far: Any, client: Any, way: Between, run: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off before the first event and after each one, the stream misses and repeats nothing."""
    monkeypatch.setattr(service_side, "RETRY", b"retry: 10\n\n")  # the service asks for two seconds
    client.add("s", "a > 0")
    with tamis.Client(str(run.http.base_url), run.admin.key) as other:
        way.script.append(until(b"\n\n", run, lambda: other.publish([{"a": 1}, {"a": 2}])))
        way.script += [until(b"data:", run)] * 3
        stream = far.stream()
        numbers = [next(stream).number]
        other.publish({"a": 3})
        numbers += [next(stream).number, next(stream).number]
        stream.close()
    assert numbers == [one.number for one in client.notifications("s")][::-1]
