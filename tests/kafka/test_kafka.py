"""A real broker as the source and as the sink of streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tamis.cli import main
from tamis.spark import build, events, match_stream
from tamis.store import Store

BOOK = [("cheap", "price < 10"), ("oslo", "city = 'Oslo'")]
EVENTS: list[dict[str, Any]] = [
    {"price": number, "city": ("Oslo", "Rome")[number % 2]} for number in range(40)
]
PAIRS = sorted(
    [(event["price"], "cheap") for event in EVENTS if event["price"] < 10]
    + [(event["price"], "oslo") for event in EVENTS if event["city"] == "Oslo"]
)


@pytest.fixture(scope="module")
def index(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("index"))
    build(spark.createDataFrame(BOOK, "id string, expression string"), path)
    return path


def send(spark: Any, kafka: str, topic: str, values: list[str]) -> None:
    frame = spark.createDataFrame([(value,) for value in values], "value string")
    frame.write.format("kafka").option("kafka.bootstrap.servers", kafka).option("topic", topic).save()


def messages(spark: Any, kafka: str, topic: str) -> list[Any]:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", kafka).option("subscribe", topic)
    return list(reader.load().withColumn("value", F.col("value").cast("string")).collect())


def sent(spark: Any, kafka: str, topic: str) -> dict[str, int]:
    """Return the price in each message of a topic, by the id that the stream gives it."""
    return {
        f"{topic}:{row.partition}:{row.offset}": json.loads(row.value)["price"]
        for row in messages(spark, kafka, topic)
        if row.value.startswith("{")
    }


def test_topic_is_streamed_into_the_outbox_and_resumes_after_a_stop(
    spark: Any, kafka: str, index: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    Store.open(url).close()

    def stream() -> list[tuple[int, str]]:
        command = ["spark", "stream", f"kafka:{kafka}/offers", index, "--store", url, "--once"]
        done = CliRunner().invoke(main, [*command, "--checkpoint", str(tmp_path / "checkpoint")])
        assert done.exit_code == 0, done.output
        outbox = spark.read.format("tamis").option("store", url).option("table", "outbox").load()
        prices = sent(spark, kafka, "offers")
        return sorted((prices[row.event_id], row.subscription_id) for row in outbox.collect())

    lines = [json.dumps(event) for event in EVENTS]
    send(spark, kafka, "offers", [*lines[:25], "nonsense"])
    assert stream() == [pair for pair in PAIRS if pair[0] < 25]
    send(spark, kafka, "offers", lines[25:])
    assert stream() == PAIRS
    assert stream() == PAIRS, "nothing is matched twice"
    refused = spark.read.format("tamis").option("store", url).option("table", "quarantine").load().collect()
    assert [(row.code, row.text) for row in refused] == [("event-syntax", "nonsense")]


def test_matches_are_written_to_a_topic(spark: Any, kafka: str, index: str, tmp_path: Path) -> None:
    send(spark, kafka, "prices", [json.dumps(event) for event in EVENTS])
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", kafka)
    arriving = reader.option("subscribe", "prices").option("startingOffsets", "earliest").load()
    named = arriving.withColumn("event_id", F.concat_ws(":", "topic", "partition", "offset"))

    def sink(rows: DataFrame, number: int) -> None:
        value = F.to_json(F.struct("event_id", "subscription_id")).alias("value")
        writer = rows.where("note IS NULL").select(F.col("subscription_id").alias("key"), value).write
        writer.format("kafka").option("kafka.bootstrap.servers", kafka).option("topic", "matches").save()

    query = match_stream(
        events(named, event_time="timestamp", attributes="value"),
        index,
        sink=sink,
        checkpoint=str(tmp_path / "checkpoint"),
        name="to-kafka",
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    prices = sent(spark, kafka, "prices")
    found = [json.loads(row.value) for row in messages(spark, kafka, "matches")]
    assert sorted((prices[row["event_id"]], row["subscription_id"]) for row in found) == PAIRS
