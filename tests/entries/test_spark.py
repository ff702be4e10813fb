"""The entry table, through Spark: lines and typed columns of events, texts of subscriptions, SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import tamis
import tamis.spark
from tamis.errors import TamisError
from tests.entries.book import BOOK
from tests.entries.outcome import Outcome, check, refused
from tests.entries.strange_events import KINDS, REFUSED, Kind
from tests.entries.strange_subscriptions import KINDS as SUBSCRIPTIONS
from tests.entries.test_subscriptions import judge

pytestmark = pytest.mark.spark
LINES = [kind for kind in KINDS if kind.line is not None]
# Kinds that Spark has no column for, or changes before a worker sees them.
NO_COLUMN = frozenset(
    {
        "bytes", "unknown value type", "duration", "UUID", "repeated name", "oversized event", "deep nesting",
        "time outside the calendar", "huge integer", "invalid UTF-8", "several chunks", "string view",
        "dictionary-encoded column", "sliced array", "oversized name", "text for a point", "pandas time",
    }
)  # fmt: skip
TABLES = [kind for kind in KINDS if kind.table is not None and kind.name not in NO_COLUMN]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("entries") / "index"
    tamis.Index.build(BOOK).save(path)
    return str(path)


def _outcomes(noted: DataFrame, names: list[str]) -> dict[str, Outcome]:
    found: dict[str, set[str]] = {name: set() for name in names}
    for row in noted.collect():
        if row["note"] is None:
            found[row["event_id"]].add(row["subscription_id"])
        elif row["event_id"] is not None:
            note = json.loads(row["note"])
            found[row["event_id"]] |= refused(note["code"], note["message"])
    return {name: frozenset(ids) for name, ids in found.items()}


def _compare(outcomes: dict[str, Outcome], kinds: list[Kind], form: str) -> None:
    for kind in kinds:
        try:
            check(outcomes[kind.name], kind.expected(form))
        except AssertionError as bad:
            raise AssertionError(f"{kind.name}: {bad}") from None


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_lines_are_matched_or_refused(spark: SparkSession, index: str, plan: str) -> None:
    rows = [(kind.name, bytearray(kind.line or b"")) for kind in LINES]
    events = spark.createDataFrame(rows, "event_id string, attributes binary")
    noted = events.transform(tamis.spark.match_with_notes(index, plan=plan))
    _compare(_outcomes(noted, [kind.name for kind in LINES]), LINES, "line")


def test_refused_events_are_those_that_match_refuses(spark: SparkSession) -> None:
    rows = [(kind.name, bytearray(kind.line or b"")) for kind in LINES]
    events = tamis.spark.events(spark.createDataFrame(rows, "event_id string, attributes binary"))
    found = {row["event_id"] for row in events.transform(tamis.spark.refused_events()).collect()}
    assert found == {kind.name for kind in LINES if kind.wanted <= REFUSED}


def test_typed_columns_are_matched_or_refused(spark: SparkSession, index: str) -> None:
    """Each kind has a frame of its own because the columns differ; one job runs all frames."""
    noted = None
    for kind in TABLES:
        assert kind.table is not None
        table = kind.table().append_column("event_id", pa.array([kind.name]))
        frame = spark.createDataFrame(table).transform(tamis.spark.match_with_notes(index))
        noted = frame if noted is None else noted.unionByName(frame)
    assert noted is not None
    _compare(_outcomes(noted, [kind.name for kind in TABLES]), TABLES, "table")


def test_sql_gives_the_same_matches(spark: SparkSession, index: str) -> None:
    tamis.spark.register(spark)
    rows = [(kind.name, bytearray(kind.line or b"")) for kind in LINES]
    spark.createDataFrame(rows, "event_id string, attributes binary").createOrReplaceTempView("strange")
    found = spark.sql(f"SELECT * FROM tamis_match(TABLE(strange), '{index}', 'skip')").collect()
    by_event: dict[str, set[str]] = {kind.name: set() for kind in LINES}
    for row in found:
        by_event[row["event_id"]].add(row["subscription_id"])
    assert by_event == {kind.name: set() if kind.wanted <= REFUSED else set(kind.wanted) for kind in LINES}


@pytest.mark.parametrize("kind", ["bytes", "duration"])
def test_column_of_an_unsupported_type_is_refused_on_the_driver(
    spark: SparkSession, index: str, kind: str
) -> None:
    (strange,) = [one for one in KINDS if one.name == kind]
    assert strange.table is not None
    table = strange.table().append_column("event_id", pa.array(["e"]))
    with pytest.raises(TamisError) as caught:
        spark.createDataFrame(table).transform(tamis.spark.match(index)).collect()
    refused(caught.value.code, caught.value.message)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def test_subscriptions_are_accepted_or_quarantined(spark: SparkSession, tmp_path: Path) -> None:
    kinds = [
        kind for kind in SUBSCRIPTIONS
        if _is_text(kind.expression) and kind.fields is None and kind.id == "s" and kind.is_json
    ]  # fmt: skip
    rows = [(kind.name, kind.expression) for kind in kinds]
    frame = spark.createDataFrame(rows, "id string, expression string")
    built = tamis.spark.build(frame, str(tmp_path / "index"))
    bad = {row["id"]: refused(row["code"], row["message"]) for row in built.quarantine.collect()}
    matched = set(tamis.Index.open(tmp_path / "index").match({"x": 1}))
    for kind in kinds:
        judge(bad.get(kind.name, kind.name in matched), kind)


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("id bigint, expression string", (7, "x = 1")),
        ("id string, text string", ("s", "x = 1")),
        ("id string, expression string, prioritty double", ("s", "x = 1", 1.0)),
        ("id string, expression string, priority boolean", ("s", "x = 1", True)),
    ],
)
def test_table_of_subscriptions_with_invalid_columns_is_refused(
    spark: SparkSession, columns: str, row: tuple[Any, ...], tmp_path: Path
) -> None:
    frame = spark.createDataFrame([row], columns)
    for use in (tamis.spark.subscriptions, lambda rows: tamis.spark.build(rows, str(tmp_path / "index"))):
        with pytest.raises(TamisError) as caught:
            use(frame)
        refused(caught.value.code, caught.value.message)
