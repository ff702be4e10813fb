"""Spark matches against an index that the library saved; the library opens one that Spark built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tamis
import tamis.spark

BOOK = {f"s{n}": f"a = {n % 7} AND b <= {n % 5}" for n in range(120)}
EVENTS = [{"event_id": str(n), "a": n % 7, "b": n % 6} for n in range(30)]
PARAMETERS = {"pairs": 2, "crowd": 0}


def pairs(matches: Any) -> set[tuple[str, str]]:
    return {(row["event_id"], row["subscription_id"]) for row in matches.collect()}


def test_spark_and_library_open_each_others_indexes(spark: Any, tmp_path: Path) -> None:
    index = tamis.Index.build(BOOK, parameters=PARAMETERS)
    index.remove("s7")
    index.save(tmp_path / "library")
    book = {name: text for name, text in BOOK.items() if name != "s7"}
    table = tamis.Index.build(book, engine="scan").match_many(EVENTS)
    expected = {
        (EVENTS[row]["event_id"], name)
        for row, name in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True)
    }
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    events = spark.read.json(str(tmp_path / "events.jsonl"))
    assert pairs(events.transform(tamis.spark.match(str(tmp_path / "library")))) == expected

    rows = [{"id": name, "expression": text} for name, text in book.items()]
    built = tamis.spark.build(
        spark.createDataFrame(rows), str(tmp_path / "spark"), shards=3, parameters=PARAMETERS
    )
    assert built.subscriptions == len(book)
    opened = tamis.Index.open(tmp_path / "spark", verify=True)
    opened.check()
    found = opened.match_many(EVENTS)
    assert {
        (EVENTS[row]["event_id"], name)
        for row, name in zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True)
    } == expected
    assert opened.info()["parameters"] == PARAMETERS
    opened.remove("s8")
    opened.save(tmp_path / "spark")
    expected -= {pair for pair in expected if pair[1] == "s8"}
    assert pairs(events.transform(tamis.spark.match(str(tmp_path / "spark")))) == expected
