"""The store as a Spark data source, and matches written to the outbox."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis.contract.token import token_of
from tamis.errors import InputError
from tamis.spark import outbox
from tamis.spark.outbox import write_noted
from tamis.spark.source import StoreSource
from tamis.store import Store

pytestmark = pytest.mark.spark

MATCHES = "event_id string, subscription_id string, version long"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Create a store with a few hundred subscriptions."""
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.db'}") as made:
        made.put_many([{"id": f"s{n}", "expression": f"a = {n}", "owner": "ann"} for n in range(300)])
        yield made


def read(spark: SparkSession, store: Store, table: str, **options: str) -> DataFrame:
    return spark.read.format("tamis").options(store=store.url, table=table, **options).load()


def pairs(store: Store, query: str) -> list[tuple[str, str, int]]:
    rows = [row for batch in store.read("outbox") for row in batch.to_pylist() if row["query"] == query]
    return sorted((row["event_id"], row["subscription_id"], row["version"]) for row in rows)


def test_subscriptions_are_read_in_partitions(spark: SparkSession, store: Store) -> None:
    frame = spark.read.format("tamis").option("store", store.url).option("partitions", 3).load()
    found = (
        frame.withColumn("part", F.spark_partition_id())
        .withColumn("same", F.expr("crc32(id) % 1024"))
        .collect()
    )
    assert sorted(row["id"] for row in found) == sorted(f"s{n}" for n in range(300))
    assert all(row["token"] == row["same"] == token_of(row["id"]) for row in found)
    parts = {part: [row["token"] for row in found if row["part"] == part] for part in range(3)}
    assert all(parts.values())
    assert max(parts[0]) < min(parts[1])
    assert max(parts[1]) < min(parts[2])


def test_changes_are_read_after_a_given_number(spark: SparkSession, store: Store) -> None:
    found = read(spark, store, "changes", after="290", partitions="4").orderBy("sequence").collect()
    assert [row["sequence"] for row in found] == [change.sequence for change in store.changes(290)]
    assert found[0]["at"].year >= 2026


def test_empty_table_has_no_rows(spark: SparkSession, store: Store) -> None:
    assert read(spark, store, "quarantine").collect() == []


def test_growing_table_is_streamed(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    options = {"store": store.url, "table": "changes", "after": "295", "rows": "2"}
    stream = spark.readStream.format("tamis").options(**options).load().select("sequence")
    seen: list[list[int]] = []

    def follow() -> None:
        writer = stream.writeStream.foreachBatch(
            lambda frame, _: seen.append(sorted(row["sequence"] for row in frame.collect()))
        )
        query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
        assert query.awaitTermination(120)

    follow()
    assert seen == [[296, 297], [298, 299], [300]]
    store.put("s0", "a = 0 OR b = 1")
    follow()  # continues after its last row
    assert seen[3:] == [[301]]


def test_stream_is_refused_for_a_table_that_does_not_only_grow(store: Store) -> None:
    source = StoreSource({"store": store.url})
    with pytest.raises(InputError, match="they only grow"):
        source.streamReader(source.schema())


def test_matches_are_written_once(spark: SparkSession, store: Store) -> None:
    rows = [(f"e{n % 40}", f"s{n}", n) for n in range(100)]
    frame = spark.createDataFrame(rows, MATCHES).repartition(2)
    for batch in (1, 2):
        writer = frame.write.format("tamis").options(store=store.url, query="by source", batch=str(batch))
        writer.mode("append").save()
    assert pairs(store, "by source") == sorted(rows)


def test_valid_subscriptions_are_stored_and_others_quarantined(spark: SparkSession, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}") as store:
        rows = [("good", "a = 1", "every 5 minutes"), ("bad", "a =", None), ("odd", "a = 1", "now and then")]
        frame = spark.createDataFrame(rows, "id string, expression string, schedule string")
        for _ in range(2):
            options = {"store": store.url, "table": "subscriptions", "query": "load"}
            frame.write.format("tamis").options(**options).mode("append").save()
        assert (store.count(), store.last_change()) == (1, 1)
        refused = [row for batch in store.read("quarantine") for row in batch.to_pylist()]
        assert sorted((row["subscription_id"], row["code"]) for row in refused) == [
            ("bad", "expression-syntax"),
            ("odd", "schedule-invalid"),
        ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs .option('store'"),
        ({"store": "sqlite://"}, "a store in memory"),
        ({"store": "sqlite:///STORE", "table": "secrets"}, "the tables are subscriptions, changes, outbox"),
        ({"store": "sqlite:///STORE", "partitions": "0"}, "partitions is a whole number from 1"),
        ({"store": "sqlite:///STORE", "partitions": "many"}, "partitions is a whole number from 1"),
        ({"store": "sqlite:///STORE", "colour": "red"}, "no option colour"),
        ({"store": "sqlite:///STORE", "path": "file"}, "no option path"),
        ({"store": "sqlite:///STORE", "after": "3"}, "option after is for"),
        ({"store": "sqlite:///no/such/folder/store.db"}, "is not available"),
    ],
)
def test_invalid_options_are_named(store: Store, options: dict[str, str], said: str) -> None:
    given = {name: value.replace("sqlite:///STORE", store.url) for name, value in options.items()}
    source = StoreSource(given)
    with pytest.raises(Exception, match=r".") as refusal:
        source.reader(source.schema())
    assert said in str(refusal.value)
    assert type(refusal.value).__module__ == "tamis.errors"


def test_error_is_raised_when_spark_plans(spark: SparkSession, store: Store) -> None:
    with pytest.raises(AnalysisException, match=r"tamis\.errors\.InputError: format 'tamis' needs"):
        spark.read.format("tamis").load()
    frame = spark.range(1).select(F.lit("e").alias("event_id"), F.lit("s").alias("subscription_id"))
    with pytest.raises(
        AnalysisException, match=r"the DataFrame lacks version; outbox takes the columns event_id"
    ):
        frame.write.format("tamis").option("store", store.url).mode("append").save()


@pytest.mark.parametrize(
    ("schema", "table", "overwrite", "said"),
    [
        ("event_id string, subscription_id string, version string", "outbox", False, "version is string"),
        ("event_id string, subscription_id string, version long, colour int", "outbox", False, "has colour"),
        (MATCHES, "outbox", True, "only adds"),
        (MATCHES, "changes", False, "cannot be written"),
        ("id string", "subscriptions", False, "lacks expression"),
    ],
)
def test_invalid_frame_is_not_written(
    spark: SparkSession, store: Store, schema: str, table: str, overwrite: bool, said: str
) -> None:
    frame = spark.createDataFrame([], schema)
    with pytest.raises(InputError, match=said):
        StoreSource({"store": store.url, "table": table}).writer(frame.schema, overwrite)


@pytest.mark.parametrize("by_tasks", [False, True])
def test_rows_are_written_once(
    spark: SparkSession, store: Store, by_tasks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "DRIVER_ROWS", -1 if by_tasks else 10)
    query = f"tasks {by_tasks}"
    rows = [(f"{query} {n}", "s", 1) for n in range(20)]
    frame = spark.createDataFrame(rows, MATCHES).withColumn("note", F.lit(None).cast("string"))
    frame = frame.repartition(2)
    assert [write_noted(frame, store.url, query, batch).rows for batch in (1, 1, 2)] == [20, 0, 0]
    assert write_noted(frame.limit(0), store.url, query, 3).matches == 0
    assert pairs(store, query) == sorted(rows)


def test_tasks_write_a_batch_too_large_for_the_driver(spark: SparkSession, store: Store) -> None:
    rows = [("large", "s", n) for n in range(50)]
    frame = spark.createDataFrame(rows, MATCHES).withColumn("note", F.lit(None).cast("string"))

    class TooLarge:
        def toArrow(self) -> pa.Table:
            raise PySparkException(
                "Total size of serialized results is bigger than spark.driver.maxResultSize"
            )

        def mapInArrow(self, *arguments: object) -> DataFrame:
            return frame.mapInArrow(*arguments)  # type: ignore[arg-type]

    assert write_noted(TooLarge(), store.url, "large", 1).rows == 50  # type: ignore[arg-type]
    assert pairs(store, "large") == rows


def test_invalid_match_is_refused(spark: SparkSession, store: Store) -> None:
    schema = "event_id string, subscription_id string, note string"
    lacking = spark.createDataFrame([("e", "s", None)], schema)
    with pytest.raises(InputError, match="lack version"):
        write_noted(lacking, store.url, "q", 1)


def test_data_source_is_part_of_the_package(repo_root: Path) -> None:
    build = tomllib.loads((repo_root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["packages"] == ["src/tamis", "src/pyspark_tamis.py"]
    assert (repo_root / "src" / "pyspark_tamis.py").is_file()
