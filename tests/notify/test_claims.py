"""Claims: one sender per delivery at a time, fair turns for endpoints, and no loss when a sender dies."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tamis.store import Store, claims, deliveries, dispatch
from tamis.store.claims import Claimed, ClaimRequest, Result
from tamis.store.deliveries import CANCELLED, DEAD, DELIVERED, FINISHED, WAITING
from tamis.store.tables import deliveries as table
from tamis.store.tables import outbox
from tests.counting import sqlite_steps, statements
from tests.notify.book import LOG, SECOND, rows, states, subscribe, tell

NOON = 1_800_000_000 * SECOND
LEASE = 60 * SECOND


def hook(host: str) -> dict[str, Any]:
    return {"transport": "webhook", "url": f"https://{host}.example/"}


def order(store: Store, at: int = NOON) -> None:
    """Dispatch the whole outbox to deliveries."""
    with store.database.writing() as connection:
        dispatch.dispatch(connection, dispatch.DispatchOptions("test"), at)


def claim(
    store: Store, most: int = 100, each: int = 100, at: int = NOON, who: str = "me", after: str = "",
    room: Callable[[str], int] | None = None,
) -> tuple[list[Claimed], str]:  # fmt: skip
    ask = ClaimRequest(who, at + LEASE, most, room or (lambda endpoint: each), after)
    with store.database.writing() as connection:
        return claims.claim(connection, ask, at)


def record(store: Store, *results: Result, who: str = "me", at: int = NOON) -> int:
    with store.database.writing() as connection:
        return claims.record(connection, who, results, at)


def test_claim_holds_everything_a_notification_needs(store: Store) -> None:
    subscribe(store, "ann/1", hook("a"))
    tell(store, ("e1", "ann/1"))
    order(store)
    ((claimed,), _) = claim(store)
    assert (claimed.outbox_id, claimed.attempts, claimed.owner, claimed.kind) == (1, 1, "ann", "match")
    assert (claimed.event_id, claimed.payload, claimed.published) == ("e1", '{"a":1}', None)
    assert (claimed.expression, claimed.transport) == ("a = 1", "webhook")
    assert claimed.delivery == '{"transport":"webhook","url":"https://a.example/"}'
    (row,) = rows(store)
    assert (row.state, row.claimed_by, row.due, row.attempts) == ("claimed", "me", NOON + LEASE, 1)
    assert claim(store)[0] == []


def test_claims_take_turns_among_endpoints(store: Store) -> None:
    for owner in "abcd":
        subscribe(store, f"{owner}/1", hook(owner))
    tell(store, *((f"e{number}", "a/1") for number in range(1_000)))
    tell(store, *(("late", f"{owner}/1") for owner in "bcd"))
    order(store)
    first, after = claim(store, most=8, each=3)
    assert [one.owner for one in first] == ["a", "a", "a", "b", "c", "d"]
    assert after == ""
    second, after = claim(store, most=4, each=3)
    assert ([one.owner for one in second], after) == (["a", "a", "a"], "")


def test_claim_continues_after_the_last_endpoint(store: Store) -> None:
    for owner in "abcd":
        subscribe(store, f"{owner}/1", hook(owner))
    tell(store, *((f"e{number}", f"{owner}/1") for number in range(4) for owner in "abcd"))
    order(store)
    served, after = [], ""
    for _ in range(4):
        taken, after = claim(store, most=3, each=1, after=after)
        served += [one.owner for one in taken]
    assert served == ["a", "b", "c", "d", "a", "b", "c", "d"]


def test_endpoint_without_room_is_not_claimed(store: Store) -> None:
    for owner in "abc":
        subscribe(store, f"{owner}/1", hook(owner))
    tell(store, *(("e", f"{owner}/1") for owner in "abc"))
    order(store)
    taken, _ = claim(store, room=lambda endpoint: 0 if endpoint.startswith("b ") else 5)
    assert [one.owner for one in taken] == ["a", "c"]


def test_delivery_is_not_claimed_before_it_is_due(store: Store) -> None:
    subscribe(store, "ann/1")
    tell(store, ("e1", "ann/1"), ("e2", "ann/1"))
    order(store)
    (one, two), _ = claim(store)
    later = Result(one.id, WAITING, NOON + 30 * SECOND, "send-failed: busy")
    assert record(store, later, Result(two.id, DELIVERED, NOON)) == 2
    assert claim(store, at=NOON + 29 * SECOND)[0] == []
    with store.database.reading() as connection:
        assert claims.next_due(connection) == NOON + 30 * SECOND
    ((again,), _) = claim(store, at=NOON + 30 * SECOND)
    assert (again.id, again.attempts) == (one.id, 2)
    waits, done = rows(store)
    assert (waits.error, waits.finished_at) == ("send-failed: busy", None)
    assert (done.state, done.finished_at, done.claimed_by) == (DELIVERED, NOON, None)


def test_unused_claim_does_not_count_as_an_attempt(store: Store) -> None:
    subscribe(store, "ann/1")
    tell(store, ("e1", "ann/1"))
    order(store)
    ((one,), _) = claim(store)
    record(store, Result(one.id, WAITING, NOON, was_tried=False))
    assert rows(store)[0].attempts == 0


def test_expired_lease_is_released_and_its_holder_cannot_record(store: Store) -> None:
    subscribe(store, "ann/1")
    tell(store, ("e1", "ann/1"))
    order(store)
    ((one,), _) = claim(store, who="dead")
    with store.database.writing() as connection:
        assert claims.holders(connection) == {"dead": NOON + LEASE}
        assert claims.release(connection, ["another"], 3, NOON + LEASE) == 0
        assert claims.release(connection, [], 3, NOON + LEASE + 1) == 1
        assert claims.holders(connection) == {}
    ((again,), _) = claim(store, at=NOON + 2 * LEASE, who="me")
    assert (again.id, again.attempts) == (one.id, 2)
    assert record(store, Result(one.id, DELIVERED, NOON), who="dead") == 0
    assert record(store, Result(one.id, DEAD, NOON, "x")) == 1
    assert states(store) == {DEAD: 1}


def test_claims_of_a_crashed_notifier_are_released_at_once(store: Store) -> None:
    subscribe(store, "ann/1")
    tell(store, ("e1", "ann/1"), ("e2", "ann/1"))
    order(store)
    claim(store, most=1, who="dead")
    claim(store, most=1, who="alive")
    with store.database.writing() as connection:
        assert claims.release(connection, ["dead"], 3, NOON) == 1
    assert sorted((row.state, row.claimed_by) for row in rows(store)) == [
        ("claimed", "alive"),
        ("waiting", None),
    ]


def test_delivery_is_dead_when_every_sender_crashes_on_it(store: Store) -> None:
    subscribe(store, "ann/1")
    tell(store, ("e1", "ann/1"))
    order(store)
    for attempt in range(3):
        assert len(claim(store, at=NOON + 2 * attempt * LEASE)[0]) == 1
        with store.database.writing() as connection:
            claims.release(connection, [], 3, NOON + (2 * attempt + 2) * LEASE)
    (row,) = rows(store)
    assert (row.state, row.attempts, row.error) == (DEAD, 3, "the notifier ended while sending")


def test_claim_uses_the_current_delivery_settings(store: Store) -> None:
    subscribe(store, "ann/1", hook("old"))
    tell(store, ("e1", "ann/1"))
    order(store)
    subscribe(store, "ann/1", hook("new"))
    ((one,), _) = claim(store)
    assert "new.example" in one.delivery


def test_delivery_is_cancelled_when_subscription_or_delivery_is_removed(store: Store) -> None:
    for name in ("ann/gone", "ann/mute", "ann/here"):
        subscribe(store, name)
    tell(store, *(("e1", name) for name in ("ann/gone", "ann/mute", "ann/here")))
    order(store)
    store.remove("ann/gone")
    assert states(store) == {WAITING: 2, CANCELLED: 1}
    store.put("ann/mute", "a = 1", owner="ann")
    taken, _ = claim(store)
    assert [one.subscription_id for one in taken] == ["ann/here"]
    assert states(store) == {"claimed": 1, CANCELLED: 2}


def test_claim_cancels_deliveries_of_a_removed_subscription(store: Store) -> None:
    """The removal and the dispatch may run at the same time."""
    subscribe(store, "ann/1")
    tell(store, ("e1", "ann/1"))
    order(store)
    with store.database.writing() as connection:
        connection.execute(sa.text("DELETE FROM subscriptions"))
    assert claim(store)[0] == []
    assert states(store) == {CANCELLED: 1}


def test_give_up_ends_only_old_deliveries_of_an_endpoint(store: Store) -> None:
    subscribe(store, "ann/1", hook("a"))
    subscribe(store, "ann/2", hook("b"))
    tell(store, ("e1", "ann/1"), ("e1", "ann/2"))
    order(store, NOON)
    tell(store, ("e2", "ann/1"))
    order(store, NOON + 10)
    with store.database.writing() as connection:
        assert (
            claims.give_up(connection, "ann webhook https://a.example:443", NOON + 5, "away", NOON + 20) == 1
        )
    assert [row.state for row in rows(store)] == [DEAD, WAITING, WAITING]


def test_concurrent_claims_never_overlap(store: Store) -> None:
    for number in range(10):
        subscribe(store, f"o{number}/1", hook(f"h{number}"))
    tell(store, *((f"e{event}", f"o{number}/1") for number in range(10) for event in range(30)))
    order(store)
    got: list[list[int]] = [[] for _ in range(4)]

    def work(place: int) -> None:
        after = ""
        while True:
            taken, after = claim(store, most=7, each=3, who=f"w{place}", after=after)
            got[place] += [one.id for one in taken]
            if not taken and not after:
                return

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [identity for each in got for identity in each]
    assert len(everything) == len(set(everything))
    # A worker skips the deliveries that another one is looking at; they are left.
    rest, _ = claim(store, most=1_000, each=1_000)
    assert len(everything) + len(rest) == 300


def waiting(number: int, endpoints: int) -> dict[str, Any]:
    """Store a delivery that is not due for a long time, to one of so many endpoints."""
    same = {"subscription_id": "x", "owner": "o", "transport": "log", "settings": "{}", "state": WAITING}
    where = {"outbox_id": number, "endpoint": f"o h{number % endpoints:04}"}
    return same | where | {"created_at": NOON, "due": NOON + 10**15}


def test_due_delivery_is_claimed_behind_a_thousand_waiting_endpoints(store: Store) -> None:
    far = [waiting(number, 2_500) for number in range(2, 25_002)]
    subscribe(store, "zed/1")
    tell(store, ("e", "zed/1"))
    with store.database.writing() as connection:
        dispatch.dispatch(connection, dispatch.DispatchOptions("test"), NOON)
        connection.execute(sa.insert(table), far)
    after, taken, turns = "", [], 0
    with statements(store) as sent:
        while not taken:
            taken, after = claim(store, after=after)
            turns += 1
    assert (turns, taken[0].owner) == (3, "zed")
    assert len(sent) < 20


def test_claim_cost_does_not_grow_with_waiting_deliveries(tmp_path: Path) -> None:
    """SQLite counts the steps of its virtual machine: deliveries that are not due do not add to them."""
    costs = []
    for size in (1_000, 20_000):
        with Store.open(f"sqlite:///{tmp_path / f'{size}.db'}") as store:
            subscribe(store, "zed/1")
            tell(store, ("e", "zed/1"))
            order(store)
            with store.database.writing() as connection:
                connection.execute(sa.insert(table), [waiting(number, 100) for number in range(2, size)])
            ask = ClaimRequest("me", NOON + LEASE, 100, lambda endpoint: 100, "")
            with store.database.writing() as connection, sqlite_steps(connection) as steps:
                assert [one.owner for one in claims.claim(connection, ask, NOON)[0]] == ["zed"]
            costs.append(len(steps))
    assert costs[1] < 2 * costs[0], costs


# -- the owners' view -----------------------------------------------------------------------------------


@pytest.fixture
def told(store: Store) -> Store:
    """Create six notifications of ann (one dead, one delivered, the others waiting) and a dead one of bob."""
    subscribe(store, "ann/1")
    subscribe(store, "bob/1")
    store.put("ann/quiet", "a = 1", owner="ann")
    tell(store, *((f"e{number}", "ann/1") for number in range(6)), ("e", "bob/1"), ("e", "ann/quiet"))
    order(store)
    taken, _ = claim(store)
    results = {"e0": (DEAD, "x"), "e1": (DELIVERED, None), "e": (DEAD, "y")}
    for one in taken:
        state, error = results.get(one.event_id, (WAITING, None))
        record(store, Result(one.id, state, NOON, error))
    return store


def test_history_pages_list_the_newest_first(told: Store) -> None:
    with told.database.reading() as connection:
        first, cursor = deliveries.history(connection, "ann/1", None, 4)
        rest, end = deliveries.history(connection, "ann/1", cursor, 4)
        quiet, _ = deliveries.history(connection, "ann/quiet", None, 4)
    assert [one.event_id for one in first + rest] == ["e5", "e4", "e3", "e2", "e1", "e0"]
    assert end is None
    assert (rest[-1].state, rest[-1].error, rest[-1].attempts) == (DEAD, "x", 1)
    assert (rest[0].state, rest[0].finished_at) == (DELIVERED, NOON)
    assert [one.state for one in quiet] == [None]


def test_dead_letters_are_listed_by_owner_and_for_all(told: Store) -> None:
    with told.database.reading() as connection:
        mine, _ = deliveries.dead_letters(connection, "ann", None, 10)
        everybody, _ = deliveries.dead_letters(connection, None, None, 10)
        assert [one.subscription_id for one in mine] == ["ann/1"]
        assert [one.subscription_id for one in everybody] == ["bob/1", "ann/1"]
        found = deliveries.find(connection, mine[0].id)
        assert found == mine[0]
        assert deliveries.find(connection, 10_000) is None


def test_redeliver_takes_only_finished_deliveries_of_the_owner(told: Store) -> None:
    ids = [row.outbox_id for row in rows(told)]
    with told.database.writing() as connection:
        assert deliveries.redeliver(connection, ids, "bob", [DEAD]) == 1
        assert deliveries.redeliver(connection, ids, "ann", [DEAD]) == 1
        assert deliveries.redeliver(connection, ids, "ann", [*FINISHED, WAITING, "claimed"]) == 1
        assert deliveries.redeliver(connection, ids, None, FINISHED) == 0
    assert states(told) == {WAITING: 7}
    fresh = next(row for row in rows(told) if row.outbox_id == ids[0])
    assert (fresh.attempts, fresh.finished_at) == (0, None)
    assert len({row.outbox_id for row in rows(told)}) == 7


def test_replay_delivers_kept_matches_when_a_delivery_is_set(told: Store) -> None:
    quiet = rows(told, outbox)[-1].id
    with told.database.writing() as connection:
        assert dispatch.replay(connection, "ann/quiet", [quiet], NOON) == 0
    subscribe(told, "ann/quiet", LOG)
    with told.database.writing() as connection:
        assert dispatch.replay(connection, "ann/quiet", [quiet, quiet + 1], NOON) == 1
        assert dispatch.replay(connection, "bob/1", [quiet], NOON) == 0
        assert dispatch.replay(connection, "ann/1", [row.id for row in rows(told, outbox)], NOON) == 2
    assert [one.subscription_id for one in claim(told)[0]].count("ann/quiet") == 1


def test_lag_reports_rows_lateness_and_dead_letters(told: Store) -> None:
    tell(told, ("more", "ann/1"))
    with told.database.reading() as connection:
        assert deliveries.lag(connection, NOON + 7 * SECOND) == deliveries.Lag(1, 4, 7.0, 2)
        assert deliveries.lag(connection, NOON - 1) == deliveries.Lag(1, 0, 0.0, 2)
