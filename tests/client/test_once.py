"""Nothing is done twice and nothing is lost, though answers are: on the way to a real service."""

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


def test_a_subscription_is_made_once(far: Any, way: Between) -> None:
    way.script += [lost, lost]
    made = far.add(None, "a = 1")
    assert [one.id for one in far.subscriptions()] == [made.id]
    keys = {seen.headers["idempotency-key"] for seen in way.seen if seen.method == "POST"}
    assert len(keys) == 1
    way.script.append(lost)
    assert far.add("named", "a = 1").id == "named"  # and not that there is one already


def test_an_event_is_published_once(far: Any, client: Any, way: Between) -> None:
    far.add("s", "a = 1")
    way.script += [lost, problem(503, "service-busy"), lost]
    assert far.publish({"a": 1}).status == "accepted"
    way.script += [lost, dropped]
    assert far.publish([{"a": 1}, {"a": 1}]).counts == {"accepted": 2}
    way.script += [lost]
    assert far.publish({"a": 1}, id="mine").status == "duplicate"  # whose it was, only the caller knows
    with client.stream(after=0) as stream:
        told = [next(stream).event.id for _ in range(4)]
        assert client.publish({"a": 1}, id="last")
        assert next(stream).event.id == "last"  # so there were no more
    assert len(set(told)) == 4
    assert told[3] == "mine"


def test_an_import_is_done_once(far: Any, way: Between) -> None:
    way.script += [lost]
    assert far.import_([{"expression": "a = 1"}, {"expression": "a = 2"}]).counts == {"unchanged": 2}
    assert len(list(far.subscriptions())) == 2


def test_removed_is_removed(far: Any, way: Between) -> None:
    far.add("s", "a = 1")
    way.script += [lost]
    assert far.remove("s") is None
    with pytest.raises(UnknownSubscription):
        far.remove("s")
    way.script += [problem(503, "service-busy")]
    with pytest.raises(UnknownSubscription):
        far.remove("s")  # nobody did it meanwhile


def test_a_condition_is_not_tried_twice(far: Any, way: Between) -> None:
    """After a lost answer a second try would find its own change in the way."""
    version = far.add("s", "a = 1").version
    way.script += [lost]
    with pytest.raises(AnswerLost, match="may have been done"):
        far.update("s", "a = 2", version=version)
    now = far.subscription("s")
    assert now.expression == "a = 2"
    way.script += [problem(503, "service-busy"), problem(429, "rate-exceeded")]  # surely not done
    assert far.update("s", "a = 3", version=now.version).expression == "a = 3"
    with pytest.raises(VersionConflict):
        far.update("s", "a = 4", version=now.version)


def test_a_key_is_not_made_twice(make: Make, way: Between, run: Running, owner: str) -> None:
    admin = make(way.url, run.admin.key)
    way.script += [lost]
    with pytest.raises(AnswerLost):
        admin.create_key(owner, ["publish"])
    assert len(list(admin.keys(owner))) == 1
    way.script += [lost]
    assert admin.revoke_key(next(iter(admin.keys(owner))).id) is None


# -- many --------------------------------------------------------------------------------------------------


def test_how_far_it_came(far: Any, way: Between, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_report_that_does_not_add_up(make: Make, alone: Between, content: bytes) -> None:
    alone.script.append(saying(202, content, content_type="application/x-ndjson"))
    with pytest.raises(AnswerInvalid):
        make(alone.url).publish([{"a": 1}, {"a": 2}])


ROW = b'{"id":"a","expression":"x = 1"}\n'


def test_an_export_that_breaks_is_not_taken_for_whole(make: Make, alone: Between) -> None:
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
