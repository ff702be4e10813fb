"""The whole notifier against real receivers: notifications arrive although other receivers fail."""

from __future__ import annotations

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from prometheus_client import generate_latest

from tamis.notify.backoff import Backoff
from tamis.notify.breaker import BreakerRules
from tamis.notify.http import HttpRules
from tamis.notify.settings import MailServer
from tamis.notify.transports.log import LogTransport
from tamis.store import Store, events
from tamis.store.events import NewEvent
from tamis.store.tables import outbox
from tests.notify.book import MINUTE, SECOND, rows, states, subscribe, tell
from tests.notify.mailbox import mailbox
from tests.notify.receiver import answer, receiving
from tests.notify.running import Clock, Make, StillClock, hook, told_to
from tests.waiting import PATIENCE, eventually

NOON = 20_000 * 24 * 60 * MINUTE


def test_published_streamed_and_digested_events_arrive_with_their_contents(
    store: Store, notifying: Make, tmp_path: Path
) -> None:
    clock = StillClock()
    with receiving() as receiver, mailbox() as box:
        subscribe(store, "ann/hook", hook(receiver))
        subscribe(store, "ann/mail", {"transport": "email", "to": "ann@example.org"}, schedule="every minute")
        subscribe(store, "bob/file", {"transport": "file", "name": "bob.jsonl"})
        with store.database.writing() as connection:
            events.publish_all(connection, [("pub", [NewEvent("car", 7 * SECOND, '{"price":550}')])])
        matched = ("ann/hook", "ann/mail", "bob/file")
        tell(store, *(("pub/car", name) for name in matched), payload=None, at=clock())
        tell(store, *(("far/away", name) for name in matched[:2]), payload='{"price":99}', at=clock())
        mail = MailServer("127.0.0.1", box.port, security="none", seconds=PATIENCE)
        notifier = notifying(clock, mail=mail)
        assert notifier.drain(PATIENCE)
        clock.ahead = 2 * MINUTE
        assert notifier.drain(PATIENCE)
        eventually(lambda: states(store) == {"delivered": 4})
    calls = {json.loads(call.body)["data"]["id"]: json.loads(call.body) for call in receiver.calls}
    assert sorted(calls) == ["msg_1", "msg_4"]
    assert calls["msg_1"]["type"] == "tamis.match"
    assert calls["msg_1"]["data"]["subscription"] == "hook"
    assert calls["msg_1"]["data"]["events"] == [{"id": "car", "event": {"price": 550}}]
    assert calls["msg_4"]["data"]["events"] == [{"id": "far/away", "event": {"price": 99}}]
    (mail_,) = box.mails
    assert mail_["Subject"] == "2 new for mail"
    text = next(iter(mail_.iter_parts())).get_content().replace("\r\n", "\n")
    assert "* car\n    price: 550\n" in text
    assert "* far/away\n    price: 99\n" in text
    (line,) = (tmp_path / "files" / "bob" / "bob.jsonl").read_text().splitlines()
    assert json.loads(line)["data"]["events"][0]["event"] == {"price": 550}


def test_failed_delivery_is_retried_under_the_same_id(store: Store, notifying: Make) -> None:
    def grudging(handler: BaseHTTPRequestHandler) -> None:
        answer(204 if len(receiver.calls) >= 3 else 503)(handler)

    with receiving(grudging) as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        notifying()
        eventually(lambda: states(store) == {"delivered": 1})
    first, *others = receiver.calls
    assert told_to(receiver) == ["msg_1"] * 3
    assert all(call.body == first.body for call in others)
    (row,) = rows(store)
    assert (row.attempts, row.error, row.claimed_by) == (3, None, None)


@pytest.mark.parametrize(("status", "calls"), [(500, 4), (410, 1), (302, 1)])
def test_delivery_is_dead_with_its_reason_after_the_last_attempt(
    store: Store, notifying: Make, status: int, calls: int
) -> None:
    with receiving(answer(status)) as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        notifying()
        eventually(lambda: states(store) == {"dead": 1})
    (row,) = rows(store)
    assert row.attempts == len(receiver.calls) == calls
    assert f"it answered {status}" in row.error
    assert row.finished_at is not None


def test_retry_after_is_respected(store: Store, notifying: Make) -> None:
    with receiving(answer(429, {"Retry-After": "300"})) as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        notifying(lambda: NOON, backoff=Backoff(first=1, longest=600))
        eventually(lambda: bool(rows(store)) and rows(store)[0].error is not None)
        assert 300 <= (rows(store)[0].due - NOON) / SECOND <= 301
    assert len(receiver.calls) == 1


def test_delivery_to_a_forbidden_address_is_dead_at_once(store: Store, notifying: Make) -> None:
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        notifying(http=HttpRules())
        eventually(lambda: states(store) == {"dead": 1})
        assert receiver.calls == []
    assert rows(store)[0].error.startswith("address-forbidden: 127.0.0.1 has an address that is not public")


def test_slow_receiver_does_not_delay_others(store: Store, notifying: Make) -> None:
    gate = threading.Event()
    with (
        receiving(lambda handler: (gate.wait(PATIENCE), answer(204)(handler))[1]) as slow,
        receiving() as quick,
    ):
        subscribe(store, "slow/1", hook(slow))
        subscribe(store, "quick/1", hook(quick))
        tell(store, *((f"e{number}", "slow/1") for number in range(200)))
        tell(store, *((f"e{number}", "quick/1") for number in range(50)))
        notifying(workers=4, per_endpoint=2, per_owner=3)
        quick.wait_for(50)
        assert len(slow.calls) <= 4
        gate.set()


def test_owner_of_many_slow_receivers_does_not_delay_others(store: Store, notifying: Make) -> None:
    gate = threading.Event()
    with (
        receiving(lambda handler: (gate.wait(PATIENCE), answer(204)(handler))[1]) as slow,
        receiving() as quick,
    ):
        for number in range(20):
            url = f"http://127.0.0.{number + 1}:{slow.port}/"
            subscribe(store, f"slow/{number}", {"transport": "webhook", "url": url})
        subscribe(store, "quick/1", hook(quick))
        tell(store, *(("e", f"slow/{number}") for number in range(20)))
        tell(store, *((f"e{number}", "quick/1") for number in range(20)))
        notifying(workers=4, per_endpoint=2, per_owner=3)
        quick.wait_for(20)
        gate.set()


def test_breaker_pauses_and_probes_a_dead_receiver(store: Store, notifying: Make) -> None:
    clock, up = Clock(), threading.Event()
    with receiving(lambda handler: answer(204 if up.is_set() else 500)(handler)) as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, *((f"e{number}", "ann/1") for number in range(50)))
        rules = BreakerRules(failures=3, open_seconds=100, longest=100)
        notifier = notifying(clock, breaker=rules, per_endpoint=1)
        assert notifier.drain(PATIENCE)
        assert len(receiver.calls) == 3
        assert states(store) == {"waiting": 50}
        assert b"tamis_notify_open_breakers 1.0" in generate_latest(notifier.metrics.registry)
        up.set()
        clock.ahead = 101 * SECOND
        notifier.wake()
        eventually(lambda: states(store) == {"delivered": 50})
    assert max(row.attempts for row in rows(store)) <= 4


def test_old_deliveries_to_a_dead_receiver_are_given_up_without_attempts(
    store: Store, notifying: Make
) -> None:
    clock = Clock()
    with receiving(answer(500)) as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, *((f"e{number}", "ann/1") for number in range(50)))
        rules = BreakerRules(failures=3, open_seconds=10, longest=10)
        notifier = notifying(clock, breaker=rules, per_endpoint=1, give_up_seconds=3_600)
        assert notifier.drain(PATIENCE)
        clock.ahead = 3_700 * SECOND
        notifier.wake()
        eventually(lambda: states(store) == {"dead": 50})
    assert len(receiver.calls) == 4
    assert {row.error[:9] for row in rows(store)} == {"given up:", "send-fail"}


def test_broken_transport_fails_only_its_own_deliveries(
    store: Store, notifying: Make, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("a\x00 defect\nof ours")

    monkeypatch.setattr(LogTransport, "send", broken)
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver))
        subscribe(store, "bob/1")
        tell(store, ("e", "ann/1"), ("e", "bob/1"))
        notifying()
        eventually(lambda: states(store) == {"delivered": 1, "dead": 1})
    assert {row.error for row in rows(store)} == {None, "ValueError: a defect of ours"}
    assert "this is a defect" in caplog.text


def test_delivery_waits_when_its_transport_is_not_installed(store: Store, notifying: Make) -> None:
    subscribe(store, "ann/1")
    with store.database.writing() as connection:
        connection.execute(sa.text("""UPDATE subscriptions SET delivery = '{"transport":"pigeon"}'"""))
    tell(store, ("e", "ann/1"))
    notifying(backoff=Backoff(first=100, longest=100))
    eventually(lambda: bool(rows(store)) and rows(store)[0].error is not None)
    (row,) = rows(store)
    assert (row.state, row.transport) == ("waiting", "unknown")
    assert "there is no transport 'pigeon'" in row.error


def test_digest_made_by_spark_is_delivered_with_its_events(
    store: Store, notifying: Make, tmp_path: Path
) -> None:
    subscribe(store, "ann/1", {"transport": "file", "name": "a"}, schedule="every hour")
    listed = [
        {"event_id": "x/1", "event_time": "2026-11-15T12:00:00.5Z", "payload": '{"a":1}'},
        {"event_id": "y"},
    ]
    payloads = [
        {"from": "2026-11-15T12:00:00Z", "to": "2026-11-15T13:00:00Z", "count": 7, "events": listed},
        {"from": "when?", "events": "none"},
        [],
    ]
    with store.database.writing() as connection:
        for number, payload in enumerate(payloads):
            row = {"kind": "digest", "event_id": f"digest/{number}", "subscription_id": "ann/1", "version": 1}
            more = {"payload": json.dumps(payload), "query": "spark", "batch_id": 1, "created_at": 1}
            connection.execute(sa.insert(outbox).values(**row, **more))
    assert notifying(digests=False).drain(PATIENCE)
    first, *odd = sorted(
        (json.loads(line)["data"] for line in (tmp_path / "files" / "ann" / "a").read_text().splitlines()),
        key=lambda data: data["id"],
    )
    assert (first["count"], first["from"], first["to"]) == (7, "2026-11-15T12:00:00Z", "2026-11-15T13:00:00Z")
    assert first["events"] == [
        {"id": "x/1", "time": "2026-11-15T12:00:00.500000Z", "event": {"a": 1}},
        {"id": "y"},
    ]
    assert [(data["count"], data["events"]) for data in odd] == [(0, []), (0, [])]


def test_metrics_and_log_lines_are_written(
    store: Store, notifying: Make, caplog: pytest.LogCaptureFixture
) -> None:
    subscribe(store, "ann/1")
    subscribe(store, "ann/gone")
    tell(store, ("e1", "ann/1"), ("e2", "ann/1"), ("e1", "ann/gone"))
    store.remove("ann/gone")
    with caplog.at_level(logging.INFO, "tamis.notify"):
        notifier = notifying()
        assert notifier.drain(PATIENCE)
    figures = generate_latest(notifier.metrics.registry).decode()
    for line in (
        "tamis_notify_rows_total 3.0",
        "tamis_notify_ordered_total 2.0",
        "tamis_notify_dropped_total 1.0",
        'tamis_notify_attempts_total{result="delivered",transport="log"} 2.0',
        'tamis_notify_send_seconds_count{transport="log"} 2.0',
        "tamis_notify_sending 0.0",
        "tamis_notify_behind_rows",
        "tamis_notify_late_seconds",
        "tamis_notify_dead_letters 0.0",
    ):
        assert line in figures
    fields = [record.fields for record in caplog.records if record.message == "delivered"]
    assert {field["id"] for field in fields} == {"msg_1", "msg_2"}
    assert fields[0]["owner"] == "ann"
