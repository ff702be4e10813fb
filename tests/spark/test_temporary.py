"""``match`` with a DataFrame of subscriptions, or with an index in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import tamis
from tamis.errors import InputError
from tamis.limits import Limits
from tests.spark.test_build_match import BOOK, EVENTS, expected, frame_of, pairs, subscriptions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("plan", ["auto", "sharded"])
def test_dataframe_of_subscriptions_is_matched(spark: SparkSession, plan: str) -> None:
    import tamis.spark

    found = frame_of(spark).transform(tamis.spark.match(subscriptions_of(spark), plan=plan))
    assert pairs(found) == sorted(expected())


def test_dataframe_with_invalid_subscriptions_warns_of_them(spark: SparkSession) -> None:
    from tamis.spark.match import match_with_notes

    book = {**BOOK, "bad": "a ="}
    with pytest.warns(
        UserWarning, match="1 subscriptions are left out, the first of them: bad: expression-syntax"
    ):
        stage = match_with_notes(subscriptions_of(spark, book))
    assert pairs(frame_of(spark).transform(stage).where("note IS NULL")) == sorted(expected())


@pytest.mark.parametrize("engine", ["hybrid", "bestar"])
def test_index_in_memory_is_matched_as_it_is(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    """Match with all additions, changes and removals since the build; the index itself stays unchanged."""
    from tamis.spark.match import match

    limits = Limits(expression_predicates=99)
    index = tamis.Index.build(BOOK, engine=engine, limits=limits)
    index.add("fresh", "a = 1")
    index.update("s1", "NOT a = 1")
    index.remove("s2")
    book = {**BOOK, "fresh": "a = 1", "s1": "NOT a = 1"}
    del book["s2"]
    before = index.info()
    found = frame_of(spark).transform(match(index))
    assert pairs(found) == sorted(expected(book))
    assert index.info() == before
    index.add("later", "a >= 0")
    assert pairs(found) == sorted(expected(book)), "as it was when match was called"
    best = frame_of(spark).transform(match(index, k=2, shape="arrays")).collect()
    for row in best:
        own = list(zip(row["subscriptions"], row["scores"], strict=True))
        assert own == index.top_k(EVENTS[int(row["event_id"][1:])], 2)
    index.save(tmp_path / "saved")
    assert len(tamis.Index.open(tmp_path / "saved")) == len(index)


def test_empty_index_matches_nothing(spark: SparkSession) -> None:
    from tamis.spark.match import match

    assert pairs(frame_of(spark).transform(match(tamis.Index.build()))) == []


def test_invalid_source_is_refused(spark: Any, tmp_path: Path) -> None:
    from tamis.spark.match import match
    from tamis.spark.stream import match_stream

    with pytest.raises(
        InputError, match=r"the path of an index, a DataFrame of subscriptions or a tamis\.Index"
    ):
        match(5)  # type: ignore[arg-type]
    stream = spark.readStream.schema("id string, expression string").json(str(tmp_path))
    with pytest.raises(InputError, match="DataFrame that ends"):
        match(stream)
    with pytest.raises(InputError, match="match_stream takes the path"):
        match_stream(stream, tamis.Index.build(), sink=print, checkpoint="c")  # type: ignore[arg-type]


def test_cluster_needs_a_folder_that_all_hosts_reach() -> None:
    from tamis.spark import temporary

    cluster = SimpleNamespace(conf=SimpleNamespace(get=lambda name, default: "spark://host:7077"))
    with pytest.raises(InputError, match=r"workers of spark://host:7077 do not see .*tamis\.spark\.build"):
        temporary._folder(cluster, "tamis.spark.build(subscriptions, path)")  # type: ignore[arg-type]


def test_temporary_folder_is_removed_when_the_process_ends() -> None:
    code = "from tamis.spark import temporary; print(temporary._folder(None, ''))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("tamis-index-")
    assert not folder.exists()
