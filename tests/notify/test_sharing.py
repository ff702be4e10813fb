"""Several notifiers share work, also when one stops, sleeps, crashes or loses its database."""

from __future__ import annotations

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import sqlalchemy as sa

from tamis.errors import StoreError, StoreUnavailable
from tamis.failpoint import arm
from tamis.store import Store, claims, dispatch
from tamis.store.database import Database
from tamis.store.tables import outbox
from tests.notify.book import MINUTE, SECOND, rows, states, subscribe, tell
from tests.notify.receiver import answer, receiving
from tests.notify.running import LEASE, Clock, Make, StillClock, hook, told_to
from tests.waiting import PATIENCE, eventually


def test_two_notifiers_deliver_everything_once(store: Store, notifying: Make) -> None:
    with receiving() as receiver, Store.open(store.url) as second:
        for number in range(10):
            url = f"http://127.0.0.{number + 1}:{receiver.port}/"
            delivery = {"transport": "webhook", "url": url}
            subscribe(store, f"o{number}/1", delivery, schedule="every minute" if number % 5 == 0 else None)
        clock = StillClock()
        both = [notifying(clock), notifying(clock, other=second)]
        for event in range(20):
            tell(store, *((f"e{event}", f"o{number}/1") for number in range(10)), at=clock())
        assert both[0].drain(PATIENCE)
        clock.ahead = 2 * MINUTE
        both[1].wake()
        eventually(lambda: both[0].drain(PATIENCE) and states(store) == {"delivered": 162})
        for notifier in both:
            notifier.stop()
    told = told_to(receiver)
    assert len(told) == len(set(told)) == 162
    counts = [json.loads(call.body)["data"]["count"] for call in receiver.calls]
    assert sum(counts) == 200
    shares = [
        notifier.metrics.registry.get_sample_value(
            "tamis_notify_attempts_total", {"transport": "webhook", "result": "delivered"}
        )
        for notifier in both
    ]
    assert sum(share or 0 for share in shares) == 162


def test_stopped_notifier_releases_unsent_claims(store: Store, notifying: Make) -> None:
    gate = threading.Event()
    with receiving(lambda handler: (gate.wait(PATIENCE), answer(204)(handler))[1]) as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, *((f"e{number}", "ann/1") for number in range(8)))
        notifier = notifying(workers=1, per_endpoint=4)
        receiver.wait_for(1)
        stopping = threading.Thread(target=notifier.stop)
        stopping.start()
        eventually(notifier._stopping.is_set)
        gate.set()
        stopping.join()
    found = states(store)
    assert found.get("delivered", 0) == len(receiver.calls) < 8
    assert found["waiting"] == 8 - found["delivered"]
    assert sum(row.attempts for row in rows(store)) == found["delivered"]


def test_notifier_continues_when_the_database_comes_back(
    store: Store, notifying: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = threading.Event()
    really = Database.writing

    def writing(self: Database) -> Any:
        if away.is_set():
            raise StoreUnavailable("the store is not available")
        return really(self)

    monkeypatch.setattr(Database, "writing", writing)
    monkeypatch.setattr("tamis.notify.notifier.RETRY_SECONDS", 0.05)

    def while_away(handler: BaseHTTPRequestHandler) -> None:
        away.set()  # results cannot be recorded for a while
        answer(204)(handler)

    with receiving(while_away) as receiver, caplog.at_level(logging.WARNING):
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        notifying()
        receiver.wait_for(1)
        eventually(lambda: "the store is unavailable" in caplog.text)
        away.clear()
        eventually(lambda: states(store) == {"delivered": 1})
    assert caplog.text.count("the store is unavailable") == 1
    assert "the store is available again" in caplog.text
    assert len(receiver.calls) == 1


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_notifier_continues_when_postgresql_closes_all_connections(
    store: Store, notifying: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tamis.notify.notifier.RETRY_SECONDS", 0.05)
    address = sa.make_url(store.url)
    engine = sa.create_engine(address.set(database="postgres"), isolation_level="AUTOCOMMIT")

    def admit(allowed: bool) -> None:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {address.database} ALLOW_CONNECTIONS {allowed}")
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            if not allowed:
                connection.exec_driver_sql(ended, (address.database,))

    with receiving() as receiver, caplog.at_level(logging.WARNING):
        subscribe(store, "ann/1", hook(receiver))
        notifier = notifying()
        for number in range(3):
            tell(store, *((f"e{number}-{event}", "ann/1") for event in range(30)))
            admit(False)
            eventually(lambda number=number: caplog.text.count("the store is unavailable") > number)
            admit(True)
            eventually(lambda number=number: states_or_none(store) == {"delivered": 30 * (number + 1)})
        notifier.stop()
        assert set(told_to(receiver)) == {f"msg_{number}" for number in range(1, 91)}
    engine.dispose()


def states_or_none(store: Store) -> dict[str, int] | None:
    try:
        return states(store)
    except StoreUnavailable:
        return None


def test_lease_that_is_about_to_expire_is_not_used(store: Store, notifying: Make) -> None:
    """A machine that slept must not send deliveries that another has claimed meanwhile."""
    clock = Clock()
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        slept = []

        def sleep() -> None:
            if not slept:
                slept.append(1)
                clock.ahead = int(LEASE - 1) * SECOND  # a second is left; sending may take longer

        arm("notify.after_claim", sleep)
        notifier = notifying(clock)
        eventually(lambda: states(store) == {"delivered": 1})
    assert len(receiver.calls) == 1
    assert rows(store)[0].attempts == 1
    assert notifier.metrics.registry.get_sample_value("tamis_notify_returned_total") == 1


def test_claims_of_a_crashed_notifier_are_sent_by_another(
    store: Store, notifying: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.notify.claim_manager.MAINTENANCE_SECONDS", 0.05)
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, ("e1", "ann/1"))
        with store.database.writing() as connection:
            dispatch.dispatch(connection, dispatch.DispatchOptions("dead"), 1)
            assert claims.claim(connection, claims.ClaimRequest("dead", 2, 10, lambda endpoint: 10), 1)[0]
        notifying()
        eventually(lambda: states(store) == {"delivered": 1})
    assert rows(store)[0].attempts == 2


def test_row_that_cannot_be_dispatched_becomes_a_dead_letter_alone(
    store: Store, notifying: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    really = dispatch._event

    def broken(row: Any) -> Any:
        if row.event_id == "bad":
            raise ValueError("nobody thought of this")
        return really(row)

    monkeypatch.setattr(dispatch, "_event", broken)
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver), schedule="every second")
        subscribe(store, "bob/1", hook(receiver))
        tell(store, *((f"e{number}", "bob/1") for number in range(20)))
        tell(store, ("bad", "ann/1"), ("good", "ann/1"))
        tell(store, *((f"f{number}", "bob/1") for number in range(20)))
        notifying(rows=16)
        eventually(lambda: states(store) == {"delivered": 41, "dead": 1})
    (dead,) = [row for row in rows(store) if row.state == "dead"]
    assert (dead.subscription_id, dead.error) == ("ann/1", "ValueError: nobody thought of this")
    assert "cannot be dispatched and is a dead letter" in caplog.text


@pytest.mark.parametrize("micros", [-62_135_596_800_000_001, 253_402_300_800_000_000])
@pytest.mark.parametrize("schedule", [None, "every second"])
def test_event_time_outside_the_calendar_is_left_out(
    store: Store, notifying: Make, micros: int, schedule: str | None
) -> None:
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver), schedule=schedule)
        tell(store, ("e", "ann/1"))
        with store.database.writing() as connection:
            connection.execute(sa.update(outbox).values(event_time=micros))
        notifying()
        (call,) = receiver.wait_for(1)
    (event,) = json.loads(call.body)["data"]["events"]
    assert event["id"] == "e"
    assert "time" not in event


def test_store_failure_makes_no_dead_letters(
    store: Store, notifying: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, refusals = dispatch._deliver, iter(range(20))

    def full(*given: Any) -> int:
        if next(refusals, None) is not None:
            raise StoreError("the disk is full")
        return really(*given)

    monkeypatch.setattr(dispatch, "_deliver", full)
    monkeypatch.setattr("tamis.notify.notifier.RETRY_SECONDS", 0.01)
    with receiving() as receiver:
        subscribe(store, "ann/1", hook(receiver))
        tell(store, *((f"e{number}", "ann/1") for number in range(5)))
        notifying(rows=4)
        eventually(lambda: states(store) == {"delivered": 5})
