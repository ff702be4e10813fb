"""Build and match through Spark agree with the library for every plan, engine and partitioning."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tamis
from tamis.errors import IndexNotFound, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WORDS = ("red", "green", "blue", "old", "new")


def _book(count: int) -> dict[str, str]:
    rng = random.Random(7)
    forms = (
        lambda: f"a = {rng.randrange(6)} AND b <= {rng.randrange(9)}",
        lambda: f"a IN ({rng.randrange(6)}, {rng.randrange(6)}) OR NOT b > {rng.randrange(9)}",
        lambda: f"title HAS ALL ('{rng.choice(WORDS)}') AND b BETWEEN {rng.randrange(4)} AND 6",
        lambda: f"NOT a = {rng.randrange(6)}",
        lambda: f"tags = '{rng.choice(WORDS)}' AND nested.deep != {rng.randrange(3)}",
    )
    return {f"s{n}": rng.choice(forms)() for n in range(count)}


def _events(count: int) -> list[dict[str, Any]]:
    rng = random.Random(8)
    return [
        {
            "a": rng.randrange(6),
            "b": rng.choice([rng.randrange(10), None]),
            "title": " ".join(rng.sample(WORDS, 2)),
            "tags": rng.sample(WORDS, rng.randrange(3)),
            "nested": {"deep": rng.randrange(3)},
        }
        for _ in range(count)
    ]


BOOK, EVENTS = _book(300), _events(60)
SCHEMA = (
    "event_id string, a int, b int, title string, tags array<string>, nested struct<deep: int>, "
    "event_time timestamp, payload string"
)


def frame_of(spark: SparkSession, events: list[dict[str, Any]] = EVENTS) -> DataFrame:
    from datetime import UTC, datetime

    moment = datetime(2026, 11, 15, tzinfo=UTC)
    rows = [
        (f"e{n}", e["a"], e["b"], e["title"], e["tags"], (e["nested"]["deep"],), moment, f"p{n}")
        for n, e in enumerate(events)
    ]
    return spark.createDataFrame(rows, SCHEMA)


def subscriptions_of(spark: SparkSession, book: dict[str, str] = BOOK) -> DataFrame:
    return spark.createDataFrame(list(book.items()), "id string, expression string")


def expected(book: dict[str, str] = BOOK) -> set[tuple[str, str]]:
    index = tamis.Index.build(book, engine="scan")
    return {(f"e{n}", name) for n, event in enumerate(EVENTS) for name in index.match(event)}


def pairs(frame: DataFrame) -> list[tuple[str, str]]:
    return sorted((row["event_id"], row["subscription_id"]) for row in frame.collect())


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    from tamis.spark.build import build

    path = str(tmp_path_factory.mktemp("index") / "three")
    made = build(subscriptions_of(spark), path, shards=3)
    assert (made.subscriptions, made.refused, made.built) == (300, 0, 3)
    return path


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_spark_agrees_with_the_library(spark: SparkSession, index: str, plan: str, partitions: int) -> None:
    from tamis.spark.match import match

    frame = frame_of(spark).repartition(partitions, "payload")
    assert pairs(frame.transform(match(index, plan=plan))) == sorted(expected())


@pytest.mark.parametrize("engine", ["auto", "presearch", "scan"])  # the duels cover all of them
def test_other_engines_agree_with_the_library(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    from tamis.spark.build import build
    from tamis.spark.match import match

    path = str(tmp_path / engine)
    build(subscriptions_of(spark), path, shards=2, engine=engine)
    for plan in ("replicated", "sharded"):
        assert pairs(frame_of(spark).transform(match(path, plan=plan))) == sorted(expected())


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_top_k_agrees_with_the_library(spark: SparkSession, index: str, plan: str) -> None:
    from tamis.spark.match import match

    library = tamis.Index.build(BOOK)
    found = frame_of(spark).transform(match(index, plan=plan, k=3, shape="pairs")).collect()
    for number, event in enumerate(EVENTS):
        own = [(r["subscription_id"], r["score"]) for r in found if r["event_id"] == f"e{number}"]
        assert sorted(own) == sorted(library.top_k(event, 3))


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_arrays_carry_columns(spark: SparkSession, index: str, plan: str) -> None:
    from tamis.spark.match import match

    carry = ("event_time", "payload")
    frame = frame_of(spark).transform(match(index, plan=plan, shape="arrays", carry=carry))
    rows = frame.collect()
    found = {(row["event_id"], name) for row in rows for name in row["subscriptions"]}
    assert found == expected()
    assert all(len(row["versions"]) == len(row["subscriptions"]) for row in rows)
    assert all(row["payload"] == f"p{row['event_id'][1:]}" for row in rows)
    assert len({row["event_time"] for row in rows}) == 1
    assert len(rows) == len({row["event_id"] for row in rows})
    assert all(row["subscriptions"] == sorted(row["subscriptions"]) for row in rows)
    best = frame_of(spark).transform(match(index, plan=plan, k=3, shape="arrays")).collect()
    library = tamis.Index.build(BOOK)
    for row in best:
        own = list(zip(row["subscriptions"], row["scores"], strict=True))
        assert own == library.top_k(EVENTS[int(row["event_id"][1:])], 3), "the best first"


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_one_pass_returns_matches_refusals_and_work(spark: SparkSession, index: str, plan: str) -> None:
    from pyspark.sql import Observation

    from tamis.spark.match import match_with_notes, observed, refused_of

    lines = [("e0", '{"a": 1, "b": 2}'), ("bad", '{"a": '), ("nan", '{"a": 1e999}'), (None, '{"a": 1}')]
    frame = spark.createDataFrame(lines, "event_id string, attributes string")
    observation = Observation()
    noted = observed(frame.transform(match_with_notes(index, plan=plan)), observation).cache()
    refused = {row["event_id"]: (row["code"], row["text"]) for row in refused_of(noted).collect()}
    assert refused["bad"] == ("event-syntax", '{"a": ')
    assert refused["nan"][0] in ("event-value", "event-syntax")
    assert len(refused) == 3, "an event without an id is refused, too"
    library = tamis.Index.build(BOOK).match({"a": 1, "b": 2})
    kept = noted.where("note IS NULL")
    assert pairs(kept) == sorted(("e0", name) for name in library)
    work = observation.get
    assert work["events"] == 4
    assert work["refused"] == 3
    assert work["matches"] == len(library)
    noted.unpersist()


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_events_with_too_many_matches_are_refused_not_cut(spark: SparkSession, index: str, plan: str) -> None:
    from tamis.spark.match import match_with_notes, refused_of

    everything = expected()
    sizes = Counter(event for event, _ in everything)
    most = sorted(sizes.values())[len(sizes) // 2]
    noted = frame_of(spark).transform(match_with_notes(index, plan=plan, matches_per_event=most)).cache()
    over = {event for event, size in sizes.items() if size > most}
    assert {row["event_id"] for row in refused_of(noted).collect()} == over
    assert set(pairs(noted.where("note IS NULL"))) == {p for p in everything if p[0] not in over}
    message = next(row for row in refused_of(noted).collect())
    assert f"matches {sizes[message['event_id']]} subscriptions" in message["message"]
    noted.unpersist()


def test_incremental_build_rebuilds_only_changed_shards(spark: SparkSession, tmp_path: Path) -> None:
    from tamis.shards.location import Location
    from tamis.shards.manifest import latest
    from tamis.spark.build import build
    from tamis.spark.match import match

    path = str(tmp_path / "index")
    first = build(subscriptions_of(spark), path, shards=4)
    same = build(subscriptions_of(spark).repartition(3), path, shards=4)
    assert (same.built, same.manifest.number) == (0, first.manifest.number)
    book = {**BOOK, "s7": "a = 0"}
    del book["s8"]
    book["bad"] = "a ="
    changed = build(subscriptions_of(spark, book), path)
    assert changed.manifest.settings.shards == 4, "the number of shards is kept"
    assert 1 <= changed.built <= 3
    assert changed.refused == 1
    (row,) = changed.quarantine.collect()
    assert (row["id"], row["code"], row["position"], row["text"]) == ("bad", "expression-syntax", 3, "a =")
    del book["bad"]
    assert pairs(frame_of(spark).transform(match(path))) == sorted(expected(book=book))
    old = frame_of(spark).transform(match(path, version=first.manifest.number))
    assert pairs(old) == sorted(expected())
    full = build(subscriptions_of(spark, book), path, incremental=False)
    assert full.built == 4
    assert latest(Location(path)).number == full.manifest.number  # type: ignore[union-attr]


def test_interrupted_build_resumes(spark: SparkSession, tmp_path: Path) -> None:
    from importlib import import_module

    from tamis.shards.location import Location
    from tamis.shards.manifest import Settings
    from tamis.spark.match import match

    module = import_module("tamis.spark.build")  # the package's function hides the module's name
    path = str(tmp_path / "index")
    marked = module._marked(module._known_columns(subscriptions_of(spark)), 4)
    shards = module._Shards(Location(path), Settings(4), None)
    shards.run(marked, [0, 2])  # then the driver dies, before the commit
    with pytest.raises(IndexNotFound):
        frame_of(spark).transform(match(path))
    seen: list[tuple[int, int | None]] = []
    made = module.build(subscriptions_of(spark), path, shards=4, progress=lambda *p: seen.append(p))
    assert made.built == 2, "two were there"
    assert seen[0] == (2, 4)
    assert seen[-1] == (4, 4)
    assert pairs(frame_of(spark).transform(match(path))) == sorted(expected())


def test_bulk_columns_are_built(spark: SparkSession, tmp_path: Path) -> None:
    from tamis.spark.build import build
    from tamis.spark.match import match

    rows = [(f"b{n}", "a", "=", [float(n % 6)]) for n in range(50)]
    rows += [(f"b{n}", "b", "<=", [float(n % 9)]) for n in range(50)]
    frame = spark.createDataFrame(rows, "id string, attribute string, operator string, number array<double>")
    path = str(tmp_path / "bulk")
    made = build(frame.repartition(3), path, shards=2)
    assert made.subscriptions == 50
    book = {f"b{n}": f"a = {n % 6} AND b <= {n % 9}" for n in range(50)}
    assert pairs(frame_of(spark).transform(match(path))) == sorted(expected(book=book))
    assert build(frame, path, shards=2).built == 0


def test_plans_are_explained(spark: SparkSession, index: str, capfd: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    from tamis.shards.location import Location
    from tamis.shards.manifest import current
    from tamis.spark.match import match
    from tamis.spark.plan import choose

    frame_of(spark).transform(match(index, explain=True))
    assert "version 1: replicated: the index takes" in capfd.readouterr().err
    manifest = current(Location(index))
    for shard in manifest.shards:
        shard.bytes = 1 << 45
    assert choose(spark, manifest).name == "sharded"
    manifest.shards = manifest.shards[:1]
    assert "one shard only" in choose(spark, manifest).why
    assert replace(choose(spark, manifest, "sharded"), splits=1).name == "sharded"


def test_invalid_input_is_named(spark: SparkSession, index: str, tmp_path: Path) -> None:
    from tamis.spark.build import build
    from tamis.spark.match import match

    nothing = spark.createDataFrame([(1,)], "x int")
    with pytest.raises(InputError, match="'id' is missing"):
        build(nothing, str(tmp_path / "x"))
    with pytest.raises(InputError, match="'expression' is int"):
        build(nothing.selectExpr("'a' id", "x expression"), str(tmp_path / "x"))
    with pytest.raises(InputError, match="'id' is int, but ids are text"):
        build(nothing.selectExpr("x id", "'x = 1' expression"), str(tmp_path / "x"))
    with pytest.raises(InputError, match="1 to 1024 shards, not 2000"):
        build(subscriptions_of(spark), str(tmp_path / "x"), shards=2000)
    with pytest.raises(InputError, match="event_id"):
        nothing.transform(match(index))
    with pytest.raises(IndexNotFound, match="nowhere"):
        frame_of(spark).transform(match(str(tmp_path / "nowhere")))
    for wrong in ({"plan": "best"}, {"shape": "wide"}, {"carry": ("x",)}, {"k": 0}):
        with pytest.raises(InputError):
            frame_of(spark).transform(match(index, **wrong))  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists(), "nothing half-written"


def test_shard_damaged_in_mid_job_is_named(spark: SparkSession, tmp_path: Path) -> None:
    from tamis.spark.build import build
    from tamis.spark.match import match

    path = tmp_path / "torn"
    made = build(subscriptions_of(spark), str(path), shards=2)
    folder = path / made.manifest.shards[1].segments[0].folder
    (folder / "arrays.bin").write_bytes((folder / "arrays.bin").read_bytes()[:-64])
    with pytest.raises(Exception, match=r"arrays\.bin is torn") as failure:
        frame_of(spark).transform(match(str(path))).collect()
    assert "IndexCorrupt" in str(failure.value)


def test_sql_functions_agree_with_the_library(spark: SparkSession, index: str) -> None:
    from tamis.spark import register

    register(spark)
    frame_of(spark).createOrReplaceTempView("some_events")
    found = spark.sql(f"SELECT * FROM tamis_match(TABLE(some_events), '{index}')")
    assert found.columns == ["event_id", "subscription_id", "version"]
    assert pairs(found) == sorted(expected())
    split = spark.sql(f"SELECT * FROM tamis_match(TABLE(some_events) PARTITION BY (a), '{index}')")
    assert pairs(split) == sorted(expected())
    best = spark.sql(f"SELECT * FROM tamis_top(TABLE(some_events), '{index}', 1)").collect()
    library = tamis.Index.build(BOOK)
    own = {(row["event_id"], row["subscription_id"], row["score"]) for row in best}
    assert own == {(f"e{n}", *library.top_k(e, 1)[0]) for n, e in enumerate(EVENTS) if library.top_k(e, 1)}
