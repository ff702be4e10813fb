"""Refused events on Spark are reported, raised or skipped, as requested, on every path."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tamis.cli.spark.failures import error_of
from tamis.errors import EventError, EventLimit, EventSyntax, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

BOOK = {"low": "price < 5", "all": "price >= 0"}
LINES = [("good", '{"price": 3}'), ("bad", '{"price": '), ("fine", '{"price": 9}'), (None, '{"price": 1}')]
MATCHES = [("fine", "all"), ("good", "all"), ("good", "low")]
plans = pytest.mark.parametrize("plan", ["replicated", "sharded"])


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    from tamis.spark.build import build

    path = str(tmp_path_factory.mktemp("on-error") / "index")
    build(spark.createDataFrame(list(BOOK.items()), "id string, expression string"), path, shards=2)
    return path


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(LINES, "event_id string, attributes string").coalesce(1)


def pairs(found: DataFrame) -> list[tuple[str, str]]:
    return sorted((row["event_id"], row["subscription_id"]) for row in found.collect())


def raised(found: DataFrame) -> Exception:
    """Return the error that the command line makes of a failed job: the one that a worker raised."""
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as failure:
        found.collect()
    return error_of(failure.value)


@plans
def test_report_returns_the_matches_and_the_refused_events(frame: DataFrame, index: str, plan: str) -> None:
    from tamis.spark.match import match, match_with_notes, refused_of

    assert pairs(frame.transform(match(index, plan=plan))) == MATCHES
    noted = frame.transform(match_with_notes(index, plan=plan, on_error="report"))
    assert pairs(noted.where("note IS NULL")) == MATCHES
    assert {row["event_id"] for row in refused_of(noted).collect()} == {"bad", None}


@plans
def test_skip_does_not_report_refused_events(frame: DataFrame, index: str, plan: str) -> None:
    from tamis.spark.match import match, match_with_notes, refused_of

    assert pairs(frame.transform(match(index, plan=plan, on_error="skip"))) == MATCHES
    noted = frame.transform(match_with_notes(index, plan=plan, on_error="skip"))
    assert pairs(noted.where("note IS NULL")) == MATCHES
    assert refused_of(noted).count() == 0


@plans
def test_raise_fails_the_job_with_the_error_of_the_first_refused_event(
    frame: DataFrame, index: str, plan: str
) -> None:
    from tamis.spark.match import match, match_with_notes

    for stage in (match, match_with_notes):
        bad = raised(frame.where("event_id IS NOT NULL").transform(stage(index, plan=plan, on_error="raise")))
        assert isinstance(bad, EventSyntax)
        assert "the event 'bad' is refused" in str(bad)
    good = frame.where("event_id IN ('good', 'fine')")
    assert pairs(good.transform(match(index, plan=plan, on_error="raise"))) == MATCHES


@plans
def test_too_many_matches_follow_on_error(frame: DataFrame, index: str, plan: str) -> None:
    from tamis.spark.match import match, match_with_notes, refused_of

    good = frame.where("event_id IN ('good', 'fine')")
    asked: dict[str, Any] = {"plan": plan, "matches_per_event": 1}
    assert isinstance(raised(good.transform(match(index, on_error="raise", **asked))), EventLimit)
    for on_error, refused in (("report", 1), ("skip", 0)):
        noted = good.transform(match_with_notes(index, on_error=on_error, **asked))
        assert pairs(noted.where("note IS NULL")) == [("fine", "all")]
        assert refused_of(noted).count() == refused


def test_top_k_follows_on_error(frame: DataFrame, index: str) -> None:
    from tamis.spark.match import match

    assert pairs(frame.transform(match(index, k=1, on_error="skip"))) == [("fine", "all"), ("good", "all")]
    assert isinstance(raised(frame.transform(match(index, k=1, on_error="raise"))), EventError)


def test_unknown_value_is_refused_at_once(frame: DataFrame, index: str) -> None:
    from tamis.spark.match import match, match_with_notes

    for stage in (match, match_with_notes):
        with pytest.raises(InputError, match="on_error is 'report', 'raise' or 'skip', not 'ignore'"):
            stage(index, on_error="ignore")


def test_task_logs_how_many_events_it_refused(index: str, caplog: pytest.LogCaptureFixture) -> None:
    """Call the function of a task here, because its log is the executor's."""
    from tamis.spark.worker import MatchOptions, MatchTask

    batch = pa.RecordBatch.from_pylist([{"event_id": name, "attributes": text} for name, text in LINES])
    with caplog.at_level(logging.WARNING, "tamis"):
        for options in (MatchOptions(), MatchOptions(on_error="skip"), MatchOptions(is_logged=False)):
            list(MatchTask(index, None, options)(iter([batch])))
        list(MatchTask(index, None, MatchOptions())(iter([batch.slice(0, 1)])))
    assert [record.getMessage() for record in caplog.records] == [
        "2 of 4 events were refused; tamis.spark.match_with_notes shows why"
    ]


def test_sql_takes_on_error_as_the_last_argument(spark: Any, frame: DataFrame, index: str) -> None:
    from tamis.spark.sql import register

    register(spark)
    frame.createOrReplaceTempView("lines")
    for more in ("", ", 'report'", ", 'skip'"):
        assert pairs(spark.sql(f"SELECT * FROM tamis_match(TABLE(lines), '{index}'{more})")) == MATCHES
        best = spark.sql(f"SELECT * FROM tamis_top(TABLE(lines), '{index}', 1{more})")
        assert pairs(best) == [("fine", "all"), ("good", "all")]
    for call in (
        f"tamis_match(TABLE(lines), '{index}', 'raise')",
        f"tamis_top(TABLE(lines), '{index}', 1, 'raise')",
    ):
        assert isinstance(raised(spark.sql(f"SELECT * FROM {call}")), EventError)
    assert isinstance(
        raised(spark.sql(f"SELECT * FROM tamis_match(TABLE(lines), '{index}', 'ask')")), InputError
    )


@pytest.mark.parametrize("on_error", ["report", "skip", "raise"])
def test_stream_follows_on_error(
    spark: Any, index: str, tmp_path: Path, on_error: str, caplog: pytest.LogCaptureFixture
) -> None:
    from pyspark.errors import PySparkException

    from tamis.spark.stream import match_stream
    from tamis.store import Store

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text('good;{"price": 3}\nbad;{"price": \nworse;[]\n')
    schema = "event_id string, attributes string"
    stream = spark.readStream.schema(schema).option("sep", ";").option("quote", "").csv(str(tmp_path / "in"))
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with Store.open(url) as store, caplog.at_level(logging.WARNING, "tamis"):
        query = match_stream(
            stream,
            index,
            store=url,
            checkpoint=str(tmp_path / "c"),
            name=f"q-{on_error}",
            trigger={"availableNow": True},
            on_error=on_error,
        )
        if on_error == "raise":
            with pytest.raises(PySparkException) as failure:
                query.awaitTermination(120)
            assert "EventSyntax" in str(failure.value)
            return
        query.awaitTermination(120)
        refused = [row["event_id"] for batch in store.read("quarantine") for row in batch.to_pylist()]
        matched = [row["event_id"] for batch in store.read("outbox") for row in batch.to_pylist()]
    assert matched == ["good", "good"]
    assert sorted(refused) == (["bad", "worse"] if on_error == "report" else [])
    lines = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert lines == (
        ["q-report: batch 0: 2 events were refused; they are in the quarantine of the store"]
        if on_error == "report"
        else []
    )
