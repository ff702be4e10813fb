"""What is old and done is forgotten; what anybody waits for is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from tamis.live import Live
from tamis.live.keeper import Keeper
from tamis.store import Store, dispatch, events, retention
from tamis.store.dispatch import Rules
from tamis.store.events import NewEvent
from tamis.store.moments import now
from tamis.store.tables import deliveries
from tests.waiting import eventually

LOG = {"transport": "log"}
LATER = 10**15  # microseconds: long after anything here


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
        dispatch.dispatch(connection, Rules("tests"), now())
        connection.execute(sa.update(deliveries).values(state=state, finished_at=now()))


def rows(store: Store, table: str) -> int:
    with store.database.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_what_is_done_goes(store: Store) -> None:
    store.put("ann/1", "a = 1", owner="ann", delivery=LOG)
    publish(store, "e1", "e2")
    match(store)
    tell(store, "delivered")
    assert store.forget(now() - LATER) == (0, 0, 0, 0, 0)  # nothing is that old
    gone = store.forget(now() + 1)
    assert (gone.events, gone.outbox, gone.deliveries, gone.changes) == (2, 2, 2, 0)
    assert store.count() == 1


def test_what_waits_stays(store: Store) -> None:
    store.put("ann/1", "a = 1", owner="ann", delivery=LOG)
    publish(store, "e1")
    assert store.forget(now() + 1).events == 0  # it was not matched yet
    match(store)
    assert store.forget(now() + 1).outbox == 0  # nor dispatched
    tell(store, "waiting")
    assert store.forget(now() + 1)[1:3] == (0, 0)  # nor delivered
    tell(store, "dead")
    assert store.forget(now() + 1)[1:3] == (1, 1)


def test_the_last_change_of_each_stays_and_an_old_index_follows(store: Store, tmp_path: Path) -> None:
    store.put("ann/1", "a = 1")
    store.put("ann/2", "a = 1")
    Live.open(store, tmp_path / "index")._following.save()
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
        found._following.advance(store.last_change())
        assert len(found.index) == 1
        assert found.index.match({"a": 4}) == ["ann/1"]


def test_changes_that_an_event_waits_for_stay(store: Store) -> None:
    store.put("ann/1", "a = 1")
    publish(store, "e1")
    store.put("ann/1", "a = 2")
    assert store.forget(now() + 1).changes == 0
    match(store)
    assert [row["event_id"] for batch in store.read("outbox") for row in batch.to_pylist()] == ["shop/e1"]
    assert store.forget(now() + 1).changes == 1


def test_piece_by_piece(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PIECE", 2)
    store.put("ann/1", "a = 1", owner="ann", delivery=LOG)
    publish(store, *(f"e{number}" for number in range(7)))
    match(store)
    tell(store, "delivered")
    assert store.forget(now() + 1, lambda: True).events == 0
    gone = store.forget(now() + 1)
    assert (gone.events, gone.outbox, gone.deliveries) == (7, 7, 7)
    assert [rows(store, name) for name in ("events", "outbox", "deliveries")] == [0, 0, 0]


def test_the_keeper_does_it_by_itself(store: Store) -> None:
    publish(store, "e1")
    match(store)
    with Keeper(store, 1e-9):
        eventually(lambda: rows(store, "events") == 0)
