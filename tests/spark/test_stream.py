"""Streams lose and repeat nothing and use the current index, whichever process is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tamis
from tamis.errors import IndexNotFound, InputError, TamisError
from tamis.store import Store
from tests.spark.queries import until
from tests.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

BOOK = {f"s{n}": f"a = {n % 4} AND b <= {n % 6}" for n in range(40)}
SCHEMA = "event_id string, attributes string"


class World:
    """A store, an index and a folder of events."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, str(folder / "index")
        (folder / "events").mkdir()
        self.store = Store.open(f"sqlite:///{folder}/store.db")
        self.store.put_many(BOOK)
        self._files = 0

    def send(self, events: dict[str, Any]) -> None:
        """Write one file, which appears as a whole."""
        self._files += 1
        lines = [json.dumps({"event_id": name, "attributes": text}) for name, text in events.items()]
        part = self.folder / f"part-{self._files}"
        part.write_text("\n".join(lines) + "\n")
        os.rename(part, self.folder / "events" / f"{self._files:04d}.json")

    def outbox(self) -> set[tuple[str, str, int]]:
        rows = [row for batch in self.store.read("outbox") for row in batch.to_pylist()]
        found = {(row["event_id"], row["subscription_id"], row["version"]) for row in rows}
        assert len(found) == len(rows), "each once"
        return found

    def quarantine(self) -> set[tuple[str, str]]:
        rows = [row for batch in self.store.read("quarantine") for row in batch.to_pylist()]
        return {(row["event_id"], row["code"]) for row in rows}

    def expected(self, event: dict[str, int]) -> set[str]:
        book = {r["id"]: r["expression"] for b in self.store.subscriptions() for r in b.to_pylist()}
        return set(tamis.Index.build(book, engine="scan").match(event))


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


@pytest.mark.slow
def test_killing_driver_worker_and_executor_loses_nothing(world: World, repo_root: Path) -> None:
    """Send ``SIGKILL`` to the whole job in mid-batch, then to a Python worker, repeatedly."""
    events = {f"e{n}": {"a": n % 4, "b": n % 6} for n in range(60)}
    for low in range(0, 60, 5):
        world.send({name: json.dumps(events[name]) for name in list(events)[low : low + 5]})
    want = {(name, s) for name, event in events.items() for s in world.expected(event)}
    for attempt, victim in enumerate(("driver", "worker", "nobody")):
        job = _job(world, repo_root)
        if victim != "nobody":
            before = len(world.outbox())
            _wait(lambda before=before: len(world.outbox()) > before, job)
            _kill(job, victim)
        job.wait(timeout=5 * PATIENCE)
        _end(job)
        assert attempt < 2 or job.returncode == 0
    assert {(e, s) for e, s, _ in world.outbox()} == want


def _job(world: World, root: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    script = root / "tests" / "spark" / "stream_job.py"
    return subprocess.Popen(
        [sys.executable, str(script), str(world.folder)],
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait(done: Callable[[], bool], job: subprocess.Popen[bytes]) -> None:
    eventually(lambda: done() or job.poll() is not None)


def _kill(job: subprocess.Popen[bytes], victim: str) -> None:
    if victim == "driver":
        os.killpg(job.pid, signal.SIGKILL)  # Java, which is driver and executor, and all Python processes
        return
    for process in _workers(job.pid):
        os.kill(process, signal.SIGKILL)


def _workers(group: int) -> list[int]:
    """Return the Python workers of a job, which are children of Spark's daemon."""
    found = subprocess.run(
        ["pgrep", "-g", str(group), "-f", "tamis.spark.daemon"], capture_output=True, text=True
    )
    return [int(line) for line in found.stdout.split()]


def _end(job: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGKILL)
