"""Matches carry columns of their events for every plan and shape."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

BOOK = {"low": "price < 5", "odd": "price IN (1, 3, 5, 7)", "all": "price >= 0"}
plans = pytest.mark.parametrize("plan", ["replicated", "sharded"])
SCHEMA = (
    "event_id string, price int, region string, place struct<x: int, `odd name`: array<string>>, "
    "`a.b` decimal(9,2), tags map<string, int>, raw binary, day date, event_time timestamp, payload string"
)


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    from tamis.spark.build import build

    path = str(tmp_path_factory.mktemp("carry") / "index")
    build(spark.createDataFrame(list(BOOK.items()), "id string, expression string"), path, shards=2)
    return path


def row(number: int) -> tuple[Any, ...]:
    return (
        f"e{number}",
        number,
        None if number == 2 else f"r{number}",
        (number, [f"t{number}", None]),
        Decimal(number) / 4,
        {"n": number},
        bytes([number, 255]),
        date(2026, 1, 1 + number),
        datetime(2026, 1, 1, number, tzinfo=UTC),
        f"p{number}",
    )


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([row(number) for number in range(9)], SCHEMA)


@plans
@pytest.mark.parametrize("carry", ["all", True])
def test_all_columns_are_carried(frame: DataFrame, index: str, plan: str, carry: Any) -> None:
    from tamis.spark.events import events
    from tamis.spark.match import match

    kept = [name for name in frame.columns if name not in ("event_id", "event_time", "payload")]
    canonical = events(frame, attributes=["price"], carry=kept)
    found = canonical.transform(match(index, plan=plan, carry=carry))
    assert set(found.columns) == {"event_id", "subscription_id", "version", "attributes", *frame.columns}
    rows = found.collect()
    assert {(one["event_id"], one["subscription_id"]) for one in rows} == {
        (f"e{number}", name)
        for number in range(9)
        for name, holds in (("low", number < 5), ("odd", number in (1, 3, 5, 7)), ("all", True))
        if holds
    }
    own = {one["event_id"]: one for one in frame.collect()}
    for one in rows:
        for name in frame.columns:
            assert one[name] == own[one["event_id"]][name], name


@plans
def test_chosen_columns_are_carried_in_every_shape(frame: DataFrame, index: str, plan: str) -> None:
    from tamis.spark.match import match, match_with_notes

    canonical = frame.selectExpr("event_id", "price", "region", "event_time", "`a.b` AS place", "payload")
    for more in ({}, {"k": 2}, {"matches_per_event": 9}):
        stage = match(index, plan=plan, carry=["region", "place", "event_time"], **more)  # type: ignore[arg-type]
        found = canonical.transform(stage)
        assert found.columns[-3:] == ["event_time", "region", "place"]
        assert {(one["event_id"], one["region"], one["place"]) for one in found.collect()} == {
            (f"e{n}", None if n == 2 else f"r{n}", Decimal(n) / 4) for n in range(9)
        }
    arrays = canonical.transform(match(index, plan=plan, shape="arrays", carry=["region"])).collect()
    assert {one["event_id"]: one["region"] for one in arrays} == {
        f"e{n}": None if n == 2 else f"r{n}" for n in range(9)
    }
    noted = canonical.transform(match_with_notes(index, plan=plan, carry=["region"]))
    assert noted.columns == ["event_id", "subscription_id", "version", "region", "note"]
    assert noted.where("note IS NOT NULL AND region IS NOT NULL").count() == 0


def test_carry_is_refused_when_a_name_cannot_be_carried(frame: DataFrame, index: str, spark: Any) -> None:
    from tamis.spark.events import events
    from tamis.spark.match import match

    for carry, said in (
        (["nowhere"], "there is no column 'nowhere' to carry .* carry="),
        (["region", "region"], "twice"),
        ("region", r"write carry=\['region'\]"),
        (["event_id"], "rename it before"),
        (["Version"], "withColumnRenamed"),
        ([5], "names of columns"),
    ):
        with pytest.raises(InputError, match=said):
            frame.transform(match(index, carry=carry))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'score' cannot be carried"):
        frame.withColumnRenamed("region", "score").transform(match(index, carry="all"))
    variant = frame.selectExpr(
        "event_id", "price", "parse_json('1') AS odd", "named_struct('price', price) AS attributes"
    )
    with pytest.raises(InputError, match="'odd' is variant, which cannot be carried"):
        variant.transform(match(index, carry=["odd"]))
    with pytest.raises(InputError, match="canonical form"):
        events(frame, carry=["payload"])
    with pytest.raises(InputError, match="no column 'nowhere'"):
        events(frame, carry=["nowhere"])


def test_outbox_refuses_columns_that_it_has_no_room_for(spark: Any, index: str, tmp_path: Path) -> None:
    from tamis.spark.stream import match_stream

    stream = spark.readStream.schema("event_id string, price int, region string").json(str(tmp_path))
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with pytest.raises(InputError, match=r"no room for 'region'.*sink="):
        match_stream(stream, index, store=url, checkpoint=str(tmp_path / "c"), carry=["region"])


def test_stream_carries_columns_to_a_sink(spark: Any, index: str, tmp_path: Path) -> None:
    from tamis.spark.stream import match_stream

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"event_id": "e", "price": 9, "region": "north"}\n')
    stream = spark.readStream.schema("event_id string, price int, region string").json(str(tmp_path / "in"))
    seen: list[Any] = []

    def sink(rows: Any, number: int) -> None:
        seen.extend(rows.where("note IS NULL").collect())

    query = match_stream(
        stream,
        index,
        sink=sink,
        checkpoint=str(tmp_path / "c"),
        carry=["region"],
        trigger={"availableNow": True},
    )
    query.awaitTermination(120)
    assert [(one["event_id"], one["subscription_id"], one["region"]) for one in seen] == [
        ("e", "all", "north")
    ]
