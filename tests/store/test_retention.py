"""Retention removes old finished rows and keeps every row that is still needed."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from tamis.live import Live
from tamis.live.retention import RetentionWorker
from tamis.store import Store, dispatch, events, retention
from tamis.store.dispatch import DispatchOptions
from tamis.store.events import NewEvent
from tamis.store.retention import Forgotten
from tamis.store.tables import deliveries
from tamis.store.timestamps import now
from tests.counting import sqlite_steps
from tests.waiting import eventually

LOG = {"transport": "log"}
LATER = 10**15  # microseconds, long after all times here


def publish(store: Store, *names: str) -> None:
    with store.database.writing() as connection:
        events.publish_all(connection, [("shop", [NewEvent(name, None, '{"a": 1}') for name in names])])


def match(store: Store) -> None:
    matcher = Live.open(store)._matcher
    while matcher.step():
        pass
    matcher.stop()


def tell(store: Store, state: str) -> None:
    with store.database.writing() as connection:
        dispatch.dispatch(connection, DispatchOptions("tests"), now())
        connection.execute(sa.update(deliveries).values(state=state, finished_at=now()))


def rows(store: Store, table: str) -> int:
    with store.database.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_finished_rows_are_removed(store: Store) -> None:
    store.put("ann/1", "a = 1", owner="ann", delivery=LOG)
    publish(store, "e1", "e2")
    match(store)
    tell(store, "delivered")
    assert store.forget(now() - LATER) == (0, 0, 0, 0, 0)  # no row is that old
    gone = store.forget(now() + 1)
    assert (gone.events, gone.outbox, gone.deliveries, gone.changes) == (2, 2, 2, 0)
    assert store.count() == 1


def test_unfinished_rows_are_kept(store: Store) -> None:
    store.put("ann/1", "a = 1", owner="ann", delivery=LOG)
    publish(store, "e1")
    assert store.forget(now() + 1).events == 0  # the event is not matched yet
    match(store)
    assert store.forget(now() + 1).outbox == 0  # not dispatched yet
    tell(store, "waiting")
    assert store.forget(now() + 1)[1:3] == (0, 0)  # not delivered yet
    tell(store, "dead")
    assert store.forget(now() + 1)[1:3] == (1, 1)


def test_last_change_of_each_subscription_is_kept_for_an_old_index(store: Store, tmp_path: Path) -> None:
    store.put("ann/1", "a = 1")
    store.put("ann/2", "a = 1")
    Live.open(store, tmp_path / "index")._follower.save()
    for number in range(5):
        store.put("ann/1", f"a = {number}")
    store.remove("ann/2")
    assert store.forget(now() + 1).changes == 6
    assert [(change.id, change.expression) for change in store.changes(0)] == [
        ("ann/1", "a = 4"),
        ("ann/2", None),
    ]
    for folder in (tmp_path / "index", None):
        found = Live.open(store, folder)
        found._follower.advance(store.last_change())
        assert len(found.index) == 1
        assert found.index.match({"a": 4}) == ["ann/1"]


def test_changes_are_kept_while_an_event_needs_them(store: Store) -> None:
    store.put("ann/1", "a = 1")
    publish(store, "e1")
    store.put("ann/1", "a = 2")
    assert store.forget(now() + 1).changes == 0
    match(store)
    assert [row["event_id"] for batch in store.read("outbox") for row in batch.to_pylist()] == ["shop/e1"]
    assert store.forget(now() + 1).changes == 1


def test_rows_are_removed_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "STEP_ROWS", 2)
    store.put("ann/1", "a = 1", owner="ann", delivery=LOG)
    publish(store, *(f"e{number}" for number in range(7)))
    match(store)
    tell(store, "delivered")
    assert store.forget(now() + 1, lambda: True).events == 0
    gone = store.forget(now() + 1)
    assert (gone.events, gone.outbox, gone.deliveries) == (7, 7, 7)
    assert [rows(store, name) for name in ("events", "outbox", "deliveries")] == [0, 0, 0]


def test_changes_are_removed_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction examines one batch; changes that nothing supersedes do not stop the search."""
    monkeypatch.setattr(retention, "STEP_ROWS", 3)
    store.put_many([(f"still/{number}", "a = 1") for number in range(10)])
    for number in range(8):
        store.put("busy", f"a = {number}")
    store.put("still/3", "a = 2")
    with store.database.writing() as connection:
        assert retention.forget(connection, now() + 1) == (Forgotten(), False)
    assert store.forget(now() + 1).changes == 8
    assert [change.id for change in store.changes(0)].count("busy") == 1
    assert len(store.changes(0)) == 11
    store.put("busy", "a = 9")
    assert store.forget(now() + 1).changes == 1


def test_change_is_kept_until_the_one_that_supersedes_it_is_old(store: Store) -> None:
    store.put("s", "a = 1")
    between = now() + 1
    eventually(lambda: now() > between)
    store.put("s", "a = 2")
    assert store.forget(between).changes == 0
    assert store.forget(now() + 1).changes == 1


def test_superseded_changes_are_found_by_the_index(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
        statement = retention.delete_superseded(5, 10).compile(
            dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}
        )
        with store.database.reading() as connection:
            plan = [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")]
    assert any("changes_subscription" in step for step in plan), plan
    assert not any(step.startswith("SCAN") and "each" not in step for step in plan), plan


def test_step_cost_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """SQLite counts its virtual machine steps: after a first pass, one more change costs a fixed number."""
    costs = []
    for size in (2_000, 20_000):
        with Store.open(f"sqlite:///{tmp_path / f'{size}.db'}") as store:
            store.put_many([(f"s{number}", "a = 1") for number in range(size)])
            store.forget(now() + 1)
            store.put("s7", "a = 2")
            with store.database.writing() as connection, sqlite_steps(connection) as steps:
                assert retention.forget(connection, now() + 1).gone.changes == 1
            costs.append(len(steps))
    assert costs[1] < 2 * costs[0] + 20, costs


def test_retention_worker_removes_rows(store: Store) -> None:
    publish(store, "e1")
    match(store)
    with RetentionWorker(store, 1e-9):
        eventually(lambda: rows(store, "events") == 0)
