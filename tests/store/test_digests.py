"""Digests in the store: each period once despite replays, changes and removals, without losses."""

from __future__ import annotations

import itertools
import json
import logging
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.contract.schedule import AtMost, parse_schedule, period
from tamis.store import Store
from tamis.store.digest_plan import Clock, Part
from tamis.store.digests import DigestBatch
from tamis.store.tables import batches, digest_parts, digests_sent, outbox, subscriptions
from tamis.values.value import micros_of, moment_of

MINUTE = 60_000_000
_moments = itertools.count(1)


def at(text: str) -> int:
    return micros_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


def part(name: str, start: str, *events: str, version: int = 1, more: int = 0) -> Part:
    begin = at(start)
    listed = [{"event_time": start, "event_id": event} for event in events]
    return Part(name, version, begin, begin + MINUTE, len(events) + more, json.dumps(listed))


def add_parts(store: Store, closed: str, *parts: Part, moment: int | None = None, **more: Any) -> int:
    clock = Clock(at(closed) if closed else 0, MINUTE)
    return store.add_digests(DigestBatch("q", 7, moment or next(_moments), clock, **more), parts)


def told(store: Store) -> list[dict[str, Any]]:
    rows = [row for batch in store.read("outbox") for row in batch.to_pylist()]
    assert all(row["kind"] == "digest" for row in rows)
    return [row | json.loads(row["payload"]) for row in rows]


def waiting(store: Store, table: sa.Table = digest_parts) -> int:
    with store.database.reading() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def test_period_becomes_one_row_when_it_ends(store: Store) -> None:
    version = store.put("s", "a = 1", schedule="every 5 minutes")
    assert add_parts(store, "2026-11-15 12:02", part("s", "2026-11-15 12:01", "b", "a")) == 0
    assert add_parts(store, "2026-11-15 12:04", part("s", "2026-11-15 12:03", "c", more=10)) == 0
    assert waiting(store) == 2
    assert add_parts(store, "2026-11-15 12:05") == 1
    (row,) = told(store)
    assert (row["event_id"], row["version"]) == ("digest/2026-11-15T12:00:00Z", version)
    assert (row["from"], row["to"], row["count"]) == ("2026-11-15T12:00:00Z", "2026-11-15T12:05:00Z", 13)
    assert [event["event_id"] for event in row["events"]] == ["a", "b", "c"]
    assert row["event_time"] == moment_of(at("2026-11-15 12:05"))
    assert (row["query"], row["batch_id"]) == ("q", 7)
    assert waiting(store) == 0
    assert add_parts(store, "2026-11-15 12:30") == 0


def test_digest_lists_its_first_events_and_counts_all(store: Store) -> None:
    store.put("s", "a = 1", schedule="every hour")
    first, second = part("s", "2026-11-15 12:01", "c", "d"), part("s", "2026-11-15 12:00", "x", "y")
    add_parts(store, "2026-11-15 13:00", first, second, most_events=3)
    (row,) = told(store)
    assert ([event["event_id"] for event in row["events"]], row["count"]) == (["x", "y", "c"], 4)


def test_replayed_batch_changes_nothing_unless_the_checkpoint_is_new(store: Store) -> None:
    store.put("s", "a = 1", schedule="every 5 minutes")
    for _ in range(3):
        add_parts(store, "2026-11-15 12:02", part("s", "2026-11-15 12:01", "a"), moment=1_000)
    assert waiting(store) == 1
    for _ in range(3):
        add_parts(store, "2026-11-15 12:05", moment=2_000)
    assert [row["count"] for row in told(store)] == [1]
    add_parts(store, "2026-11-15 12:10", part("s", "2026-11-15 12:06", "b"), moment=3_000)
    assert [row["count"] for row in told(store)] == [1, 1]


def test_late_parts_make_another_digest_with_a_new_name(store: Store) -> None:
    store.put("s", "a = 1", schedule="every 5 minutes")
    store.put("t", "a = 1", schedule="every 5 minutes")
    add_parts(store, "2026-11-15 12:05", part("s", "2026-11-15 12:01", "a"))
    add_parts(
        store, "2026-11-15 12:05", part("s", "2026-11-15 12:02", "b"), part("t", "2026-11-15 12:02", "b")
    )
    add_parts(store, "2026-11-15 12:05", part("s", "2026-11-15 12:02", "c"))
    names = sorted((row["subscription_id"], row["event_id"]) for row in told(store))
    assert names == [
        ("s", "digest/2026-11-15T12:00:00Z"),
        ("s", "digest/2026-11-15T12:00:00Z/2"),
        ("s", "digest/2026-11-15T12:00:00Z/3"),
        ("t", "digest/2026-11-15T12:00:00Z"),
    ]


def test_unscheduled_matches_become_a_digest_per_tick_or_none(store: Store) -> None:
    store.put("s", "a = 1")
    assert add_parts(store, "", part("s", "2026-11-15 12:01", "a"), part("s", "2026-11-15 12:02", "b")) == 1
    assert add_parts(store, "", part("s", "2026-11-15 12:03", "c"), at_once=False) == 0
    (row,) = told(store)
    assert (row["from"], row["to"], row["count"]) == ("2026-11-15T12:01:00Z", "2026-11-15T12:03:00Z", 2)
    assert waiting(store) == 0


def test_parts_of_a_removed_subscription_are_dropped(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    store.put("s", "a = 1", schedule="every 5 minutes")
    add_parts(store, "2026-11-15 12:02", part("s", "2026-11-15 12:01", "a"))
    store.remove("s")
    with caplog.at_level(logging.WARNING):
        add_parts(store, "2026-11-15 12:03", part("never", "2026-11-15 12:02", "a"))
    assert "2 subscriptions are not in the store" in caplog.text
    assert (waiting(store), told(store)) == (0, [])


def test_changed_schedule_applies_from_now_on(store: Store) -> None:
    store.put("s", "a = 1", schedule="weekly on Monday at 8 in UTC")
    add_parts(store, "2026-11-15 12:02", part("s", "2026-11-15 12:01", "a"))
    version = store.put("s", "a = 1", schedule="every 5 minutes")
    assert add_parts(store, "2026-11-15 12:03") == 0
    assert add_parts(store, "2026-11-15 12:05") == 1
    assert told(store)[0]["version"] == version


def test_unknown_schedule_waits_without_blocking_others(store: Store) -> None:
    for name in ("odd", "good"):
        store.put(name, "a = 1", schedule="every 5 minutes")
    with store.database.writing() as connection:
        connection.execute(
            sa.update(subscriptions).where(subscriptions.c.id == "odd").values(schedule="at full moon")
        )
    both = [part(name, "2026-11-15 12:01", "a") for name in ("odd", "good")]
    assert add_parts(store, "2026-11-15 12:05", *both) == 1
    assert add_parts(store, "2026-11-15 14:05") == 0
    assert waiting(store) == 1
    store.put("odd", "a = 1", schedule="every 10 minutes")
    assert add_parts(store, "2026-11-15 14:06") == 1
    assert [row["subscription_id"] for row in told(store)] == ["good", "odd"]


def test_schedule_gives_at_most_three_digests_per_hour(store: Store) -> None:
    store.put("s", "a = 1", schedule="at most 3 per hour")
    for minute in range(6):
        closed = f"2026-11-15 12:{minute + 1:02}"
        assert add_parts(store, closed, part("s", f"2026-11-15 12:{minute:02}", "a")) == (minute < 2)
    assert (waiting(store), waiting(store, digests_sent)) == (4, 1)
    assert add_parts(store, "2026-11-15 13:00") == 1
    assert [(row["count"], row["from"][11:16]) for row in told(store)] == [
        (1, "12:00"),
        (1, "12:01"),
        (4, "12:02"),
    ]
    assert add_parts(store, "2026-11-15 13:01", part("s", "2026-11-15 13:00", "b")) == 1  # the next hour
    assert waiting(store) == 0


def test_at_most_one_per_hour_is_sent_at_the_end_of_the_hour(store: Store) -> None:
    store.put("s", "a = 1", schedule="at most 1 per hour")
    assert add_parts(store, "2026-11-15 12:01", part("s", "2026-11-15 12:00", "a")) == 0
    assert add_parts(store, "2026-11-15 13:00") == 1


def test_daily_schedule_handles_a_day_of_23_hours(store: Store) -> None:
    store.put("s", "a = 1", schedule="daily at 9 in Europe/Berlin")
    add_parts(
        store,
        "2026-03-28 08:01",
        part("s", "2026-03-28 07:59", "before"),
        part("s", "2026-03-28 08:00", "first"),
    )
    add_parts(store, "2026-03-29 06:59", part("s", "2026-03-29 06:58", "last"))
    add_parts(store, "2026-03-29 07:00", part("s", "2026-03-29 06:59", "very last"))
    add_parts(store, "2026-03-29 07:01", part("s", "2026-03-29 07:00", "after"))
    assert [(row["from"], row["to"], row["count"]) for row in told(store)] == [
        ("2026-03-27T08:00:00Z", "2026-03-28T08:00:00Z", 1),
        ("2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", 3),
    ]
    assert waiting(store) == 1


def test_period_waits_for_a_tick_that_crosses_its_end(store: Store) -> None:
    store.put("s", "a = 1", schedule="every 5 minutes")
    seven = Clock(at("2026-11-15 12:05"), 7 * MINUTE)
    whole = seven.whole(at("2026-11-15 12:05"))
    assert whole % (7 * MINUTE) == 0
    assert at("2026-11-15 12:05") <= whole < at("2026-11-15 12:12")
    begin = whole - 7 * MINUTE
    late = Part("s", 1, begin, whole, 1, '[{"event_id": "a"}]')
    assert (
        store.add_digests(DigestBatch("q", 1, next(_moments), Clock(whole - MINUTE, 7 * MINUTE)), [late]) == 0
    )
    assert store.add_digests(DigestBatch("q", 2, next(_moments), Clock(whole, 7 * MINUTE)), []) == 1


def test_batch_records_are_bounded(store: Store) -> None:
    day = 24 * 60 * MINUTE
    store.put("s", "a = 1")
    for number in range(1, 6):
        add_parts(store, "", part("s", f"2026-11-15 12:0{number}", "a"), moment=number * day)
    assert waiting(store, batches) == 2


SCHEDULES = ["at once", "every 2 minutes", "every 7 minutes", "at most 2 per hour", "at most 1 per minute"]
SCHEDULES += ["daily at 12:10 and 12:20 in UTC"]
STEPS = st.lists(st.sets(st.sampled_from(["s0", "s1", "s2", "s3", "s4", "s5"])), min_size=1, max_size=40)


def clear(store: Store) -> None:
    with store.database.writing() as connection:
        for table in (outbox, digest_parts, digests_sent, batches):
            connection.execute(sa.delete(table))


def test_digests_lose_nothing_and_respect_schedules(store: Store) -> None:
    for place, text in enumerate(SCHEDULES):
        store.put(f"s{place}", "a = 1", schedule=text)

    @settings(max_examples=15)
    @given(STEPS, st.booleans())
    def check(steps: list[set[str]], replay: bool) -> None:
        clear(store)
        start = at("2026-11-15 12:00")
        for minute, names in enumerate(steps):
            begin = start + minute * MINUTE
            parts = [Part(name, 1, begin, begin + MINUTE, 2, '[{"event_id": "a"}]') for name in sorted(names)]
            run = DigestBatch("q", minute, next(_moments), Clock(begin + MINUTE, MINUTE))
            for _ in range(1 + replay):
                store.add_digests(run, parts)
        store.add_digests(DigestBatch("q", 99, next(_moments), Clock(at("2026-11-17 00:00"), MINUTE)), [])
        assert waiting(store) == 0
        rows = told(store)
        for place, text in enumerate(SCHEDULES):
            mine = [row for row in rows if row["subscription_id"] == f"s{place}"]
            assert sum(row["count"] for row in mine) == 2 * sum(f"s{place}" in names for names in steps)
            per = [period(parse_schedule(text), datetime.fromisoformat(row["from"])) for row in mine]
            most = schedule.number if isinstance(schedule := parse_schedule(text), AtMost) else 1
            assert all(per.count(one) <= most for one in per)

    check()
