"""Subscriptions from any source into Spark: valid rows, and refused rows with their reasons."""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from tamis import Limits
from tamis.errors import InputError
from tamis.spark.subscription_checks import Rules, check_bulk
from tamis.spark.subscriptions import subscriptions
from tamis.store import Store

pytestmark = pytest.mark.spark

DECOMPOSED = unicodedata.normalize("NFD", "é")


def frame(spark: SparkSession, rows: list[tuple[Any, ...]], schema: str) -> DataFrame:
    return spark.createDataFrame(rows, schema)


def codes(quarantine: DataFrame) -> dict[str | None, tuple[str, int | None]]:
    return {row.id: (row.code, row.position) for row in quarantine.collect()}


def test_every_row_is_valid_or_quarantined(spark: SparkSession) -> None:
    rows = [
        ("good", "price < 5", 1.5, "ann"),
        ("json", '{"attribute": "price", "op": "<", "value": 5}', None, None),
        ("syntax", "price <", 0.0, None),
        ("type", "price < TRUE", 0.0, None),
        ("null", None, 0.0, None),
        (None, "a = 1", 0.0, None),
        ("", "a = 2", 0.0, None),
        (DECOMPOSED, "a = 1", 0.0, None),
        ("i" * 257, "a = 1", 0.0, None),
        ("i" * 256, "a = 1", 0.0, None),
        ("nan", "a = 1", float("nan"), None),
    ]
    found = subscriptions(frame(spark, rows, "id string, expression string, priority double, owner string"))
    valid = {row.id: row.asDict() for row in found.valid.collect()}
    assert valid.keys() == {"good", "json", "i" * 256}
    assert valid["good"] == {"id": "good", "expression": "price < 5", "priority": 1.5, "owner": "ann"}
    assert valid["json"] == {"id": "json", "expression": "price < 5", "priority": 0.0, "owner": None}
    assert found.quarantine.columns == ["id", "code", "position", "message", "text"]
    refused = {row.id: row for row in found.quarantine.collect()}
    assert {key: row.code for key, row in refused.items()} == {
        "syntax": "expression-syntax", "type": "expression-type", "null": "expression-syntax",
        None: "subscription-invalid", "": "subscription-invalid", DECOMPOSED: "subscription-invalid",
        "i" * 257: "subscription-invalid", "nan": "subscription-invalid",
    }  # fmt: skip
    assert (refused["syntax"].position, refused["syntax"].text) == (7, "price <")
    assert "NFC" in refused[DECOMPOSED].message
    assert "a finite number, not 'NaN'" in refused["nan"].message
    assert found.rows.count() == len(rows)


def test_one_of_repeated_ids_is_kept_in_any_order(spark: SparkSession) -> None:
    rows = [("a", "x = 1", 1), ("a", "x = 2", 3), ("a", "x =", 9), ("b", "y = 2", 0), ("b", "y = 1", 0)]
    for some in (rows, rows[::-1]):
        source = frame(spark, some, "id string, expression string, version bigint").repartition(3)
        found = subscriptions(source)
        assert sorted((r.id, r.expression, r.version) for r in found.valid.collect()) == [
            ("a", "x = 2", 3), ("b", "y = 1", 0),
        ]  # fmt: skip
        assert sorted((r.id, r.code, r.text) for r in found.quarantine.collect()) == [
            ("a", "expression-syntax", "x ="),
            ("a", "subscription-duplicate", "x = 1"),
            ("b", "subscription-duplicate", "y = 2"),
        ]


def test_columns_with_other_names_and_types_are_read(spark: SparkSession) -> None:
    source = spark.sql("select '7' key, 'a = 1' rule, '2.5' weight, array(1) kept")
    found = subscriptions(source, id="key", expression="rule")
    assert [row.asDict() for row in found.valid.collect()] == [
        {"id": "7", "expression": "a = 1", "priority": 2.5, "kept": [1]}
    ]
    bad = subscriptions(spark.sql("select '7' id, 'a = 1' expression, 'high' rank"), priority="rank")
    assert [row.message for row in bad.quarantine.collect()] == ["a priority is a finite number, not 'high'"]
    odd = subscriptions(spark.sql("select '7' id, 'a = 1' expression, 'high' priority, '-3' version"))
    (row,) = odd.rows.collect()  # unchecked, but never read as a number that the user meant
    assert math.isnan(row.priority)
    assert row.version == -3
    assert subscriptions(odd.rows).valid.count() == 0


def test_text_that_is_not_utf8_is_refused(spark: SparkSession) -> None:
    source = spark.sql("""
        select cast(X'ff' as string) id, 'a = 1' expression
        union all select 'x', cast(X'61203d202761ff27' as string)
    """)
    found = subscriptions(source)
    assert codes(found.quarantine) == {
        "\ufffd": ("subscription-invalid", None), "x": ("expression-syntax", 6),
    }  # fmt: skip
    assert found.valid.count() == 0


def test_json_lines_are_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    path.write_text(
        '{"id": "a", "expression": "x = 1", "priority": 2, "owner": "ann", "schedule": "daily"}\n'
        '{"id": 5, "expression": {"attribute": "x", "op": "=", "value": 1}, "weight": 3.5}\n'
        '{"id": "torn", "expression": "x =\n'
        '{"id": "b", "expression": "x = 1", "priority": "much"}\n'
    )
    found = subscriptions(path, spark=spark)
    wanted = ("id", "expression", "priority", "owner", "schedule")
    assert set(found.valid.select(*wanted).collect()) == {
        ("a", "x = 1", 2.0, "ann", "daily"),
        ("5", "x = 1", 3.5, None, None),
    }
    refused = {row.code: row for row in found.quarantine.collect()}
    assert refused["expression-syntax"].text == '{"id": "torn", "expression": "x ='
    assert refused["subscription-invalid"].id == "b"


def test_csv_and_parquet_are_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_text('id,expression,priority\na,"t = ""x, y""",1\nb,x = 1\nc,x = 2,\n')
    found = subscriptions(str(path), spark=spark)
    assert {row.id: (row.expression, row.priority) for row in found.valid.collect()} == {"c": ("x = 2", 0.0)}
    assert codes(found.quarantine) == {"a": ("expression-syntax", 4), "b": ("expression-syntax", None)}
    found.valid.write.parquet(str(tmp_path / "folder"))
    again = subscriptions(tmp_path / "folder", spark=spark)
    assert [row.id for row in again.valid.collect()] == ["c"]


def test_store_is_read(spark: SparkSession, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    with Store.open(url) as store:
        store.put("a", "x = 1", owner="ann", priority=2.0)
        store.put("b", "x = 2")
    found = subscriptions(url, spark=spark)
    rows = {
        row.id: (row.expression, row.priority, row.owner, row.version > 0) for row in found.valid.collect()
    }
    assert rows == {"a": ("x = 1", 2.0, "ann", True), "b": ("x = 2", 0.0, None, True)}


BULK = "id string, attribute string, operator string, number double, string string"


def test_bulk_columns_are_checked_by_subscription(spark: SparkSession) -> None:
    rows = [
        ("a", "x", "<", 1.0, None), ("bad", "x", "<", 1.0, None), ("a", "city", "=", None, "Oslo"),
        ("bad", "y", "resembles", 1.0, None), (None, "y", "=", 1.0, None), (DECOMPOSED, "y", "=", 1.0, None),
    ]  # fmt: skip
    found = subscriptions(frame(spark, rows, BULK).repartition(3))
    assert sorted((row.id, row.attribute) for row in found.valid.collect()) == [("a", "city"), ("a", "x")]
    refused = {row.id: row for row in found.quarantine.collect()}
    assert {key: row.code for key, row in refused.items()} == dict.fromkeys(
        ("bad", "", "é"), "subscription-invalid"
    )
    assert "unknown operator 'resembles'" in refused["bad"].message
    assert '"operator": "resembles"' in refused["bad"].text


def test_bulk_subscription_may_continue_in_the_next_batch() -> None:
    ids = ["a", "b", "b", "b", "c", "c"]
    columns = [ids, ["x"] * 6, ["=", "=", "=", "odd", "=", "="], [1.0] * 6]
    names = ["id", "attribute", "operator", "number"]
    table = pa.table(dict(zip(names, columns, strict=True)))
    for size in (1, 2, 3, 6):
        batches = table.to_batches(max_chunksize=size)
        good = pa.Table.from_batches(check_bulk(iter(batches), Rules(Limits(), {}), "good"))
        assert good["id"].to_pylist() == ["a", "c", "c"]
        bad = pa.Table.from_batches(check_bulk(iter(batches), Rules(Limits(), {}), "bad"))
        assert bad["id"].to_pylist() == ["b"]
        assert bad["text"][0].as_py().count("attribute") == 3


def test_invalid_source_is_refused_with_the_reason(spark: SparkSession, tmp_path: Path) -> None:
    for columns, options, message in (
        ("1 a", {}, "column 'id' .there are: a.*id=…"),
        ("'1' id, 2 b", {}, "column 'expression'.*attribute and operator"),
        ("'1' id, 'a = 1' expression", {"priority": "p"}, "column 'p'"),
        ("'1' id, 'a = 1' expression, '2' key", {"id": "key"}, "'id' already"),
        ("'1' id, 'a = 1' expression, 'x' code", {}, "cannot be called 'code'"),
        ("'1' id, 'a = 1' expression, true priority", {}, "is boolean, not a number"),
        ("'1' id, 'a' attribute, '=' operator, X'00' value", {}, "value"),
        ("7 id, 'a = 1' expression", {}, "ids are text; cast it first"),
        ("7 key, 'a = 1' expression", {"id": "key"}, "'key' is int, but ids are text"),
        ("7 id, 'a' attribute, '=' operator, 1 number", {}, "ids are text; cast it first"),
        ("'1' id, 'a = 1' expression, 2 prioritty", {}, "did you mean 'priority'"),
        ("'1' id, 'a' attribute, '=' operator, 1 numbre", {}, "did you mean 'number'"),
    ):
        with pytest.raises(InputError, match=message):
            subscriptions(spark.sql(f"select {columns}"), **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"nothing.parquet cannot be read as parquet.*PATH_NOT_FOUND"):
        subscriptions(tmp_path / "nothing.parquet", spark=spark)
    with pytest.raises(InputError, match=r"PATH_NOT_FOUND"):
        subscriptions(tmp_path / "nothing.jsonl", spark=spark)
    with pytest.raises(InputError, match=r"PATH_NOT_FOUND"):
        subscriptions(tmp_path / "nothing.csv", spark=spark)
    with pytest.raises(InputError, match=r"read from .parquet.*format="):
        subscriptions(tmp_path / "book.xlsx", spark=spark)
    stream = spark.readStream.format("rate").load().selectExpr("value id", "'a = 1' expression")
    with pytest.raises(InputError, match="not as a stream"):
        subscriptions(stream)
