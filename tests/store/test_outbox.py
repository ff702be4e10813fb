"""The outbox stores each match once; batches and refused events are replayed safely."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.store import Store
from tamis.store.tables import batches, outbox, quarantine


def matches(*rows: tuple[str, str, int]) -> pa.Table:
    return pa.table(
        {
            "event_id": pa.array([row[0] for row in rows], pa.string()),
            "subscription_id": pa.array([row[1] for row in rows], pa.string()),
            "version": pa.array([row[2] for row in rows], pa.int64()),
        }
    )


def rows_of(store: Store, table: sa.Table) -> list[dict[str, Any]]:
    with store.database.reading() as connection:
        return [
            dict(row._mapping) for row in connection.execute(sa.select(table).order_by(*table.primary_key))
        ]


def test_all_columns_are_stored(store: Store) -> None:
    moment = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)
    full = matches(("e1", "s1", 7)).append_column("score", pa.array([0.5]))
    full = full.append_column("event_time", pa.array([moment], pa.timestamp("us", tz="UTC")))
    full = full.append_column("payload", pa.array(['{"a": "x, \\"y\\""}']))
    assert store.add_matches(full, "q", 3) == 1
    (row,) = rows_of(store, outbox)
    assert row["event_time"] == 1774747800_123456
    assert (row["kind"], row["score"], row["payload"]) == ("match", 0.5, '{"a": "x, \\"y\\""}')
    assert (row["query"], row["batch_id"], row["version"]) == ("q", 3, 7)
    assert row["created_at"] > row["event_time"]


def test_times_are_converted_to_utc(store: Store) -> None:
    naive = pa.array([datetime(2026, 1, 1)], pa.timestamp("ns"))
    store.add_matches(matches(("e1", "s1", 1)).append_column("event_time", naive), "q", 0)
    berlin = pa.array([datetime(2026, 1, 1)], pa.timestamp("ms", tz="Europe/Berlin"))
    store.add_matches(matches(("e2", "s1", 1)).append_column("event_time", berlin), "q", 0)
    first, second = (row["event_time"] for row in rows_of(store, outbox))
    assert first == second == 1767225600_000000


def test_match_is_stored_once(store: Store) -> None:
    assert store.add_matches(matches(("e1", "s1", 1), ("e1", "s2", 1)), "q", 0) == 2
    assert store.add_matches(matches(("e1", "s1", 1), ("e1", "s2", 1)), "q", 0) == 0
    assert store.add_matches(matches(("e1", "s1", 1), ("e1", "s1", 2), ("e1", "s1", 2)), "other", 5) == 1
    ids = [row["id"] for row in rows_of(store, outbox)]
    assert ids == sorted(ids)
    assert len(ids) == 3


MATCH = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(1, 3))


def test_any_repetition_in_any_order_gives_the_same_outbox(store: Store) -> None:
    @settings(max_examples=20)
    @given(st.lists(st.lists(MATCH, max_size=8), max_size=5))
    def check(batches_of_matches: list[list[tuple[str, str, int]]]) -> None:
        with store.database.writing() as connection:
            connection.execute(sa.delete(outbox))
        new = sum(store.add_matches(matches(*rows), "q", at) for at, rows in enumerate(batches_of_matches))
        wanted = {row for rows in batches_of_matches for row in rows}
        found = {(row["event_id"], row["subscription_id"], row["version"]) for row in rows_of(store, outbox)}
        assert (found, new) == (wanted, len(wanted))

    check()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (matches().drop_columns(["version"]), "lack version"),
        (matches(("e", "s", 1)).append_column("colour", pa.array(["red"])), "have colour"),
        (matches(("e", "s", 1)).set_column(2, "version", pa.array(["first"])), "version is string"),
        (matches(("e", "s", 1)).set_column(0, "event_id", pa.array([None], pa.string())), "event_id"),
    ],
)
def test_invalid_match_is_refused(store: Store, table: pa.Table, said: str) -> None:
    with pytest.raises(InputError, match=said):
        store.add_matches(table, "q", 0)
    assert rows_of(store, outbox) == []


def test_batch_pins_its_first_index_version(store: Store) -> None:
    assert store.begin_batch("q", 1, 10) == 10
    assert store.begin_batch("q", 1, 11) == 10
    assert store.begin_batch("q", 2, 11) == 11
    assert store.begin_batch("other", 1, 12) == 12
    assert not store.is_finished("q", 1)
    store.finish_batch("q", 1, 5)
    store.finish_batch("q", 1, 0)  # a replay adds nothing
    assert store.is_finished("q", 1)
    assert [row["rows"] for row in rows_of(store, batches)] == [None, 5, None]


def test_finished_batches_are_removed_when_old(store: Store) -> None:
    for number in range(4):
        store.begin_batch("q", number, 1)
    for number in (0, 1, 3):
        store.finish_batch("q", number, 0)
    assert store.forget_batches("other", 4) == 0
    assert store.forget_batches("q", 3) == 2
    assert sorted(row["batch_id"] for row in rows_of(store, batches)) == [2, 3]


def test_refused_events_are_stored_once_per_batch(store: Store) -> None:
    refused = pa.table(
        {
            "event_id": pa.array(["e1", None, None], pa.string()),
            "code": ["event-syntax", "event-value", "event-value"],
            "message": ["not JSON", "NaN", "NaN"],
            "text": pa.array(["{", '{"a": NaN}\0', '{"b": NaN}'], pa.string()),
        }
    )
    assert store.quarantine_events(refused, "q", 1) == 3
    assert store.quarantine_events(refused, "q", 1) == 0
    assert store.quarantine_events(refused.slice(0, 1), "q", 2) == 1
    assert [row["text"] for row in rows_of(store, quarantine)] == ["{", '{"a": NaN}\ufffd', '{"b": NaN}', "{"]


def test_nul_in_a_match_is_replaced(store: Store) -> None:
    odd = matches(("e\0", "s1", 1)).append_column("payload", pa.array(["x\0y"]))
    assert store.add_matches(odd, "q", 0) == 1
    assert [(row["event_id"], row["payload"]) for row in rows_of(store, outbox)] == [("e\ufffd", "x\ufffdy")]


def test_tables_with_empty_chunks_are_stored(store: Store) -> None:
    chunks = pa.chunked_array([[], ["e1"], [], ["e2", "e3"]], pa.string())
    table = pa.table({"event_id": chunks, "subscription_id": ["s"] * 3, "version": [1, 1, 1]})
    assert store.add_matches(table, "q", 0) == 3
    rows = [row for batch in store.read("outbox") for row in batch.to_pylist()]
    assert [row["event_id"] for row in rows] == ["e1", "e2", "e3"]
