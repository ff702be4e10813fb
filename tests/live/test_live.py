"""The live index in its threads: writes, direct matching, invalid events, lost stores."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tamis.errors import EventLimit, InputError, StoreError, StoreUnavailable
from tamis.limits import Limits
from tamis.live import Live, Matched
from tamis.live.rates import Rates
from tamis.store import Store, subscriptions
from tamis.store.events import NewEvent, Published
from tamis.store.tables import counters
from tests.waiting import PATIENCE, eventually


@pytest.fixture
def live(store: Store) -> Iterator[Live]:
    with Live.open(store) as opened:
        yield opened


def outbox(store: Store) -> list[tuple[str, str]]:
    rows = [row for batch in store.read("outbox") for row in batch.to_pylist()]
    return sorted((row["event_id"], row["subscription_id"]) for row in rows)


def put(live: Live, name: str, text: str) -> int:
    entry = subscriptions.entry_from({"id": name, "expression": text}, live.store.limits)
    return (
        live.commit(lambda connection: subscriptions.write(connection, [entry])).result(PATIENCE).last_change
    )


def test_event_matches_only_subscriptions_created_before_it(live: Live, store: Store) -> None:
    put(live, "ann/1", "a = 1")
    live.publish("shop", [NewEvent("e1", None, '{"a": 1}')]).result(PATIENCE)
    put(live, "ann/2", "a = 1")
    live.publish("shop", [NewEvent("e2", 5, '{"a": 1}')]).result(PATIENCE)
    store.remove("ann/1")
    live.publish("shop", [NewEvent(None, None, '{"a": 1}')]).result(PATIENCE)
    eventually(lambda: live.lag() == 0)
    (_, last), *rows = outbox(store)  # an event without an id gets a numeric one
    assert last == "ann/2"
    assert rows == [("shop/e1", "ann/1"), ("shop/e2", "ann/1"), ("shop/e2", "ann/2")]


def test_repeated_event_is_a_duplicate_or_a_conflict(live: Live, store: Store) -> None:
    put(live, "ann/1", "a = 1")
    once, twice = NewEvent("e", None, '{"a": 1}'), NewEvent("e", None, '{"a": 2}')
    assert live.publish("shop", [once, once]).result(PATIENCE) == [
        Published("e", "accepted"),
        Published("e", "duplicate"),
    ]
    assert live.publish("shop", [once, twice]).result(PATIENCE) == [
        Published("e", "duplicate"),
        Published("e", "conflict"),
    ]
    assert live.publish("other", [twice]).result(PATIENCE) == [Published("e", "accepted")]
    eventually(lambda: live.lag() == 0)
    assert outbox(store) == [("shop/e", "ann/1")]


def test_event_that_became_invalid_is_quarantined(store: Store) -> None:
    tight = Store(store.database, Limits(event_attributes=1))
    with Live.open(tight) as live:
        put(live, "ann/1", "a = 1")
        rows = [NewEvent("e1", None, '{"a": 1, "b": 2}'), NewEvent("e2", None, '{"a": 1}')]
        live.publish("shop", [*rows, NewEvent("e3", None, "no JSON")]).result(PATIENCE)
        eventually(lambda: live.lag() == 0)
    assert outbox(store) == [("shop/e2", "ann/1")]
    aside = [row for batch in store.read("quarantine") for row in batch.to_pylist()]
    assert [(row["event_id"], row["code"]) for row in aside] == [
        ("shop/e1", "event-limit"),
        ("shop/e3", "event-syntax"),
    ]


def test_event_that_breaks_the_matcher_fails_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    live = Live.open(store)
    sound = live._follower.match_stored

    def broken(batch: Any) -> Any:
        if any("poison" in event.text for event in batch):
            raise ZeroDivisionError("poison")
        return sound(batch)

    monkeypatch.setattr(live._follower, "match_stored", broken)
    with live:
        put(live, "ann/1", "a = 1")
        texts = ['{"a": 1}', '{"a": 1, "b": "poison"}', '{"a": 1}']
        live.publish("shop", [NewEvent(f"e{n}", None, text) for n, text in enumerate(texts)]).result(PATIENCE)
        eventually(lambda: live.lag() == 0)
    assert outbox(store) == [("shop/e0", "ann/1"), ("shop/e2", "ann/1")]
    assert [row["event_id"] for batch in store.read("quarantine") for row in batch.to_pylist()] == ["shop/e1"]
    assert "cannot be matched" in caplog.text


def test_direct_match_sees_the_last_change_of_one_owner(live: Live, store: Store) -> None:
    put(live, "ann/1", "a = 1")
    put(live, "bob/1", "a = 1")
    version = put(live, "ann/2", "a = 1 OR b = 2")
    assert live.match({"a": 1}, "ann") == [Matched("ann/1", 1), Matched("ann/2", version)]
    assert live.match({"a": 1}, "an") == []
    assert len(live.match({"a": 1}, None)) == 3
    store.put("ann/1", "a = 2", priority=2.0)
    store.remove("ann/2")
    assert live.match({"a": 1}, "ann") == []
    assert live.match({"a": 2}, "ann") == [Matched("ann/1", 4)]
    store.put("ann/3", "a = 2", priority=3.0)
    store.put("bob/3", "a = 2", priority=9.0)
    assert live.top({"a": 2}, 1, "ann") == [("ann/3", 4.0)]
    assert [name for name, _ in live.top({"a": 2}, 5, "ann")] == ["ann/3", "ann/1"]
    assert live.top({"a": 9}, 5, "ann") == []


def test_top_k_does_not_query_the_store_per_subscription(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match of thousands of subscriptions must not become thousands of queries."""
    store.put_many([(f"ann/{number:04}", "a = 1", number % 7) for number in range(2_000)])
    live = Live.open(store)
    asked: list[int] = []
    changes = Store.changes
    monkeypatch.setattr(Store, "get", lambda *_: pytest.fail("asked for one subscription"))
    monkeypatch.setattr(Store, "changes", lambda *given: asked.append(1) or changes(*given))
    assert live.top({"a": 1}, 3, "ann") == [("ann/0006", 7.0), ("ann/0013", 7.0), ("ann/0020", 7.0)]
    page = live.match_page({"a": 1}, "ann", "ann/0997", 2)
    assert (page.items, page.total) == ([("ann/0998", 999), ("ann/0999", 1_000)], 2_000)
    assert len(asked) == 2


def test_direct_match_is_current_when_the_index_is_behind(store: Store) -> None:
    """The index waits for events of an earlier moment, but a direct match sees the current subscriptions."""
    live = Live.open(store)
    for number in range(3):
        store.put(f"ann/{number}", "a = 1")
    store.remove("ann/0")
    assert live._follower.position == 0
    assert sorted(live.match({"a": 1}, "ann")) == [("ann/1", 2), ("ann/2", 3)]


def test_match_limit_counts_only_the_owners_matches(store: Store) -> None:
    small = Store(store.database, Limits(matches_per_event=2))
    with Live.open(small) as live:
        for name in ("ann/1", "ann/2", "bob/1"):
            put(live, name, "a = 1")
        assert len(live.match({"a": 1}, "ann")) == 2
        put(live, "ann/3", "a = 1")
        with pytest.raises(EventLimit, match="matches_per_event"):
            live.match({"a": 1}, "ann")


def test_failed_job_leaves_the_others_of_its_commit(live: Live, store: Store) -> None:
    def refuse(_: Any) -> None:
        raise InputError("no")

    def break_a_rule(connection: Any) -> None:
        connection.execute(sa.insert(counters), {"name": "change", "value": 1})

    gate = threading.Event()
    blocked = live.commit(lambda _: gate.wait(PATIENCE))
    entry = subscriptions.entry_from({"id": "s", "expression": "a = 1"}, store.limits)
    waiting = [
        live.commit(refuse),
        live.commit(lambda connection: subscriptions.write(connection, [entry])),
        live.commit(break_a_rule),
    ]
    gate.set()
    assert blocked.result(PATIENCE)
    assert isinstance(waiting[0].exception(20), InputError)
    assert waiting[1].result(PATIENCE).changed == 1
    assert isinstance(waiting[2].exception(20), StoreError)
    assert store.count() == 1


def test_failed_commit_fails_all_its_jobs(live: Live, store: Store) -> None:
    def lose_the_store(connection: Any) -> None:
        connection.connection.driver_connection.close()

    gate = threading.Event()
    live.commit(lambda _: gate.wait(PATIENCE))
    entry = subscriptions.entry_from({"id": "s", "expression": "a = 1"}, store.limits)
    written = live.commit(lambda connection: subscriptions.write(connection, [entry]))
    lost = live.commit(lose_the_store)
    gate.set()
    assert isinstance(written.exception(20), StoreError)
    assert isinstance(lost.exception(20), StoreError)
    assert store.count() == 0
    assert put(live, "s", "a = 1") == 1


def test_stopped_service_refuses_events(store: Store, tmp_path: Path) -> None:
    live = Live.open(store, tmp_path / "index")
    with live:
        put(live, "ann/1", "a = 1")
        live.publish("shop", [NewEvent("e", None, '{"a": 1}')])
    late = live.publish("shop", [NewEvent("f", None, '{"a": 1}')])
    assert isinstance(late.exception(20), StoreUnavailable)
    with Live.open(store, tmp_path / "index") as again:
        eventually(lambda: again.lag() == 0)
        assert again.info()["position"] == 1
    assert outbox(store) == [("shop/e", "ann/1")]


def test_listener_receives_match_counts(live: Live) -> None:
    heard: list[int] = []
    live.on_matches(heard.append)
    put(live, "ann/1", "a = 1")
    live.publish("shop", [NewEvent(None, None, '{"a": 1}') for _ in range(5)]).result(PATIENCE)
    eventually(lambda: sum(heard) == 5)
    assert live.rates.events == 5


def test_rates_are_counted_by_the_second() -> None:
    clock = [100.0]
    rates = Rates(lambda: clock[0])
    rates.add(2, 3)
    rates.add(1, 0)
    clock[0] = 102.5
    assert rates.per_second(3) == [
        {"second": 99, "events": 0, "matches": 0},
        {"second": 100, "events": 3, "matches": 3},
        {"second": 101, "events": 0, "matches": 0},
    ]
