"""Audits on Spark: workers decide some events again, and a difference fails the job."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import Observation, SparkSession

import tamis.spark
from tamis.errors import AuditFailed, InputError
from tamis.spark import worker
from tests.forgetful import forgetful_index

ROWS = [(f"e{n}", n % 3) for n in range(60)]


@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_audit_agrees_and_is_counted(spark: SparkSession, tmp_path: Path, plan: str) -> None:
    subscriptions = spark.createDataFrame(
        [("one", "a = 1"), ("two", "a >= 1")], "id string, expression string"
    )
    tamis.spark.build(subscriptions, str(tmp_path / "index"), shards=2)
    events = spark.createDataFrame(ROWS, "event_id string, a int").repartition(1)
    work = Observation("audited")
    stage = tamis.spark.match(str(tmp_path / "index"), plan=plan, audit=1.0, work=work)
    assert events.transform(stage).count() == 60
    assert work.get["audited"] == len(ROWS) * (2 if plan == "sharded" else 1)  # each shard audits separately


def test_difference_fails_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the function of a task in this process with an index whose engine is broken."""
    index = forgetful_index()
    monkeypatch.setattr(worker, "open_shards", lambda *_, **__: index)
    monkeypatch.setattr(worker.tempfile, "gettempdir", lambda: str(tmp_path))
    batch = pa.RecordBatch.from_pydict({"event_id": ["e"], "a": [1]})
    task = worker.MatchTask("index", 1, worker.MatchOptions(audit=1.0))
    with pytest.raises(AuditFailed, match="does not match 'one' by the index"):
        list(task(iter([batch])))
    assert [place.name[:12] for place in tmp_path.iterdir()] == ["tamis-audit-"]


@pytest.mark.parametrize("audit", [0, 2, "much"])
def test_share_outside_its_range_is_refused_on_the_driver(audit: object) -> None:
    with pytest.raises(InputError, match="audit is a share"):
        tamis.spark.match("index", audit=audit)  # type: ignore[arg-type]


def test_audit_of_top_k_is_refused() -> None:
    with pytest.raises(InputError, match="does not go with k"):
        tamis.spark.match("index", audit=0.1, k=3)
