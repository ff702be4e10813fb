"""The real data sets through Spark: every expected pair and no other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tamis
from bench.workloads.real import geo, sigma, text
from bench.workloads.real.data import lines
from tamis.expression.predicates import Text
from tamis.expression.tree import Expr
from tamis.values.value import Point
from tests.realdata.common import assert_equal_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.realdata, pytest.mark.slow]


def _expected(
    file: Path, events: Iterable[tuple[Any, Any]], event: str = "event", rules: str = "rules"
) -> set[tuple[str, str]]:
    """Return the expected pairs of these events."""
    chosen = {str(name) for name, _ in events}
    pairs = ((str(line[event]), rule) for line in lines(file) for rule in line[rules])
    return {pair for pair in pairs if pair[0] in chosen}


def _written(value: Any) -> Any:
    if isinstance(value, Point):
        return {"$point": [value.lon, value.lat]}
    raise TypeError(type(value))


def _pairs(
    spark: SparkSession,
    folder: Path,
    rules: dict[str, Expr],
    events: Iterable[tuple[Any, Any]],
    limits: tamis.Limits,
    plan: str,
) -> set[tuple[str, str]]:
    """Match rules as text and events as JSON, both through files, as a pipeline does."""
    from tamis.spark import build, match_with_notes, refused_of

    with (folder / "rules.jsonl").open("w") as file:
        for name, rule in rules.items():
            file.write(json.dumps({"id": name, "expression": tamis.to_text(rule)}) + "\n")
    with (folder / "events.jsonl").open("w") as file:
        for name, event in events:
            file.write(
                json.dumps({"event_id": name, "attributes": json.dumps(event, default=_written)}) + "\n"
            )
    index = str(folder / "index")
    book = spark.read.schema("id string, expression string").json(str(folder / "rules.jsonl"))
    made = build(book, index, shards=3, limits=limits)
    assert made.refused == 0, made.quarantine.head(3)
    log = spark.read.schema("event_id string, attributes string").json(str(folder / "events.jsonl"))
    noted = log.transform(match_with_notes(index, plan=plan)).cache()
    assert refused_of(noted).count() == 0
    table = noted.where("note IS NULL").select("event_id", "subscription_id").toArrow()
    noted.unpersist()
    found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert len(found) == len(set(found)), "a pair was reported twice"
    return set(found)


def test_sigma_rules_give_the_expected_pairs(spark: SparkSession, shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "sigma_otrf"
    rules = {rule["id"]: sigma.expression_of(rule) for rule in lines(folder / "rules.jsonl.gz")}
    some = islice(lines(folder / "events.jsonl.gz"), 0, None, 10)  # tests/realdata matches all of them
    events = [(line["_id"], sigma.event_of(line)) for line in some]
    limits = tamis.Limits(expression_predicates=5_000, expression_bytes=1 << 20)
    found = _pairs(spark, tmp_path, rules, events, limits, "replicated")
    expected = _expected(folder / "matches.jsonl.gz", events)
    assert len(expected) > 100
    assert_equal_pairs(found, expected)


def test_map_objects_give_the_expected_pairs(spark: SparkSession, shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "geo_osm"
    rules = {rule["id"]: geo.expression_of(rule) for rule in lines(folder / "rules.jsonl.gz")}
    some = islice(lines(folder / "events.jsonl.gz"), 0, None, 5)
    events = [(line["id"], geo.event_of(line)) for line in some]
    found = _pairs(spark, tmp_path, rules, events, tamis.Limits(), "sharded")
    expected = _expected(folder / "matches.jsonl.gz", events)
    assert len(expected) > 20_000
    assert_equal_pairs(found, expected)


def test_paper_queries_give_the_expected_pairs(
    spark: SparkSession, shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "text"
    queries: dict[str, Expr] = {
        line["id"]: Text("words", "all", tuple(line["terms"]))
        for line in lines(folder / "queries_trec_mq.jsonl.gz")
    }
    papers = islice(lines(folder / "docs_acl_2016plus.jsonl.gz"), 0, None, 10)
    events = [(paper["id"], text.event_of(paper)) for paper in papers]
    found = _pairs(spark, tmp_path, queries, events, tamis.Limits(), "replicated")
    expected = _expected(folder / "matches_acl_every10th.jsonl.gz", events, "doc", "queries")
    assert len(expected) == 51_391
    assert_equal_pairs(found, expected)
