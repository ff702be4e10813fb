"""Refused lines of events are reported, end the request, or are only counted, as the request asks."""

from __future__ import annotations

import json
import logging
import warnings
from typing import Any

import pytest

import tamis
from tamis.errors import EventValue, InputError, RefusedWarning
from tests.client import faces
from tests.service.service import Caller, Running, problem

LINES = b"".join(
    b'{"id": "%s", "attributes": {"x": %s}}\n' % pair
    for pair in ((b"a", b"1"), (b"b", b"1e999"), (b"c", b"1"))
)
EVENTS: list[Any] = [tamis.Event({"x": (1,)}, id="a"), {"x": float("nan")}, tamis.Event({"x": (1,)}, id="c")]


def _quarantined(run: Running) -> int:
    with run.store.database.reading() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM quarantine").scalar_one())


def test_report_lists_the_refused_line_and_logs_the_number(
    run: Running, ann: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    before = _quarantined(run)
    with caplog.at_level(logging.WARNING, "tamis"):
        answer = ann.lines("/v1/events", LINES)
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row.get("status") for row in rows[:3]] == ["accepted", "refused", "accepted"]
    assert _quarantined(run) == before + 1
    assert "1 of 3 lines of events were refused" in caplog.text


def test_raise_keeps_the_lines_before_and_ends_with_the_problem(run: Running, ann: Caller) -> None:
    found = problem(ann.lines("/v1/events?on_error=raise", LINES), 422, "event-value")
    assert (found["line"], found["lines"]) == (2, 1)
    assert found["detail"].startswith("line 2: ")
    again = ann.lines("/v1/events", LINES.splitlines()[0] + b"\n" + LINES.splitlines()[2] + b"\n")
    assert [json.loads(line).get("status") for line in again.text.splitlines()[:2]] == [
        "duplicate",
        "accepted",
    ]


def test_skip_only_counts(run: Running, ann: Caller) -> None:
    before = _quarantined(run)
    rows = [json.loads(line) for line in ann.lines("/v1/events?on_error=skip", LINES).text.splitlines()]
    assert [row.get("status") for row in rows[:-1]] == ["accepted", "accepted"]
    assert rows[-1] == {"summary": {"accepted": 2, "refused": 1}}
    assert _quarantined(run) == before


def test_unknown_on_error_value_is_refused(ann: Caller) -> None:
    problem(ann.lines("/v1/events?on_error=ignore", LINES), 400, "request-invalid")


@pytest.mark.parametrize("face", faces.FACES)
def test_client_warns_raises_or_skips(run: Running, ann: Caller, face: str) -> None:
    with faces.client(face, str(run.http.base_url), ann.key) as client:
        with pytest.warns(RefusedWarning, match="1 of 3 events were refused"):
            report = client.publish(EVENTS)
        assert [one.line for one in report.refused] == [2]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert client.publish(EVENTS, on_error="skip").counts["refused"] == 1
        with pytest.raises(EventValue) as caught:
            client.publish(EVENTS, on_error="raise")
        assert caught.value.details["line"] == 2
        with pytest.raises(InputError, match="on_error"):
            client.publish(EVENTS, on_error="ignore")
