"""Every published event is matched against the subscriptions in force when it was published."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tamis import Index
from tamis.index.changes import row_of
from tamis.live import Live
from tamis.live.index_follower import IndexFollower
from tamis.store import Store, events, positions, subscriptions, timestamps
from tamis.store.events import NewEvent

COLOURS = ["red", "green", "blue"]


class History:
    """The changes and events of a store, and the notifications that must follow from them."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self._rng = store, random.Random(seed)
        self._force: dict[str, tuple[str, int]] = {}
        self.expected: set[tuple[str, str, int]] = set()
        self.number = 0

    def go_on(self, steps: int) -> None:
        for _ in range(steps):
            if self._rng.random() < 0.5:
                self._change()
            else:
                self._publish()

    def _change(self) -> None:
        name = f"ann/{self._rng.randrange(12)}"
        if name in self._force and self._rng.random() < 0.3:
            self.store.remove(name)
            del self._force[name]
            return
        paused = self._rng.random() < 0.2
        text = f"price < {self._rng.randrange(10)} OR colour = '{self._rng.choice(COLOURS)}'"
        version = self.store.put(name, text, status="paused" if paused else "active")
        self._force.pop(name, None)
        if not paused:
            self._force[name] = text, version

    def _publish(self) -> None:
        rows = []
        for _ in range(self._rng.randrange(1, 4)):
            self.number += 1
            body = {"price": self._rng.randrange(10), "colour": self._rng.choice([*COLOURS, "grey"])}
            rows.append(NewEvent(f"e{self.number}", None, json.dumps(body)))
            index = Index.build({name: text for name, (text, _) in self._force.items()}, engine="scan")
            for name in index.match(body):
                self.expected.add((f"shop/e{self.number}", name, self._force[name][1]))
        with self.store.database.writing() as connection:
            assert {done.status for done in events.publish_all(connection, [("shop", rows)])[0]} == {
                "accepted"
            }


def on_step(store: Store) -> list[tuple[str, str, int]]:
    rows = [row for batch in store.read("outbox") for row in batch.to_pylist()]
    return [(row["event_id"], row["subscription_id"], row["version"]) for row in rows]


def drain(service: Live) -> None:
    while service._matcher.step():
        pass


@pytest.mark.parametrize("seed", range(4))
def test_event_is_matched_with_the_subscriptions_of_its_moment(
    store: Store, seed: int, tmp_path: Path
) -> None:
    history = History(store, seed)
    history.go_on(60)
    service = Live.open(store, tmp_path / "index")
    drain(service)
    history.go_on(60)
    assert service._matcher.step()
    if seed % 2:
        service._follower.save()
    history.go_on(30)
    with store.database.writing() as connection:
        positions.release(connection, positions.LIVE, service._matcher.name)
    again = Live.open(store, tmp_path / "index", engine="psthash" if seed == 3 else "hybrid")
    drain(again)
    found = on_step(store)
    assert len(found) == len(set(found))
    assert set(found) == history.expected
    assert again.lag() == 0


@pytest.mark.parametrize("seed", range(3))
def test_direct_match_sees_the_current_subscriptions(store: Store, seed: int) -> None:
    """All matches, pages and the best, while the index is behind, catching up and current."""
    rng = random.Random(seed)
    follower = IndexFollower(store, None, "hybrid", 0)
    for _ in range(12):
        for _ in range(rng.randrange(1, 12)):
            name = f"{rng.choice(['ann', 'bob'])}/{rng.randrange(15)}"
            if store.get(name) is not None and rng.random() < 0.3:
                store.remove(name)
                continue
            text = f"price < {rng.randrange(10)} ^ {rng.randrange(1, 4)} OR colour = '{rng.choice(COLOURS)}'"
            status = "paused" if rng.random() < 0.2 else "active"
            store.put(name, text, priority=rng.randrange(3), status=status)
        last = store.last_change()
        follower.advance(rng.randrange(follower.position, last + 1))
        event = {"price": rng.randrange(10), "colour": rng.choice(COLOURS)}
        changes = [change for change in store.subscriptions_at(last) if change.id.startswith("ann/")]
        oracle = Index.build([row_of(change) for change in changes], engine="scan")
        ids = sorted(oracle.match(event))
        matched = list(zip(ids, oracle.versions(ids), strict=True))
        assert sorted(follower.match_now(event, "ann", 100)) == matched
        first = follower.page_now(event, "ann", 100, "", 3)
        after = first.items[-1].id if first.items else ""
        second = follower.page_now(event, "ann", 100, after, 100)
        assert first.items + (second.items if first.is_followed else []) == matched
        assert (first.total, second.total, second.is_followed) == (len(ids), len(ids), False)
        for k in (1, 3, 20):
            assert follower.top_now(event, k, "ann") == list(oracle.top_k(event, k))


def test_matches_are_exact_when_batches_span_few_changes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.live.index_follower.STEP", 3)
    monkeypatch.setattr("tamis.live.matcher.STEP", 3)
    history = History(store, 99)
    history.go_on(80)
    drain(Live.open(store))
    assert set(on_step(store)) == history.expected


def test_two_services_share_the_work_and_write_each_match_once(store: Store) -> None:
    history = History(store, 4)
    first, second = Live.open(store), Live.open(store)
    second._matcher.name = "another"
    for _ in range(10):
        history.go_on(10)
        place = _place(store)
        with store.database.reading() as connection:
            batch = events.waiting(connection, place, 100)
        if not batch:
            continue
        second._follower.advance(batch[0].known)
        late = second._matcher._match(batch)
        drain(first)
        assert second._matcher._commit(place, batch, *late) is None  # the first service was faster
    drain(first)
    found = on_step(store)
    assert len(found) == len(set(found))
    assert set(found) == history.expected


def test_standby_service_takes_over_when_the_active_one_stops(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(store, 5)
    history.go_on(30)
    first, second = Live.open(store), Live.open(store)
    assert first._matcher.step()
    history.go_on(10)
    assert not second._matcher.step()  # it is on standby
    assert second._follower.position > 0
    monkeypatch.setattr("tamis.live.matcher.now", lambda: timestamps.now() + 6_000_000)
    drain(second)
    assert set(on_step(store)) == history.expected


def test_index_of_another_store_is_ignored(store: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as other:
        other.put("s", "a = 1")
        IndexFollower(other, tmp_path / "index", "hybrid", 1).save()
    store.put("t", "a = 1")
    assert Live.open(store, tmp_path / "index").match({"a": 1}, None) == [("t", 1)]


def test_index_newer_than_the_store_is_ignored(store: Store, tmp_path: Path) -> None:
    """A database restored from a backup lacks changes that the saved index contains."""
    store.put("s", "a = 1")
    store.put("s", "a = 2")
    IndexFollower(store, tmp_path / "index", "hybrid", 2).save()
    follower = IndexFollower(store, tmp_path / "index", "hybrid", 1)
    assert follower.position == 1
    assert follower.index.match({"a": 1}) == ["s"]


def _place(store: Store) -> int:
    with store.database.reading() as connection:
        assert subscriptions.last_change(connection) >= 0
        return positions.read(connection, positions.LIVE).value
