"""Profiles against counts by hand, limits at their edges, and no partially written profile."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis import Index, Limits
from tamis.errors import IndexCorrupt, IndexVersion, InputError
from tamis.failpoint import arm, disarm
from tamis.segment.sealed import seal
from tamis.spark.profiling import Profile, profile
from tamis.spark.profiling.collect import Collector, Sample, Settings, merge
from tamis.spark.profiling.tables import tables_of

WORDS = ["red", "green", "blue", "small", "large", "Café"]


def log(rows: int) -> list[dict[str, Any]]:
    chance = np.random.default_rng(5)
    events = []
    for row in range(rows):
        event: dict[str, Any] = {"city": str(chance.choice(["Oslo", "Rome", "Bern"], p=[0.6, 0.3, 0.1]))}
        event["price"] = float(row)
        event["tags"] = [str(word) for word in chance.choice(WORDS, chance.integers(1, 4), replace=False)]
        event["text"] = " ".join(str(word) for word in chance.choice(WORDS, 3))
        if row % 4 == 0:
            event["sold"] = bool(row % 8)
        events.append(event)
    return events


EVENTS = log(400)


def column(held: Profile, kind: str, key: str, value: str) -> dict[Any, Any]:
    table = held.table(kind)
    return dict(zip(table[key].to_pylist(), table[value].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    rows = [(f"e{row}", json.dumps(event)) for row, event in enumerate(EVENTS)]
    rows += [("bad", "{"), ("worse", '{"price": 1%s}' % ("0" * 30))]
    schema = "city string, price double, tags array<string>, text string, sold boolean"
    lines = spark.createDataFrame(rows, "event_id string, attributes string").repartition(3)
    return lines.withColumn("typed", F.from_json("attributes", schema))


@pytest.fixture(scope="module")
def made(frame: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile(frame.select("event_id", "attributes"), str(tmp_path_factory.mktemp("p")), sample=50)


@pytest.mark.spark
def test_counts_agree_with_the_log(made: Profile) -> None:
    assert (made.events, made.refused, made.dropped) == (402, 2, 0)
    assert column(made, "attributes", "attribute", "events") == {
        "city": 400, "price": 400, "tags": 400, "text": 400, "sold": 100,
    }  # fmt: skip
    assert column(made, "attributes", "attribute", "share")["sold"] == 0.25
    multi = sum(len(event["tags"]) > 1 for event in EVENTS)
    assert column(made, "attributes", "attribute", "multi") == {
        "city": 0, "price": 0, "tags": multi, "text": 0, "sold": 0,
    }  # fmt: skip
    assert column(made, "attributes", "attribute", "numbers")["price"] == 400
    assert column(made, "attributes", "attribute", "booleans")["sold"] == 100
    distinct = column(made, "attributes", "attribute", "distinct")
    assert round(distinct["city"]) == 3
    assert distinct["price"] == pytest.approx(400, rel=0.1)


@pytest.mark.spark
def test_values_and_quantiles_are_counted(made: Profile) -> None:
    values = {
        (row["attribute"], row["family"], row["value"]): row["count"]
        for row in made.table("values").to_pylist()
    }
    cities = Counter(event["city"] for event in EVENTS)
    assert {key[2]: count for key, count in values.items() if key[0] == "city"} == dict(cities)
    assert values["sold", "boolean", "TRUE"] == 50
    assert sum(key[0] == "price" for key in values) <= 256  # 400 distinct values, none of them frequent
    ranks = {row["rank"]: row["value"] for row in made.table("quantiles").to_pylist()}
    assert ranks[0.0] == 0.0
    assert ranks[1.0] == 399.0
    assert ranks[0.5] == pytest.approx(200, abs=10)


@pytest.mark.spark
def test_terms_and_pairs_are_counted(made: Profile) -> None:
    texts = [sorted({word.lower().replace("é", "e") for word in event["text"].split()}) for event in EVENTS]
    terms = Counter(word for text in texts for word in text)
    found = {
        row["term"]: row["documents"] for row in made.table("terms").to_pylist() if row["attribute"] == "text"
    }
    assert found == dict(terms)
    pairs = Counter(pair for text in texts for pair in combinations(text, 2))
    rows = [row for row in made.table("pairs").to_pylist() if row["attribute"] == "text"]
    assert {(row["one"], row["two"]): row["documents"] for row in rows} == dict(pairs)
    assert rows[0]["share"] == rows[0]["documents"] / 400


@pytest.mark.spark
def test_terms_are_those_of_the_declared_analysers(frame: DataFrame, tmp_path: Path) -> None:
    analysers = {"text": {"base": "english", "stop_words": ["red"]}}
    held = profile(frame.select("event_id", "attributes"), str(tmp_path), sample=5, analysers=analysers)
    terms = Counter(
        term
        for event in EVENTS
        for term in {{"Café": "cafe", "large": "larg"}.get(word, word) for word in event["text"].split()}
    )
    del terms["red"]
    rows = [row for row in held.table("terms").to_pylist() if row["attribute"] == "text"]
    assert {row["term"]: row["documents"] for row in rows} == dict(terms)


def exact(held: Profile, kind: str) -> set[str]:
    """Return a table without the columns that are estimated even in a log as small as this."""
    rows = [row for row in held.table(kind).to_pylist() if kind != "values" or row["attribute"] != "price"]
    return {str({key: value for key, value in row.items() if key != "distinct"}) for row in rows}


@pytest.mark.spark
def test_profile_is_the_same_for_any_form_and_partitions(
    made: Profile, frame: DataFrame, tmp_path: Path
) -> None:
    typed = frame.where("event_id not in ('bad', 'worse')").coalesce(1).select("event_id", "typed.*")
    other = profile(typed, str(tmp_path), sample=50)
    for kind in ("attributes", "values", "terms", "pairs"):
        assert exact(made, kind) == exact(other, kind)
    index = Index.build({"any": "price >= 0"})
    assert index.match_many(made.sample()).num_rows == index.match_many(other.sample()).num_rows == 50
    chosen = sorted(event["price"] for event in made.sample())
    assert chosen == sorted(other.sample()["price"].to_pylist())  # type: ignore[call-overload]
    assert len(set(chosen)) == 50


@pytest.mark.spark
def test_log_is_read_once(frame: DataFrame, tmp_path: Path) -> None:
    seen = tmp_path / "seen"

    def note(batches: Any) -> Any:
        for batch in batches:
            with seen.open("a") as file:
                file.write(f"{batch.num_rows}\n")
            yield batch

    lines = frame.select("event_id", "attributes")
    profile(lines.mapInArrow(note, lines.schema), str(tmp_path / "profile"))
    assert sum(map(int, seen.read_text().split())) == 402


@pytest.mark.spark
def test_profile_is_read_again_and_used_by_build(made: Profile) -> None:
    again = Profile.open(made.path)
    assert again.table("attributes").equals(made.table("attributes"))
    index = Index.build({"a": "city = 'Oslo' AND price < 5"}, sample=again.sample())
    assert index.match({"city": "Oslo", "price": 1}) == ["a"]
    text = str(again)
    for part in (
        "402 events, 2 of them refused",
        "sold",
        "25.0%",
        "Oslo 6",
        "0 … 200 … 399",
        "terms: ",
        "pairs: ",
    ):
        assert part in text.replace("199 …", "200 …")


@pytest.mark.spark
def test_all_types_and_an_empty_log_are_profiled(spark: SparkSession, tmp_path: Path) -> None:
    one = spark.sql("""
        select 'e' event_id, timestamp'2026-11-15 08:00:00' t, named_struct('lon', 1D, 'lat', 2D) place,
          named_struct('a', map('b', 1)) deep, map('k', 'v') sparse, 1.5BD cost, null nothing
    """)
    held = profile(one, str(tmp_path / "one"))
    assert column(held, "attributes", "attribute", "events") == dict.fromkeys(
        ("t", "place", "deep.a.b", "k", "cost"), 1
    )
    assert column(held, "attributes", "attribute", "times")["t"] == 1
    assert column(held, "attributes", "attribute", "points")["place"] == 1
    assert "2026-11-15T08:00" in str(held)
    assert isinstance(held.sample(), pa.Table)
    empty = profile(one.where("false"), str(tmp_path / "empty"))
    assert (empty.events, empty.table("attributes").num_rows, len(empty.sample())) == (0, 0, 0)
    assert "0 events" in str(empty)


@pytest.mark.spark
def test_invalid_log_is_refused_with_the_reason(
    spark: SparkSession, frame: DataFrame, tmp_path: Path
) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("value event_id", "1 a")
    for source, options, message in (
        (stream, {}, "not of a stream"),
        (frame, {"sample": 0}, "at least one event"),
        (frame, {"least_pair": 0.0}, "least_pair"),
    ):
        with pytest.raises(InputError, match=message):
            profile(source, str(tmp_path), **options)
    with pytest.raises(InputError, match=r"no profile at .*tamis spark profile"):
        Profile.open(str(tmp_path / "nowhere"))


# ------------------------------------------------------------------------------------ without Spark


def batch_of(events: list[Any], first: int = 0) -> pa.RecordBatch:
    ids = [f"e{row}" for row in range(first, first + len(events))]
    draws = pa.array(np.arange(first, first + len(events)) * 7919 % 10_007, pa.int64())
    return pa.record_batch(
        [pa.array(ids), pa.array([json.dumps(event) for event in events]), draws],
        ["event_id", "attributes", "draw"],
    )


def tables(parts: list[list[Any]], limits: Limits, least: float = 0.1) -> tuple[Any, dict[str, pa.Table]]:
    """Do in this process the work that ``profile`` gives to workers."""
    rows = []
    for part in parts:
        collector = Collector(Settings(10, least, limits, {}))
        collector.add(batch_of(part))
        rows += [{"kind": kind, "name": name, "data": data} for kind, name, data in collector.freeze()]
    merged = [
        merge(pa.Table.from_pylist([row for row in rows if (row["kind"], row["name"]) == key]), limits)
        for key in sorted({(row["kind"], row["name"]) for row in rows})
    ]
    return tables_of([tuple(row.values()) for m in merged for row in m.to_pylist()], least, limits)  # type: ignore[misc]


def test_attributes_beyond_the_limit_are_left_out() -> None:
    events = [{f"a{n}": 1 for n in range(row % 5 + 1)} for row in range(50)]
    total, held = tables([events[:20], events[20:]], Limits(profile_attributes=4))
    assert (held["attributes"]["attribute"].to_pylist(), total.dropped) == (["a0", "a1", "a2", "a3"], 1)
    total, held = tables([events[:20], events[20:]], Limits(profile_attributes=5))
    assert (held["attributes"].num_rows, total.dropped) == (5, 0)
    total, held = tables([events, [{f"b{n}": 1 for n in range(100)}]], Limits(profile_attributes=2))
    assert held["attributes"]["attribute"].to_pylist() == ["a0", "a1"]
    assert total.dropped >= 103


def test_values_terms_and_pairs_stay_within_their_limits() -> None:
    events = [{"t": " ".join(f"w{n}" for n in range(row % 6 + 1))} for row in range(60)]
    for most in (2, 3):
        limits = Limits(profile_values=most, profile_terms=most, profile_pairs=most)
        _, held = tables([events], limits)
        assert [held[kind].num_rows for kind in ("values", "terms", "pairs")] == [most] * 3
    _, held = tables([events], Limits())
    assert held["terms"]["term"].to_pylist() == [f"w{n}" for n in range(6)]
    assert held["terms"]["documents"].to_pylist() == [60, 50, 40, 30, 20, 10]


def test_pairs_below_the_share_are_pruned() -> None:
    events = [{"t": "a b"}] * 30 + [{"t": "c d"}] * 10
    assert tables([events], Limits(), 0.25)[1]["pairs"]["documents"].to_pylist() == [30, 10]
    assert tables([events], Limits(), 0.26)[1]["pairs"]["documents"].to_pylist() == [30]


@pytest.mark.parametrize("listed", [True, False])
def test_pairs_of_long_texts_are_counted_by_the_frequent_terms(listed: bool, monkeypatch: Any) -> None:
    terms = import_module("tamis.spark.profiling.terms")
    if not listed:
        monkeypatch.setattr(terms, "_AT_ONCE", 0)
        monkeypatch.setattr(terms, "_BLOCK", 7)
    chance = np.random.default_rng(3)
    texts = [{str(word) for word in chance.choice(list("abcdefgh"), 4)} for _ in range(50)]
    events = [{"t": " ".join(text)} for text in texts] + [{"t": ["a b", "b c"]}]
    _, held = tables([events], Limits(), 0.001)
    wanted = Counter(pair for text in [*texts, set("abc")] for pair in combinations(sorted(text), 2))
    found = {(row["one"], row["two"]): row["documents"] for row in held["pairs"].to_pylist()}
    assert found == dict(wanted)
    if not listed:
        monkeypatch.setattr(terms, "_TOP", 3)
        rows = tables([events], Limits(), 0.001)[1]["pairs"].to_pylist()
        often = Counter(word for text in [*texts, set("abc")] for word in text)
        assert len(rows) == 3
        assert {row[side] for row in rows for side in ("one", "two")} <= {
            word for word in often if sum(count > often[word] for count in often.values()) < 3
        }


def test_long_values_are_texts_and_not_listed() -> None:
    _, held = tables([[{"t": "x" * 249}, {"t": "x" * 250}]], Limits())
    assert [len(value) for value in held["values"]["value"].to_pylist()] == [249]


def test_sample_holds_the_lowest_draws_for_any_batches() -> None:
    events = [{"n": row} for row in range(1_000)]
    wanted = sorted(row * 7919 % 10_007 for row in range(1_000) if row not in (3, 500))[:10]
    for size in (1, 7, 100, 1_000):
        sample = Sample(10)
        for first in range(0, 1_000, size):
            bad = {row - first for row in (3, 500) if first <= row < first + size}
            sample.add(batch_of(events[first : first + size], first), bad)
        drawn = [draw for batch in sample.batches() for draw in batch.column(2).to_pylist()]
        assert sorted(drawn) == wanted


def written(path: Path) -> Profile:
    total, held = tables([[{"a": 1}, {"a": 2}]], Limits())
    held["sample"] = pa.table({"attributes": ['{"a": 1}']})
    return Profile.write(str(path), total, held)


def test_profile_is_written_atomically(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("killed")

    arm("profile.before_commit", fail)
    try:
        with pytest.raises(RuntimeError):
            written(tmp_path)
        with pytest.raises(InputError, match="no profile"):
            Profile.open(str(tmp_path))
    finally:
        disarm()
    first = written(tmp_path)
    second = written(tmp_path)
    assert len(list(tmp_path.iterdir())) == 7  # the others left nothing behind
    assert Profile.open(str(tmp_path)).made == second.made >= first.made


def test_damaged_or_unknown_profile_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    (terms,) = tmp_path.glob("attributes-*.parquet")
    terms.write_bytes(terms.read_bytes()[:-1])
    with pytest.raises(IndexCorrupt, match=r"attributes-.*checksum"):
        Profile.open(str(tmp_path)).table("attributes")
    with pytest.raises(InputError, match="no table 'nothing'; it has attributes"):
        Profile.open(str(tmp_path)).table("nothing")
    manifest = tmp_path / "profile.json"
    manifest.write_bytes(manifest.read_bytes()[:-9])
    with pytest.raises(IndexCorrupt):
        Profile.open(str(tmp_path))
    manifest.write_bytes(seal({"format": "tamis-profile", "version": 99}))
    with pytest.raises(IndexVersion, match="make the profile again"):
        Profile.open(str(tmp_path))
    manifest.write_bytes(seal({"format": "tamis-profile", "version": 1, "profile": {}}))
    with pytest.raises(IndexCorrupt):
        Profile.open(str(tmp_path))
