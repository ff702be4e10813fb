"""Digests over real streams with one-second ticks: grouped, without duplicates or losses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tamis.errors import InputError
from tamis.spark.digest import digest
from tamis.store import Store
from tamis.store.digest_plan import Part
from tamis.store.digests import DigestBatch
from tests.spark.queries import until
from tests.waiting import eventually

pytestmark = pytest.mark.spark

COLUMNS = "event_id string, subscription_id string, version long, event_time timestamp, payload string"
_numbers = count()


class Stream:
    """A folder of JSON files as a stream of matches, and a query that digests it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        (folder / "in").mkdir()
        self.store = Store.open(f"sqlite:///{folder / 'store.db'}")

    def send(self, *matches: tuple[str, str, datetime | None]) -> None:
        rows = [
            {
                "event_id": event,
                "subscription_id": to,
                "version": 1,
                "event_time": at and at.isoformat(),
                "payload": "p",
            }
            for event, to, at in matches
        ]
        name = f"{next(_numbers)}.json"
        (self.folder / name).write_text("\n".join(map(json.dumps, rows)))
        (self.folder / name).rename(self.folder / "in" / name)  # the file appears as a whole

    def matches(self) -> DataFrame:
        return self.spark.readStream.schema(COLUMNS).json(str(self.folder / "in"))

    def start(self, matches: DataFrame | None = None, **more: Any) -> StreamingQuery:
        return digest(
            self.matches() if matches is None else matches,
            store=self.store,
            checkpoint=str(self.folder / "checkpoint"),
            name="test digest",
            tick="1 second",
            lateness="1 second",
            trigger={"processingTime": "0 seconds"},
            partitions=3,
            **more,
        )

    def error_of(self, subscription: str) -> list[dict[str, Any]]:
        rows = [row for batch in self.store.read("outbox") for row in batch.to_pylist()]
        mine = [row for row in rows if row["subscription_id"] == subscription]
        return [row | json.loads(row["payload"] or "{}") for row in mine]

    def events(self, subscription: str) -> list[str]:
        return sorted(event["event_id"] for row in self.error_of(subscription) for event in row["events"])


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Iterator[Stream]:
    made = Stream(spark, tmp_path)
    yield made
    for query in spark.streams.active:
        query.stop()
    made.store.close()


def consumed(query: StreamingQuery, rows: int) -> bool:
    """Return whether so many matches were read; the heartbeat has one row a second."""
    sources = [source for progress in query.recentProgress for source in progress.sources]
    return sum(source.numInputRows for source in sources if "File" in source.description) >= rows


def test_matches_are_grouped_and_digested_once(stream: Stream) -> None:
    stream.store.put("grouped", "a = 1", schedule="every 2 seconds")
    stream.store.put("plain", "a = 1")
    now = datetime.now(UTC)
    stream.send(
        *((f"e{number % 5}", "grouped", now) for number in range(15)),
        ("late", "plain", now - timedelta(days=400)),
        ("early", "plain", now + timedelta(days=400)),
        ("timeless", "plain", None),
        ("stray", "nobody", now),
    )
    query = stream.start()
    until(lambda: consumed(query, 18), query)
    # One repeated and one new match, both late by now.
    stream.send(("e0", "grouped", now), ("e5", "grouped", now))
    until(lambda: stream.events("grouped")[-1:] == ["e5"] and len(stream.events("plain")) == 3, query)
    assert stream.events("grouped") == ["e0", "e1", "e2", "e3", "e4", "e5"]
    assert stream.events("plain") == ["early", "late", "timeless"]
    assert sum(row["count"] for row in stream.error_of("grouped")) == 6
    for row in stream.error_of("grouped"):
        start, end = datetime.fromisoformat(row["from"]), datetime.fromisoformat(row["to"])
        assert end - start == timedelta(seconds=2)
        assert row["event_id"] == f"digest/{row['from']}"
        assert row["created_at"] >= end
        assert [event["payload"] for event in row["events"]] == ["p"] * row["count"]
    assert stream.error_of("nobody") == []
    assert {state.numShufflePartitions for state in query.lastProgress.stateOperators} == {3}
    assert stream.spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_state_survives_a_restart_and_a_replay_adds_nothing(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.store.put("grouped", "a = 1", schedule="every 2 seconds")
    stream.store.put("plain", "a = 1")
    query = stream.start()
    stream.send(("before", "grouped", None), ("before", "plain", None))
    until(lambda: consumed(query, 2), query)
    query.stop()  # most likely only Spark's state holds the matches
    stream.send(("between", "grouped", None), ("between", "plain", None))

    commit = Store.add_digests

    def crash_after_commit(store: Store, run: DigestBatch, parts: Sequence[Part]) -> int:
        made = commit(store, run, parts)
        if parts:
            raise OSError("the plug was pulled")
        return made

    monkeypatch.setattr(Store, "add_digests", crash_after_commit)
    query = stream.start()
    eventually(lambda: query.exception() is not None)
    assert "the plug was pulled" in str(query.exception())
    monkeypatch.setattr(Store, "add_digests", commit)
    query = stream.start()  # the crashed batch is replayed
    until(lambda: {len(stream.events(name)) >= 2 for name in ("grouped", "plain")} == {True}, query)
    batch = query.lastProgress.batchId
    until(lambda: query.lastProgress.batchId > batch + 2, query)
    for name in ("grouped", "plain"):
        assert stream.events(name) == ["before", "between"]
        assert sum(row["count"] for row in stream.error_of(name)) == 2


def test_outbox_matches_become_digests_in_the_outbox(stream: Stream) -> None:
    stream.store.put("grouped", "a = 1", schedule="every 2 seconds")
    stream.store.put("plain", "a = 1")
    ids = [("e1", "grouped"), ("e2", "grouped"), ("e1", "plain")]
    rows = [{"event_id": event, "subscription_id": name, "version": 1} for event, name in ids]
    stream.store.add_matches(pa.Table.from_pylist(rows), "matches", 0)
    options = {"store": stream.store.url, "table": "outbox", "partitions": "1"}
    outbox = stream.spark.readStream.format("tamis").options(**options).load()
    query = stream.start(outbox, at_once=False)
    until(lambda: len(stream.error_of("grouped")) > 2, query)
    (digested,) = [row for row in stream.error_of("grouped") if row["kind"] == "digest"]
    assert digested["count"] == 2
    until(lambda: json.loads(query.lastProgress.sources[0].endOffset) == {"number": 4}, query)
    batch = query.lastProgress.batchId  # the query reads the digest itself, which is no match
    until(lambda: query.lastProgress.batchId > batch + 2, query)
    assert [len(stream.error_of(name)) for name in ("grouped", "plain")] == [3, 1]


def test_invalid_digest_input_is_refused(spark: SparkSession, stream: Stream) -> None:
    fixed = spark.createDataFrame([], COLUMNS)
    options: dict[str, Any] = {"store": stream.store, "checkpoint": "c", "name": "n"}
    with pytest.raises(InputError, match="streaming DataFrame"):
        digest(fixed, **options)
    with pytest.raises(InputError, match="lack version"):
        digest(stream.matches().drop("version"), **options)
    with pytest.raises(InputError, match="tick is a time such as"):
        digest(stream.matches(), tick="often", **options)
    with pytest.raises(InputError, match="lateness is a time such as"):
        digest(stream.matches(), lateness="-1 seconds", **options)
    with pytest.raises(InputError, match="most_events"):
        digest(stream.matches(), most_events=0, **options)
    with pytest.raises(InputError, match="partitions"):
        digest(stream.matches(), partitions=0, **options)
