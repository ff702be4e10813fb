"""Lost responses neither repeat nor lose a change of a real service."""

from __future__ import annotations

from typing import Any

import pytest

from tamis.errors import (
    AnswerInvalid,
    AnswerLost,
    KeyInvalid,
    ServiceError,
    UnknownSubscription,
    VersionConflict,
)
from tests.client import between as acts
from tests.client.between import Between, dropped, ended, lost, passed, problem, saying
from tests.client.conftest import Make
from tests.service.service import Running


def test_add_creates_once_when_the_response_is_lost(far: Any, way: Between) -> None:
    way.script += [lost, lost]
    made = far.add(None, "a = 1")
    assert [one.id for one in far.subscriptions()] == [made.id]
    keys = {seen.headers["idempotency-key"] for seen in way.seen if seen.method == "POST"}
    assert len(keys) == 1
    way.script.append(lost)
    assert far.add("named", "a = 1").id == "named"  # the retry is not refused because the id exists


def test_publish_adds_each_event_once_when_responses_are_lost(far: Any, client: Any, way: Between) -> None:
    far.add("s", "a = 1")
    way.script += [lost, problem(503, "service-busy"), lost]
    assert far.publish({"a": 1}).status == "accepted"
    way.script += [lost, dropped]
    assert far.publish([{"a": 1}, {"a": 1}]).counts == {"accepted": 2}
    way.script += [lost]
    # The service cannot know that the first event with this id came from the same call.
    assert far.publish({"a": 1}, id="mine").status == "duplicate"
    with client.stream(after=0) as stream:
        told = [next(stream).event.id for _ in range(4)]
        assert client.publish({"a": 1}, id="last")
        assert next(stream).event.id == "last"  # so there were no others
    assert len(set(told)) == 4
    assert told[3] == "mine"


def test_import_is_applied_once_when_the_response_is_lost(far: Any, way: Between) -> None:
    way.script += [lost]
    assert far.import_([{"expression": "a = 1"}, {"expression": "a = 2"}]).counts == {"unchanged": 2}
    assert len(list(far.subscriptions())) == 2


def test_remove_succeeds_when_its_response_is_lost(far: Any, way: Between) -> None:
    far.add("s", "a = 1")
    way.script += [lost]
    assert far.remove("s") is None
    with pytest.raises(UnknownSubscription):
        far.remove("s")
    way.script += [problem(503, "service-busy")]
    with pytest.raises(UnknownSubscription):
        far.remove("s")  # 503: the first try removed nothing


def test_conditional_update_is_not_retried_after_a_lost_response(far: Any, way: Between) -> None:
    """A retry would conflict with the change of the first try."""
    version = far.add("s", "a = 1").version
    way.script += [lost]
    with pytest.raises(AnswerLost, match="may have been done"):
        far.update("s", "a = 2", version=version)
    now = far.subscription("s")
    assert now.expression == "a = 2"
    way.script += [problem(503, "service-busy"), problem(429, "rate-exceeded")]  # nothing was done
    assert far.update("s", "a = 3", version=now.version).expression == "a = 3"
    with pytest.raises(VersionConflict):
        far.update("s", "a = 4", version=now.version)


def test_key_is_not_created_twice(make: Make, way: Between, run: Running, owner: str) -> None:
    admin = make(way.url, run.admin.key)
    way.script += [lost]
    with pytest.raises(AnswerLost):
        admin.create_key(owner, ["publish"])
    assert len(list(admin.keys(owner))) == 1
    way.script += [lost]
    assert admin.revoke_key(next(iter(admin.keys(owner))).id) is None


# -- many --------------------------------------------------------------------------------------------------


def test_error_reports_the_lines_sent_so_far(far: Any, way: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.client.calls.bulk.BATCH_LINES", 2)
    way.script += [passed, passed, problem(401, "key-invalid")]
    with pytest.raises(KeyInvalid) as refused:
        far.publish([{"a": at} for at in range(9)])
    assert refused.value.details["lines"] == 4


REPORTS = [
    b"",
    b"{}",
    b'{"line":1,"status":"accepted","id":"x"}\n',
    b'{"summary":{"accepted":1}}\n',
    b'[]\n{"summary":{"accepted":2}}\n',
    b'{"summary":{"accepted":2}}\n{"line"',
    b'{"summary":7}\n',
]


@pytest.mark.parametrize("content", REPORTS, ids=range(len(REPORTS)))
def test_inconsistent_report_is_refused(make: Make, alone: Between, content: bytes) -> None:
    alone.script.append(saying(202, content, content_type="application/x-ndjson"))
    with pytest.raises(AnswerInvalid):
        make(alone.url).publish([{"a": 1}, {"a": 2}])


ROW = b'{"id":"a","expression":"x = 1"}\n'


def test_broken_export_raises_an_error(make: Make, alone: Between) -> None:
    client = make(alone.url)
    for act in (acts.streaming(ROW, ROW[:9]), acts.streaming(ROW, ROW[:9], then=ended)):
        alone.script += [problem(503, "service-busy"), act]
        rows = client.export()
        assert next(rows).id == "a"
        with pytest.raises(ServiceError):
            next(rows)
        assert list(rows) == []
    alone.script.append(acts.streaming(b"<html>\n"))
    with pytest.raises(AnswerInvalid):
        next(client.export())
