"""The stream of matches is ordered, complete after reconnects and slow reads, and limited to the owner."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from tamis.limits import Limits
from tamis.service import stream
from tests.service.letters import numbers
from tests.service.service import Caller, Running, file_url, problem, running
from tests.waiting import eventually

PATH = "/v1/stream"


class Reader:
    """A reader of server-sent events, one by one."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def block(self) -> dict[str, str]:
        """Return the next block; a comment is named ``""``."""
        found: dict[str, str] = {}
        for line in self._lines:
            if not line and found:
                return found
            if line:
                name, _, value = line.partition(": " if not line.startswith(":") else ":")
                found[name] = value.strip()
        raise EOFError

    def match(self) -> dict[str, Any]:
        """Return the next event, as data."""
        while "data" not in (block := self.block()):
            pass
        data: dict[str, Any] = json.loads(block["data"])
        assert (block["id"], block["event"]) == (str(data["number"]), "match")
        return data


@contextlib.contextmanager
def reading(caller: Caller, query: str = "", **headers: str) -> Iterator[Reader]:
    with caller.http.stream("GET", PATH + query, headers=caller.headers | headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        reader = Reader(response)
        start = reader.block()
        assert (start.pop("id").isdecimal(), start) == (True, {"retry": "2000"})
        yield reader


def publish(caller: Caller, *values: int) -> None:
    text = "".join(f'{{"id": "e{n}", "attributes": {{"a": {n}}}}}\n' for n in values)
    assert caller.lines("/v1/events", text).status_code == 202


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Running]:
    with running(file_url(tmp_path)) as started:
        yield started


def test_stream_sends_matches_as_they_are_found(alone: Running) -> None:
    ann, bob = alone.caller("ann"), alone.caller("bob")
    ann("PUT", "/v1/subscriptions/s", {"expression": "a > 0"})
    bob("PUT", "/v1/subscriptions/t", {"expression": "a > 1"})
    with reading(ann) as hers, reading(bob) as his:
        body = {"id": "e", "time": "2026-11-15T08:00:00Z", "attributes": {"a": 1, "t": "x\ny"}}
        ann("POST", "/v1/events", body)
        publish(ann, 2)
        first, second = hers.match(), hers.match()
        assert first["event"] == {
            "id": "e",
            "owner": "ann",
            "time": "2026-11-15T08:00:00Z",
            "attributes": {"a": 1, "t": "x\ny"},
        }
        assert (first["subscription"], first["version"]) == ("s", 1)
        assert second["number"] > first["number"]
        assert his.match()["event"]["id"] == "e2"
    assert eventually(lambda: alone.service.open_streams.count() == 0)


def test_reconnected_stream_misses_nothing(alone: Running) -> None:
    ann = alone.caller("ann")
    ann("PUT", "/v1/subscriptions/s", {"expression": "a > 0"})
    ann("PUT", "/v1/subscriptions/t", {"expression": "a > 3"})
    with reading(ann) as reader:
        publish(ann, 1)
        seen = [reader.match()]
    publish(ann, 2, 3, 4)
    eventually(lambda: len(numbers(ann, "s")) == 4)
    with reading(ann, **{"last-event-id": str(seen[0]["number"])}) as reader:
        seen += [reader.match() for _ in range(4)]
        publish(ann, 5)
        seen += [reader.match() for _ in range(2)]
    assert [one["event"]["attributes"]["a"] for one in seen] == [1, 2, 3, 4, 4, 5, 5]
    assert [one["number"] for one in seen] == sorted({one["number"] for one in seen})
    with reading(ann, "?after=0") as reader:
        assert [reader.match()["number"] for _ in seen] == [one["number"] for one in seen]


def test_slow_reader_loses_nothing(tmp_path: Path) -> None:
    """There is room for three rows, so all others come from the store."""
    with running(file_url(tmp_path), Limits(stream_rows=3)) as run:
        ann, bob = run.caller("ann"), run.caller("bob")
        for caller in (ann, bob):
            caller("PUT", "/v1/subscriptions/s", {"expression": "a >= 0"})
        with reading(ann) as reader:
            publish(ann, *range(2_000))
            eventually(lambda: len(numbers(ann, "s")) == 1_000)
            found = [reader.match()["event"]["attributes"]["a"] for _ in range(2_000)]
            publish(ann, 9_999)
            assert reader.match()["event"]["attributes"]["a"] == 9_999
        assert found == list(range(2_000))


def test_stream_is_complete_when_its_bytes_are_bounded(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(stream_bytes=100)) as run:
        ann = run.caller("ann")
        ann("PUT", "/v1/subscriptions/s", {"expression": "a > 0"})
        with reading(ann) as reader:
            for number in range(1, 6):
                ann("POST", "/v1/events", {"attributes": {"a": number, "text": "x" * 90}})
            assert [reader.match()["event"]["attributes"]["a"] for _ in range(5)] == [1, 2, 3, 4, 5]


def test_stream_sends_matches_of_other_processes(alone: Running) -> None:
    ann = alone.caller("ann")
    rows = {"event_id": ["far", "topic/0/17"], "subscription_id": ["ann/s", "ann/t"], "version": [1, 1]}
    more = {"payload": ['{"a": 1}', "no JSON"], "score": [2.5, None]}
    with reading(ann) as reader:
        alone.store.add_matches(pa.table(rows | more), "spark", 0)
        first, second = reader.match(), reader.match()
    assert (first["event"], first["score"]) == ({"id": "far", "attributes": {"a": 1}}, 2.5)
    assert second["event"] == {"id": "topic/0/17", "attributes": "no JSON"}


def test_quiet_stream_sends_a_comment(alone: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "QUIET", 0.05)
    with reading(alone.caller("ann")) as reader:
        assert reader.block() == {"": "still here"}


def test_revoked_key_ends_its_stream(alone: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "QUIET", 0.05)
    ann = alone.caller("ann")
    ann("PUT", "/v1/subscriptions/s", {"expression": "a > 0"})
    with reading(ann) as reader:
        alone.admin("DELETE", f"/v1/keys/{ann.key.split('_')[1]}")
        publish(alone.caller("pub"), 1)
        with pytest.raises(EOFError):
            reader.match()


def test_streams_of_an_owner_are_bounded(alone: Running) -> None:
    ann = alone.caller("ann")
    alone.admin("PUT", "/v1/owners/ann", {"streams": 1})
    with reading(ann):
        refused = problem(ann("GET", PATH), 429, "rate-exceeded")
        assert refused["limit"] == "streams"
        with reading(alone.caller("bob")):
            pass
    eventually(lambda: alone.service.open_streams.count("ann") == 0)
    with reading(ann):
        pass


def test_streams_of_all_are_bounded(tmp_path: Path) -> None:
    with running(file_url(tmp_path), Limits(streams_at_once=2)) as run:
        ann, bob = run.caller("ann"), run.caller("bob")
        with reading(ann), reading(bob):
            assert problem(ann("GET", PATH), 503, "service-busy")["limit"] == "streams_at_once"


@pytest.mark.parametrize("given", ["x", "-1", "1" * 30, "1.5"])
def test_last_event_id_must_be_a_number(run: Running, ann: Caller, given: str) -> None:
    problem(ann("GET", PATH, headers={"last-event-id": given}), 400, "request-invalid")
    problem(ann("GET", PATH, params={"after": given}), 400, "request-invalid")


def test_stream_starts_now_when_last_event_id_is_in_the_future(alone: Running) -> None:
    ann = alone.caller("ann")
    ann("PUT", "/v1/subscriptions/s", {"expression": "a > 0"})
    with reading(ann, **{"last-event-id": "999999"}) as reader:
        publish(ann, 1)
        assert reader.match()["event"]["attributes"]["a"] == 1


def test_stopped_service_ends_streams(tmp_path: Path) -> None:
    with running(file_url(tmp_path)) as run:
        ann = run.caller("ann")
        with reading(ann) as reader:
            run.service.stop()
            with pytest.raises(EOFError):
                reader.match()
        problem(ann("GET", PATH), 503, "service-busy")
