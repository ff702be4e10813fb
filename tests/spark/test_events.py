"""Any DataFrame as events: all forms agree with the library, and no row is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis import Index, Limits
from tamis.errors import InputError
from tamis.spark.events import events, refused_events
from tamis.spark.rows import events_in

pytestmark = pytest.mark.spark

PLAIN: list[dict[str, Any]] = [
    {"city": "Oslo", "price": 12.5, "rank": 3, "open": True, "tags": ["a", "b"], "shop": {"size": {"m2": 9}}},
    {"city": "Łódź", "price": -0.0, "rank": 2**62, "open": False, "tags": [], "shop": {"size": None}},
    {"city": None, "price": None, "rank": None, "open": None, "tags": None, "shop": None},
    {"city": "", "price": 9e99, "rank": -7, "open": True, "tags": ["b", None], "shop": {"size": {"m2": 0}}},
]
TYPES = """
    city string, price double, rank bigint, open boolean, tags array<string>, shop struct<size:struct<m2:int>>
"""
BOOK = {
    "oslo": "city = 'Oslo'",
    "lodz": "city = 'Łódź'",
    "nowhere": "city IS NULL",
    "blank": "city = ''",
    "cheap": "price < 13",
    "zero": "price = 0",
    "high": "rank >= 4611686018427387904",
    "open": "open = TRUE AND price > 1",
    "a": "tags HAS ANY ('a')",
    "both": "tags = 'a' AND tags = 'b'",
    "untagged": "tags IS NULL",
    "large": "shop.size.m2 > 5",
    "not large": "NOT shop.size.m2 > 5",
}


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(BOOK)


def pairs(index: Index, frame: DataFrame) -> set[tuple[str, str]]:
    found = set()
    for batch in frame.toArrow().to_batches():
        ids = batch.column(0).to_pylist()
        for matched in index.match_batches(events_in(batch)):
            assert matched.refused == []
            columns = (matched.table["event"].to_pylist(), matched.table["subscription"].to_pylist())
            found.update((ids[row], subscription) for row, subscription in zip(*columns, strict=True))
    return found


@pytest.fixture(scope="module")
def wanted(index: Index) -> set[tuple[str, str]]:
    found = {(f"e{row}", held) for row, event in enumerate(PLAIN) for held in index.match(event)}
    assert {held for _, held in found} == set(BOOK)
    return found


@pytest.fixture(scope="module")
def typed(spark: SparkSession) -> DataFrame:
    rows = [(f"e{row}", *event.values()) for row, event in enumerate(PLAIN)]
    return spark.createDataFrame(rows, f"event_id string, {TYPES}")


@pytest.fixture(scope="module")
def lines(spark: SparkSession) -> DataFrame:
    rows = [(f"e{row}", json.dumps(event)) for row, event in enumerate(PLAIN)]
    return spark.createDataFrame(rows, "event_id string, line string")


def test_typed_columns_agree_with_dictionaries(index: Any, typed: DataFrame, wanted: Any) -> None:
    frame = events(typed)
    assert frame.columns == ["event_id", "event_time", "attributes", "payload"]
    assert pairs(index, frame) == wanted
    assert pairs(index, events(frame)) == wanted  # canonical events stay unchanged
    few = events(typed, attributes=["city", "rank"])
    assert pairs(index, few) >= {pair for pair in wanted if pair[1] in ("oslo", "lodz", "blank", "high")}
    assert few.schema["attributes"].dataType.simpleString() == "struct<city:string,rank:bigint>"


def test_struct_json_bytes_and_variant_agree(
    index: Any, typed: DataFrame, lines: DataFrame, wanted: Any
) -> None:
    inside = typed.select("event_id", F.struct(*typed.columns[1:]).alias("all"))
    assert pairs(index, events(inside, attributes="all")) == wanted
    assert pairs(index, events(lines, attributes="line")) == wanted
    kafka = lines.select(
        F.col("event_id").cast("binary").alias("key"), F.col("line").cast("binary").alias("value")
    )
    assert pairs(index, events(kafka, event_id="key", attributes="value")) == wanted
    variant = lines.withColumn("line", F.parse_json("line"))
    assert pairs(index, events(variant, attributes="line")) == wanted


def test_maps_agree_with_the_library(index: Any, lines: DataFrame, wanted: Any) -> None:
    of_variants = lines.select("event_id", F.from_json("line", "map<string, variant>").alias("m"))
    assert pairs(index, events(of_variants, attributes="m")) == wanted
    asked = {pair for pair in wanted if pair[1] in ("zero", "cheap")}
    sparse = [(f"e{row}", {"price": event["price"]}) for row, event in enumerate(PLAIN)]
    frame = lines.sparkSession.createDataFrame(sparse, "event_id string, m map<string, double>")
    few = Index.build({key: BOOK[key] for key in ("zero", "cheap")})
    assert pairs(few, events(frame, attributes="m")) == asked
    assert pairs(few, events(frame)) == asked  # a map among typed columns holds sparse attributes


def test_every_attribute_type_is_read(spark: SparkSession) -> None:
    frame = spark.sql("""
        select 7 event_id, cast(1 as tinyint) tiny, cast(2 as smallint) small, cast(1.5 as float) f,
          cast('12.25' as decimal(10, 2)) cost, date'2026-11-15' day,
          timestamp_ntz'2026-11-15 08:00:00' naive, timestamp'2026-11-15 08:00:00' aware,
          named_struct('lon', 9.5D, 'lat', 47.1D) place,
          array(named_struct('x', 1, 'y', 'a'), named_struct('x', 2, 'y', 'b')) parts,
          named_struct('m', map('a', map('b', 1))) deep, null nothing, cast('v' as varchar(3)) v
    """)
    book = {
        "tiny": "tiny = 1", "small": "small = 2", "f": "f = 1.5", "cost": "cost = 12.25",
        "day": "day = TIMESTAMP '2026-11-15T00:00:00Z'", "naive": "naive = TIMESTAMP '2026-11-15T08:00:00Z'",
        "aware": "aware = TIMESTAMP '2026-11-15T08:00:00Z'", "place": "place WITHIN 1 KM OF POINT (9.5 47.1)",
        "parts": "parts.x = 2 AND parts.y = 'a'", "deep": "deep.m.a.b = 1", "nothing": "nothing IS NULL",
        "v": "v = 'v'",
    }  # fmt: skip
    assert pairs(Index.build(book), events(frame)) == {("7", name) for name in book}


def test_event_time_and_payload_are_read(spark: SparkSession) -> None:
    frame = spark.sql("""
        select 'e' event_id, timestamp_ntz'2026-11-15 08:00:00' event_time,
          named_struct('url', 'x') payload, 1 a
    """)
    table = events(frame).toArrow().to_pydict()
    assert str(table["event_time"][0]) == "2026-11-15 08:00:00+00:00"
    assert table["payload"] == ['{"url":"x"}']
    assert table["attributes"] == [{"a": 1}]
    odd = spark.sql("select 'e' event_id, date'2026-11-15' `a.b`, X'41FF' `it``s`")
    table = events(odd, event_time="a.b", payload="it`s", attributes=["a.b"]).toArrow().to_pydict()
    assert (str(table["event_time"][0]), table["payload"]) == ("2026-11-15 00:00:00+00:00", ["A\ufffd"])


def test_unused_columns_beside_attributes_are_logged(spark: SparkSession, caplog: Any) -> None:
    frame = spark.sql("select 'e' event_id, map('a', 1) attributes, 2 price, 'x' city")
    assert events(frame).columns == ["event_id", "event_time", "attributes", "payload"]
    assert "not used: price, city" in caplog.text
    caplog.clear()
    events(events(frame, attributes="attributes"))
    assert caplog.text == ""


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("1 id, 2 b", {}, "there are: id, b.*event_id=….*same when the job runs again"),
    ("1 event_id, 2 b", {"event_time": "at"}, "no column 'at'.*leave it out"),
    ("1 event_id, 2 b", {"attributes": "c"}, "no column 'c'"),
    ("1 event_id, 2 b", {"attributes": ["b", "c"]}, "no column 'c'"),
    ("1 event_id, 2 b", {"attributes": ["b", "b"]}, "'b' stands twice"),
    ("1 event_id, 2 b, 3 b", {}, "'b' stands twice"),
    ("1 event_id", {}, "no column is left"),
    ("1 event_id, 2 b", {"attributes": "b"}, r"'b' is int; attributes are.*attributes=\['b'"),
    ("map('a', 1) event_id, 2 b", {}, "is no event_id"),
    ("1 event_id, '2026-11-15' event_time, 2 b", {}, r"to_timestamp\(event_time\)"),
    ("1 event_id, 17000000L event_time, 2 b", {}, r"timestamp_millis\(event_time\)"),
    ("1 event_id, true event_time, 2 b", {}, "event_time is a timestamp"),
    ("1 event_id, X'00' b, interval '1' day c", {}, "b is binary.*c is interval day"),
    ("1 event_id, make_interval(1) b, time'12:00:00' c", {}, r"b is interval; c is time\(6\)"),
    ("1 event_id, named_struct('v', array(parse_json('1'))) s", {}, "s.v is variant"),
    ("1 event_id, map(1, 2) b", {}, "the keys of a map must be strings"),
    ("1 event_id, map(1, parse_json('2')) b", {"attributes": "b"}, "the keys of a map must be strings"),
    (f"1 event_id, 2 {'b' * 257}", {}, "attribute_name_bytes"),
    ("1 event_id, array(array(1)) b", {"limits": Limits(event_depth=2)}, "deeper than event_depth = 2"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "options", "message"), REFUSALS)
def test_invalid_frame_is_refused_with_the_reason(
    spark: SparkSession, columns: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        events(spark.sql(f"select {columns}"), **options)


def test_depth_limit_holds_at_its_edge(spark: SparkSession) -> None:
    frame = spark.sql("select 1 event_id, array(array(1)) b")
    assert events(frame, limits=Limits(event_depth=3)).columns[2] == "attributes"


def test_every_row_is_valid_or_quarantined(spark: SparkSession) -> None:
    lines = [
        b'{"a": 1}',
        b'{"a": ',
        b"",
        None,
        b'\xff{"a": 1}',
        b'{"a": 1%s}' % (b"0" * 20),
        b'{"b": [2]}',
        b"null",
    ]
    rows = [(f"e{row}", None if line is None else bytearray(line)) for row, line in enumerate(lines)]
    frame = spark.createDataFrame([*rows, (None, bytearray(b"{}"))], "k string, value binary")
    found = events(frame, event_id="k", attributes="value").transform(refused_events())
    assert found.columns == ["event_id", "code", "message", "text"]
    assert {(row.event_id, row.code, row.text) for row in found.collect()} == {
        ("e1", "event-syntax", '{"a": '),
        ("e2", "event-syntax", ""),
        ("e3", "event-syntax", ""),
        ("e4", "event-syntax", '\ufffd{"a": 1}'),
        ("e5", "event-value", '{"a": 1%s}' % ("0" * 20)),
        ("e7", "event-syntax", "null"),
        (None, "event-value", "{}"),
    }


def test_invalid_typed_rows_are_quarantined(spark: SparkSession) -> None:
    frame = spark.sql("""
        select * from values
          ('good', named_struct('p', 1D, 'at', named_struct('lon', 1D, 'lat', 2D))),
          ('nan', named_struct('p', double('NaN'), 'at', named_struct('lon', 1D, 'lat', 2D))),
          ('far', named_struct('p', 1D, 'at', named_struct('lon', 181D, 'lat', 2D))), ('null', null)
        t(event_id, attributes)
    """)
    found = {row.event_id: row for row in events(frame).transform(refused_events()).collect()}
    assert {key: row.code for key, row in found.items()} == {
        "nan": "event-value",
        "far": "event-value",
        "null": "event-syntax",
    }
    assert found["nan"].text == '{"p": NaN, "at": {"$point": [1.0, 2.0]}}'
    few = refused_events(Limits(event_attributes=1))
    assert {row.event_id for row in events(frame).transform(few).collect()} == {"good", "nan", "far", "null"}


def test_stream_is_read_like_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"event_id": "e", "a": 1}\n{"event_id": "", "a": 2}\n')
    frame = spark.readStream.schema("event_id string, a bigint").json(str(tmp_path / "in"))
    late = frame.withColumn("event_time", F.now()).withWatermark("event_time", "1 minute")
    assert events(late).schema["event_time"].metadata == {"spark.watermarkDelayMs": 60_000}
    query = (
        events(frame).transform(refused_events()).writeStream.format("parquet").trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "check")).start(str(tmp_path / "out"))
    )  # fmt: skip
    query.awaitTermination()
    assert [row.text for row in spark.read.parquet(str(tmp_path / "out")).collect()] == ['{"a": 2}']
