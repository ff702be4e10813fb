"""Workloads drawn by Spark are the workloads drawn in this process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from bench.workloads import named
from tamis import Index
from tamis.errors import InputError
from tamis.spark.events import events
from tamis.spark.generate import generate, workload_named
from tamis.spark.rows import events_in

pytestmark = pytest.mark.spark
module = import_module("tamis.spark.generate")  # the package has a function of this name


def pairs(index: Index, table: Any) -> set[tuple[int, str]]:
    found = index.match_many(table)
    return set(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True))


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RANGE_ROWS", 64)


@pytest.mark.usefixtures("small_pieces")
def test_columns_texts_and_events_are_those_of_the_workload(spark: SparkSession, tmp_path: Path) -> None:
    workload = named("w5")
    made = generate(spark, workload, f"{tmp_path}/", subscriptions=300, events=150, seed=3, partitions=3)
    assert made == (f"{tmp_path}/subscriptions", f"{tmp_path}/texts", f"{tmp_path}/events")
    book = spark.read.parquet(made.subscriptions).toArrow()  # type: ignore[arg-type]
    texts = spark.read.parquet(made.texts).toArrow()  # type: ignore[arg-type]
    here = workload.subscriptions(300, 3)
    assert sorted(map(str, book.to_pylist())) == sorted(map(str, here.to_pylist()))
    assert sorted(map(str, texts.to_pylist())) == sorted(map(str, workload.texts(300, 3).to_pylist()))
    frame = events(spark.read.parquet(made.events)).orderBy("event_id")  # type: ignore[arg-type]
    table = frame.toArrow().combine_chunks()
    ids = [int(name.removeprefix("event-")) for name in table["event_id"].to_pylist()]
    assert sorted(ids) == list(range(150))
    index = Index.build(book)
    wanted = pairs(index, workload.events(150, 3, 300))
    found = {(ids[row], held) for row, held in pairs(index, events_in(table.to_batches()[0]))}
    assert found == wanted
    assert wanted
    with pytest.raises(InputError, match=r"something at .*subscriptions already"):
        generate(spark, workload, str(tmp_path), subscriptions=3, events=0)
    again = generate(spark, workload, str(tmp_path), subscriptions=0, events=3, overwrite=True)
    assert again == (None, None, f"{tmp_path}/events")
    assert spark.read.parquet(f"{tmp_path}/events").count() == 3


@pytest.mark.usefixtures("small_pieces")
def test_everything_as_text(spark: SparkSession, tmp_path: Path) -> None:
    workload = named("w5")
    made = generate(spark, workload, str(tmp_path), subscriptions=200, events=0, as_text=True)
    assert made.texts is made.events is None
    book = spark.read.parquet(made.subscriptions).toArrow()  # type: ignore[arg-type]
    assert book.num_rows == 200
    listings = workload.events(100, 1, 200)
    columns = Index.build(workload.subscriptions(200, 1))
    texts = Index.build(workload.texts(200, 1))
    wanted = pairs(columns, listings) | pairs(texts, listings)
    assert pairs(Index.build(book), listings) == wanted


class Uneven:
    """A workload whose later events have a column more."""

    def in_text(self, count: int) -> int:
        return 0

    def columns(self, seed: int, rows: range) -> pa.Table:
        raise AssertionError("only its events are asked for")

    def expressions(self, seed: int, rows: range) -> pa.Table:
        raise AssertionError("only its events are asked for")

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        return pa.table({"a" if len(rows) == 1 else "b": [1] * len(rows)})


def test_what_cannot_be_generated_says_why(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="counted from 0, not -1"):
        generate(spark, Uneven(), str(tmp_path / "x"), subscriptions=0, events=-1)
    with pytest.raises(InputError, match="'b', which its first row lacks"):
        module._fitted(Uneven().stream(1, range(2), 1), Uneven().stream(1, range(1), 1).schema)


def offer(folder: Path, value: str) -> None:
    """An installed distribution that offers workloads."""
    info = folder / "offering-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{module.GROUP}]\nsome = {value}\n")


def test_workloads_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(tmp_path, "bench.workloads:named")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert workload_named("w4-dense") is named("w4-dense")
    with pytest.raises(InputError, match="'w99' is not one of w1, "):
        workload_named("w99")


def test_without_bench_the_error_says_where_workloads_are(tmp_path: Path, monkeypatch: Any) -> None:
    offer(tmp_path, "no_such_bench.workloads:named")
    for path in ([str(tmp_path)], []):
        monkeypatch.setattr("sys.path", path)
        with pytest.raises(InputError, match=r"none are installed.*checkout"):
            workload_named("w1")
