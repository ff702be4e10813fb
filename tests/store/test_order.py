"""Changes of all writers become visible in order, and never partially."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tamis.limits import DEFAULT_LIMITS
from tamis.store import Store, subscriptions
from tamis.store.outbox import add_matches
from tamis.store.tables import outbox
from tests.waiting import PATIENCE, eventually

PIECE = 400
WRITER = f"""
import sys
import pyarrow as pa
from tamis.store import Store

store = Store.open(sys.argv[1])
for number in range(10_000):
    ids = [f"s{{number}}-{{row}}" for row in range({PIECE})]
    assert store.put_many([(name, "a = 1") for name in ids]).changed == {PIECE}
    table = pa.table({{"event_id": ids, "subscription_id": ids, "version": [1] * {PIECE}}})
    assert store.add_matches(table, "q", number) == {PIECE}
    print(number, flush=True)
"""


def waits_for_a_lock(store: Store) -> bool:
    """Return whether a transaction in this database waits for another."""
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with store.database.reading() as connection:
        return bool(connection.exec_driver_sql(waits).scalar())


def test_writer_waits_for_the_holder_of_the_previous_number(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        entry = subscriptions.entry_from(("first", "a = 1"), DEFAULT_LIMITS)
        second = threading.Thread(target=store.put, args=("second", "a = 2"))
        with store.database.writing() as slow:
            subscriptions.write(slow, [entry])
            second.start()
            eventually(lambda: waits_for_a_lock(store))
            assert store.changes(0) == []
        second.join(PATIENCE)
        assert [(change.sequence, change.id) for change in store.changes(0)] == [(1, "first"), (2, "second")]


def test_outbox_rows_become_visible_in_order(postgres_url: str) -> None:
    def matches(name: str) -> pa.Table:
        return pa.table({"event_id": [name], "subscription_id": ["s"], "version": [1]})

    with Store.open(postgres_url) as store:
        second = threading.Thread(target=store.add_matches, args=(matches("second"), "q", 0))
        with store.database.writing() as slow:
            add_matches(slow, matches("first"), "q", 0)
            second.start()
            eventually(lambda: waits_for_a_lock(store))
        second.join(PATIENCE)
        with store.database.reading() as connection:
            found = connection.execute(sa.select(outbox.c.event_id).order_by(outbox.c.id)).scalars().all()
        assert found == ["first", "second"]


def test_reader_never_sees_a_smaller_number_appear(store: Store) -> None:
    def write(writer: int) -> None:
        for number in range(25):
            if number % 5:
                store.put(f"w{writer}-{number}", "a = 1")
            else:
                store.put_many([(f"w{writer}-{number}-{row}", "a = 1") for row in range(50)])

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for writer in writers:
        writer.start()
    seen: list[int] = []
    while any(writer.is_alive() for writer in writers):
        now = [change.sequence for change in store.changes(0, most=10_000)]
        assert now[: len(seen)] == seen
        seen = now
    total = store.last_change()
    assert [change.sequence for change in store.changes(0, most=10_000)] == list(range(1, total + 1))
    assert total == 4 * (5 * 50 + 20) == store.count()


@pytest.mark.parametrize("after", [1, 4])
def test_killed_writer_leaves_no_partial_write(tmp_path: Path, after: int) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(after)]
        log = tmp_path / "store.db-wal"
        before = log.stat().st_size
        # The writer is in the middle of the next transaction.
        eventually(lambda: log.stat().st_size != before, every=0.001)
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().splitlines()]
    with Store.open(url) as store:
        subscriptions, last = store.count(), store.last_change()
        assert subscriptions % PIECE == 0
        assert [change.sequence for change in store.changes(0, most=10**6)] == list(range(1, last + 1))
        assert subscriptions == last >= PIECE * len(acknowledged)
        with store.database.reading() as connection:
            rows = connection.execute(sa.select(sa.func.count()).select_from(outbox)).scalar_one()
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert rows % PIECE == 0
        assert rows in (subscriptions, subscriptions - PIECE)
        assert rows >= PIECE * len(acknowledged)
        store.put("after", "a = 1")  # writing still works
