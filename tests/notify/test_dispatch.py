"""Dispatch from the outbox to deliveries on a test clock: each row once, each digest on time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.failpoint import arm, disarm
from tamis.store import Store, deliveries, dispatch, positions
from tamis.store.dispatch import DispatchOptions, DispatchResult
from tamis.store.tables import batches, digest_parts, outbox, subscriptions
from tamis.values.value import micros_of
from tests.counting import statements
from tests.notify.book import MINUTE, SECOND, rows, subscribe, tell

NOON = micros_of(datetime(2026, 11, 15, 12, tzinfo=UTC))
RULES = DispatchOptions("me")


def run(store: Store, at: int, rules: DispatchOptions = RULES) -> DispatchResult:
    """Dispatch everything that is due at that moment; return the sums."""
    total = DispatchResult()
    while True:
        with store.database.writing() as connection:
            if not dispatch.is_due(connection, at):
                return total
            done = dispatch.dispatch(connection, rules, at)
        total = DispatchResult(*(one + two for one, two in zip(total, done, strict=True)))
        if not done.read and not done.digests:
            return total


def digests(store: Store) -> list[dict[str, Any]]:
    return [
        {"id": row.id, "of": row.subscription_id, "name": row.event_id, **json.loads(row.payload)}
        for row in rows(store, outbox)
        if row.kind == "digest"
    ]


def place(store: Store) -> int:
    with store.database.reading() as connection:
        return positions.read(connection, positions.NOTIFY).value


def test_each_row_becomes_one_delivery(store: Store) -> None:
    secret = "whsec_" + "A" * 32
    hook = {"transport": "webhook", "url": "https://example.org/hook", "secret": secret}
    subscribe(store, "ann/1", hook | {"template": {"text": "x"}})
    subscribe(store, "bob/1", {"transport": "email", "to": "bob@example.org"})
    store.put("bob/quiet", "a = 1", owner="bob")
    store.put("free", "a = 1", delivery={"transport": "log"})
    tell(store, ("e1", "ann/1"), ("e1", "bob/1"), ("e1", "bob/quiet"), ("e1", "free"), ("e1", "bob/gone"))
    assert run(store, NOON) == DispatchResult(read=5, deliveries=3, digests=0, dropped=1)
    ann, bob, free = rows(store)
    assert (ann.outbox_id, ann.subscription_id, ann.owner, ann.transport) == (1, "ann/1", "ann", "webhook")
    assert (ann.state, ann.attempts, ann.due, ann.created_at) == ("waiting", 0, NOON, NOON)
    assert ann.endpoint == "ann webhook https://example.org:443"
    assert json.loads(ann.settings) == {
        "transport": "webhook",
        "url": "https://example.org/hook",
        "secret": "…",
    }
    assert (bob.endpoint, free.endpoint, free.owner) == ("bob email", " log", None)
    assert run(store, NOON) == DispatchResult()
    assert place(store) == 5


def test_rows_are_read_in_bounded_batches(store: Store) -> None:
    subscribe(store, "ann/1")
    tell(store, *((f"e{number}", "ann/1") for number in range(25)))
    with store.database.writing() as connection:
        assert dispatch.dispatch(connection, DispatchOptions("me", rows=10), NOON).read == 10
    assert place(store) == 10
    assert run(store, NOON, DispatchOptions("me", rows=10)).read == 15
    assert [row.outbox_id for row in rows(store)] == list(range(1, 26))


def test_failed_transaction_leaves_no_trace(store: Store) -> None:
    subscribe(store, "ann/1")
    subscribe(store, "ann/2", schedule="every minute")
    tell(store, ("e1", "ann/1"), ("e1", "ann/2"))

    arm("notify.before_move", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(store, NOON)
    disarm()
    assert (rows(store), rows(store, digest_parts), place(store)) == ([], [], 0)
    assert run(store, NOON).read == 2


# -- digests ------------------------------------------------------------------------------------------


def test_schedule_gives_one_digest_at_the_end_of_its_period(store: Store) -> None:
    version = subscribe(store, "ann/1", schedule="every 5 minutes")
    tell(store, ("e1", "ann/1"), ("e2", "ann/1"), at=NOON + 10 * SECOND)
    assert run(store, NOON + 11 * SECOND) == DispatchResult(read=2)
    tell(store, ("e3", "ann/1"), at=NOON + 4 * MINUTE)
    assert run(store, NOON + 4 * MINUTE + SECOND) == DispatchResult(read=1)
    assert run(store, NOON + 5 * MINUTE - 1) == DispatchResult()
    assert run(store, NOON + 5 * MINUTE) == DispatchResult(read=1, deliveries=1, digests=1)
    (digest,) = digests(store)
    assert (digest["name"], digest["count"]) == ("digest/2026-11-15T12:00:00Z", 3)
    assert (digest["from"], digest["to"]) == ("2026-11-15T12:00:00Z", "2026-11-15T12:05:00Z")
    assert [event["event_id"] for event in digest["events"]] == ["e1", "e2", "e3"]
    (delivery,) = rows(store)
    assert delivery.outbox_id == digest["id"]
    assert [row.version for row in rows(store, outbox) if row.kind == "digest"] == [version]
    assert run(store, NOON + 60 * MINUTE) == DispatchResult()


def test_late_row_is_in_the_next_digest_once(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every 5 minutes")
    tell(store, ("e1", "ann/1"), at=NOON + MINUTE)
    run(store, NOON + 5 * MINUTE + SECOND)
    tell(store, ("late", "ann/1"), at=NOON + 4 * MINUTE)  # its transaction took so long
    run(store, NOON + 5 * MINUTE + 2 * SECOND)
    run(store, NOON + 10 * MINUTE)
    assert [(each["name"], each["count"]) for each in digests(store)] == [
        ("digest/2026-11-15T12:00:00Z", 1),
        ("digest/2026-11-15T12:05:00Z", 1),
    ]


def test_missed_periods_become_one_digest_each(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every 5 minutes")
    for minute in range(0, 60, 2):
        tell(store, (f"e{minute}", "ann/1"), at=NOON + minute * MINUTE)
    run(store, NOON + 120 * MINUTE, DispatchOptions("me", rows=4))
    told = digests(store)
    assert [each["name"] for each in told] == [
        f"digest/2026-11-15T12:{minute:02}:00Z" for minute in range(0, 60, 5)
    ]
    assert sum(each["count"] for each in told) == 30


def test_digests_continue_when_the_clock_is_set_back(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every 5 minutes")
    ahead = NOON + 400 * 86_400 * SECOND
    tell(store, ("e1", "ann/1"), at=ahead)
    run(store, ahead + SECOND)
    tell(store, ("e2", "ann/1"), at=NOON)
    run(store, NOON + SECOND)
    run(store, NOON + 5 * MINUTE)
    assert [each["count"] for each in digests(store)] == [1]
    tell(store, ("e3", "ann/1"), at=NOON + 90 * MINUTE)  # another machine's clock is ahead
    run(store, NOON + 6 * MINUTE)
    run(store, NOON + 10 * MINUTE)
    assert [each["count"] for each in digests(store)] == [1, 1]


def test_repeated_dispatch_at_one_moment_is_no_replay(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every 5 minutes")
    for number in range(3):
        tell(store, (f"e{number}", "ann/1"), at=NOON)
        run(store, NOON)
    run(store, NOON + 5 * MINUTE)
    assert [each["count"] for each in digests(store)] == [3]


def test_schedule_sends_at_most_three_digests_an_hour(store: Store) -> None:
    subscribe(store, "ann/1", schedule="at most 3 per hour")
    for minute in range(6):
        tell(store, (f"e{minute}", "ann/1"), at=NOON + minute * MINUTE)
        run(store, NOON + minute * MINUTE)
    run(store, NOON + 60 * MINUTE)
    assert [each["count"] for each in digests(store)] == [1, 1, 4]
    assert len(rows(store)) == 3


def test_schedule_sends_daily_at_nine_in_oslo(store: Store) -> None:
    subscribe(store, "ann/1", schedule="daily at 9 in Europe/Oslo")
    tell(store, ("e1", "ann/1"), at=NOON)
    eight = micros_of(datetime(2026, 11, 16, 8, tzinfo=UTC))
    assert run(store, eight - 1).digests == 0
    assert run(store, eight).digests == 1


@pytest.mark.parametrize("schedule", [None, "every minute"])
def test_changed_schedule_loses_no_match(store: Store, schedule: str | None) -> None:
    subscribe(store, "ann/1", schedule="weekly on Monday at 8 in UTC")
    tell(store, ("e1", "ann/1"), ("e2", "ann/1"), at=NOON)
    run(store, NOON)
    subscribe(store, "ann/1", schedule=schedule)
    assert run(store, NOON + MINUTE).deliveries == 1
    assert [each["count"] for each in digests(store)] == [2]


def test_schedule_of_a_later_release_waits(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every minute")
    with store.database.writing() as connection:
        connection.execute(sa.update(subscriptions).values(schedule="at full moon"))
    tell(store, ("e1", "ann/1"), at=NOON)
    assert run(store, NOON + 10 * MINUTE).deliveries == 0
    subscribe(store, "ann/1", schedule="every minute")
    assert run(store, NOON + 20 * MINUTE).deliveries == 1


def test_waiting_matches_are_dropped_when_the_subscription_is_removed(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every minute")
    tell(store, ("e1", "ann/1"), at=NOON)
    run(store, NOON)
    store.remove("ann/1")
    assert run(store, NOON + 10 * MINUTE).digests == 0
    assert rows(store, digest_parts) == []


def test_digest_made_by_spark_is_only_delivered(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every minute")
    tell(store, ("e1", "ann/1"), at=NOON)
    rules = DispatchOptions("me", digests=False)
    assert run(store, NOON + 10 * MINUTE, rules) == DispatchResult(read=1)
    assert rows(store, digest_parts) == []
    with store.database.writing() as connection:
        digest = {"kind": "digest", "event_id": "digest/x", "subscription_id": "ann/1", "version": 1}
        more = {"payload": "{}", "query": "spark", "batch_id": 1, "created_at": NOON}
        connection.execute(sa.insert(outbox).values(**digest, **more))
    assert run(store, NOON + 10 * MINUTE, rules) == DispatchResult(read=1, deliveries=1)


def test_waiting_matches_are_digested_when_spark_takes_over(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every minute")
    tell(store, ("e1", "ann/1"), at=NOON)
    run(store, NOON)
    assert run(store, NOON + MINUTE, DispatchOptions("me", digests=False)).digests == 1


def test_digest_lists_only_its_first_events(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every minute")
    tell(store, *((f"e{number}", "ann/1") for number in range(9)), at=NOON)
    run(store, NOON + MINUTE, DispatchOptions("me", digest_events=4))
    assert [(each["count"], len(each["events"])) for each in digests(store)] == [(9, 4)]


def test_idle_dispatch_writes_nothing(store: Store) -> None:
    subscribe(store, "ann/1", schedule="every hour")
    tell(store, ("e1", "ann/1"), at=NOON)
    for second in range(50):
        run(store, NOON + second * SECOND)
    assert len(rows(store, batches)) == 1


steps = st.lists(
    st.tuples(
        st.integers(0, 400),  # seconds that pass
        st.lists(
            st.tuples(st.sampled_from("abcd"), st.integers(0, 30)), max_size=4
        ),  # matches, and their age
        st.booleans(),  # whether a notifier runs
    ),
    max_size=25,
)


@settings(max_examples=30)
@given(steps)
def test_every_match_is_delivered_once_at_any_rhythm(
    tmp_path_factory: pytest.TempPathFactory, history: list[Any]
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('rhythm') / 'store.db'}"
    schedules = {"a": None, "b": "every 5 minutes", "c": "at most 2 per minute", "d": "every hour"}
    with Store.open(url) as store:
        for name, schedule in schedules.items():
            subscribe(store, f"o/{name}", schedule=schedule)
        now, told = NOON, 0
        for seconds, matches, looks in history:
            now += seconds * SECOND
            for name, age in matches:
                tell(store, (f"e{told}", f"o/{name}"), at=now - age * SECOND)
                told += 1
            if looks:
                run(store, now, DispatchOptions("me", rows=3))
        run(store, now + 3_600 * SECOND, DispatchOptions("me", rows=3))
        matched = {(row.subscription_id, row.event_id) for row in rows(store, outbox) if row.kind == "match"}
        by_digest = [(each["of"], event["event_id"]) for each in digests(store) for event in each["events"]]
        delivered = {row.outbox_id for row in rows(store)}
        plain = [
            (row.subscription_id, row.event_id)
            for row in rows(store, outbox)
            if row.kind == "match" and row.id in delivered
        ]
        assert sorted(by_digest + plain) == sorted(matched)
        assert {each["id"] for each in digests(store)} <= delivered


def test_dispatch_of_many_matches_takes_few_statements(store: Store) -> None:
    names = [f"o/{number}" for number in range(2_000)]
    same = {"expression": "a = 1", "owner": "o"}
    files = [{"transport": "file", "name": f"f{number}"} for number in range(50)]
    hourly = (None, "every hour")
    store.put_many(
        {"id": name, "delivery": files[place % 50], "schedule": hourly[place % 2], **same}
        for place, name in enumerate(names)
    )
    pairs = {
        "event_id": [f"e{number // 2_000}" for number in range(100_000)],
        "subscription_id": [names[number % 2_000] for number in range(100_000)],
        "version": pa.array([1] * 100_000, pa.int64()),
    }
    store.add_matches(pa.table(pairs), "spark", 0)
    with statements(store) as sent:
        done = run(store, NOON)
    assert (done.read, done.deliveries) == (100_000, 50_000)
    assert len(sent) < 1_000  # a statement for each match would be a hundred times as many
    assert deliveries.WAITING in {row.state for row in rows(store)}
