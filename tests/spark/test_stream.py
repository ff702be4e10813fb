"""Streams lose and repeat nothing and use the current index, whichever process is killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis.errors import IndexNotFound, InputError, TamisError
from tests.spark.queries import until
from tests.spark.world import SCHEMA, World

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> World:
    from tamis.spark import build

    made = World(tmp_path)
    frame = spark.read.format("tamis").option("store", made.store.url).load()
    build(frame, made.path, shards=2, applied=made.store.last_change())
    return made


def reading(spark: SparkSession, world: World) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(world.folder / "events"))


@pytest.fixture
def start(spark: SparkSession, world: World) -> Iterator[Callable[..., Any]]:
    from tamis.spark import match_stream

    running = []

    def begin(**options: Any) -> Any:
        options = {"store": world.store, "name": "test", **options}
        checkpoint = str(world.folder / "checkpoint")
        running.append(match_stream(reading(spark, world), world.path, checkpoint=checkpoint, **options))
        return running[-1]

    yield begin
    for query in running:
        query.stop()


def test_changes_apply_from_the_next_event_on(world: World, start: Callable[..., Any]) -> None:
    query = start()
    event = {"a": 1, "b": 3}
    world.send({"e1": json.dumps(event), "bad": "{"})
    first = world.expected(event)
    assert first
    until(lambda: {s for e, s, _ in world.outbox() if e == "e1"} == first, query)
    until(lambda: world.quarantine() == {("bad", "event-syntax")}, query)

    gone = sorted(first)[0]
    world.store.remove(gone)
    world.store.put("new", "a = 1")
    version = world.store.put(sorted(first)[1], "b = 3")
    world.send({"e2": json.dumps(event)})
    second = world.expected(event)
    assert gone not in second
    assert "new" in second
    until(lambda: {s for e, s, _ in world.outbox() if e == "e2"} == second, query)
    assert ("e2", sorted(first)[1], version) in world.outbox(), "the version that was matched"


def test_new_build_is_used_without_a_restart(
    spark: SparkSession, world: World, start: Callable[..., Any]
) -> None:
    from tamis.spark import build

    query = start()
    world.send({"e1": '{"a": 1, "b": 1}'})
    until(lambda: bool(world.outbox()), query)
    rows = [(f"r{n}", "a = 1", 99) for n in range(5)]
    frame = spark.createDataFrame(rows, "id string, expression string, version long")
    build(frame, world.path, shards=3, applied=world.store.last_change(), engine="kindex")
    world.send({"e2": '{"a": 1, "b": 1}'})
    built = {(f"r{n}", 99) for n in range(5)}
    until(lambda: {(s, v) for e, s, v in world.outbox() if e == "e2"} == built, query)


def test_replayed_batch_adds_nothing(world: World, spark: SparkSession) -> None:
    from tamis.shards.location import Location
    from tamis.shards.manifest import current
    from tamis.spark.events import events
    from tamis.spark.stream import _Batches
    from tamis.spark.worker import MatchOptions

    (world.folder / "checkpoint").mkdir()
    (world.folder / "checkpoint" / "metadata").write_text('{"id": "one"}')
    options = (
        world.path,
        MatchOptions(),
        "auto",
        str(world.folder / "checkpoint"),
        "again",
        world.store.url,
        None,
    )
    batch = events(spark.createDataFrame([("e1", '{"a": 1, "b": 1}')], SCHEMA))
    pinned = current(Location(world.path)).number

    class Killed(Exception):
        pass

    class Dying(_Batches):
        def _match_into_store(self, *given: Any) -> None:
            raise Killed  # the batch pins its version and writes nothing

    with pytest.raises(Killed):
        Dying(*options)(batch, 0)
    world.store.remove("s1")
    _Batches(*options)(batch, 0)
    once = world.outbox()
    assert any(s == "s1" for _, s, _ in once), f"matched against version {pinned}, as the first time"
    _Batches(*options)(batch, 0)
    assert world.outbox() == once
    # A new checkpoint is a new query: its batch 0 is another batch, and is matched against the current index.
    (world.folder / "checkpoint" / "metadata").write_text('{"id": "two"}')
    other = events(spark.createDataFrame([("e2", '{"a": 1, "b": 1}')], SCHEMA))
    _Batches(*options)(other, 0)
    assert not any(s == "s1" for e, s, _ in world.outbox() if e == "e2")
    assert any(e == "e2" for e, _, _ in world.outbox())


def test_sink_may_be_any_function(world: World, start: Callable[..., Any]) -> None:
    taken: list[tuple[str, str]] = []

    def sink(noted: DataFrame, number: int) -> None:
        taken.extend((r["event_id"], r["subscription_id"]) for r in noted.where("note IS NULL").collect())

    query = start(store=None, sink=sink)
    world.send({"e1": '{"a": 2, "b": 2}'})
    until(lambda: bool(taken), query)
    assert {s for _, s in taken} == world.expected({"a": 2, "b": 2})


def test_plain_stream_follows_the_index(spark: SparkSession, world: World) -> None:
    from tamis.spark import build, match

    matches = reading(spark, world).transform(match(world.path))
    query = matches.writeStream.format("memory").queryName("followed").start()
    try:
        world.send({"e1": '{"a": 1, "b": 1}'})
        until(lambda: spark.table("followed").count() > 0, query)
        frame = spark.createDataFrame([("only", "a = 1")], "id string, expression string")
        build(frame, world.path, shards=2)
        world.send({"e2": '{"a": 1, "b": 1}'})
        until(lambda: spark.table("followed").where("event_id = 'e2'").count() > 0, query)
        assert [r["subscription_id"] for r in spark.table("followed").where("event_id = 'e2'").collect()] == [
            "only"
        ]
    finally:
        query.stop()


def test_invalid_stream_is_refused_before_the_first_event(
    spark: SparkSession, world: World, start: Callable[..., Any], tmp_path: Path
) -> None:
    from tamis.spark import match_stream

    with pytest.raises(InputError, match="one of them"):
        start(sink=lambda *_: None)
    with pytest.raises(InputError, match="streaming DataFrame"):
        match_stream(spark.range(1), world.path, checkpoint="x", store=world.store)
    with pytest.raises(IndexNotFound, match="nowhere"):
        match_stream(reading(spark, world), str(tmp_path / "nowhere"), checkpoint="x", store=world.store)
    with pytest.raises(TamisError, match=r"refused|connect"):
        start(store="postgresql+psycopg://nobody@127.0.0.1:1/none")
