"""Workers that cannot import Tamis are fixed on one machine and reported on the driver elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tamis.errors import InputError
from tamis.shards.manifest import Manifest, Settings, Shard
from tamis.spark.plan import choose
from tests.spark.java import JAVA_OPTIONS
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
JOB = """
import os, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config(
    "spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").config(
    "spark.driver.extraJavaOptions", sys.argv[1]).getOrCreate()
import tamis
import tamis.spark
from tamis.errors import TamisError

try:
    events = spark.createDataFrame([("e", 3), ("f", 9)], "event_id string, price int")
    found = events.transform(tamis.spark.match(tamis.Index.build({"low": "price < 5"})))
    print("FOUND", [(row["event_id"], row["subscription_id"]) for row in found.collect()])
except TamisError as bad:
    print("REFUSED", bad.code, bad.message)
"""


def run_job(tmp_path: Path, **more: str) -> str:
    """Run a job by the path of this Python, while the python3 on the PATH has no packages at all."""
    folder = tmp_path / "bin"
    folder.mkdir()
    bare = folder / "python3"
    bare.write_text(f'#!/bin/sh\nexec {getattr(sys, "_base_executable", sys.executable)} -S "$@"\n')
    bare.chmod(0o755)
    named = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    here = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    from tamis.spark.java import provide_java

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", os.environ.get("JAVA_HOME", ""))
        provide_java()
        java = {"JAVA_HOME": os.environ["JAVA_HOME"]} if os.environ.get("JAVA_HOME") else {}
    done = subprocess.run(
        [sys.executable, "-c", JOB, JAVA_OPTIONS],
        env={**named, **here, **java, **{name: value.format(bare=bare) for name, value in more.items()}},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FOUND", "REFUSED"))]
    assert len(lines) == 1, done.stdout + done.stderr
    return lines[0]


@pytest.mark.spark
def test_session_of_the_user_works_when_the_environment_is_not_activated(tmp_path: Path) -> None:
    assert run_job(tmp_path) == "FOUND [('e', 'low')]"


@pytest.mark.spark
def test_python_that_the_user_chose_is_refused_on_the_driver_when_it_lacks_tamis(tmp_path: Path) -> None:
    said = run_job(tmp_path, PYSPARK_PYTHON="{bare}")
    assert said.startswith("REFUSED spark-unavailable Spark's workers run ")
    assert "is not installed" in said
    assert f"PYSPARK_PYTHON={sys.executable}" in said


# -- the memory that decides the plan ----------------------------------------------------------------------


def configured(**settings: str) -> Any:
    """Return the part of a session that a plan reads: its configuration."""
    named = {"spark.default.parallelism": "4"} | settings
    return SimpleNamespace(conf=SimpleNamespace(get=lambda name, default: named.get(name, default)))


def sized(gib: float) -> Manifest:
    shards = [Shard(number, [], 1, int(gib * (1 << 30)) // 2) for number in range(2)]
    return Manifest(1, "2026-01-01", Settings(2), shards)


CLUSTER = {"spark.master": "spark://host:7077", "spark.executor.memory": "1g"}


def test_plan_ignores_the_heap_of_java() -> None:
    """An index of 1 GB does not fit into half of a heap of 1 GB, but into the page cache of a host."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    plan = choose(configured(**CLUSTER), sized(memory / 4))
    assert plan.name == "replicated"
    assert "page cache" in plan.why
    assert "a host such as this one (spark.executor.memoryOverhead would say" in plan.why
    assert choose(configured(**CLUSTER), sized(memory)).name == "sharded"


@pytest.mark.parametrize(
    ("setting", "value", "gib", "name"),
    [
        ("spark.executor.memoryOverhead", "4g", 1.9, "replicated"),
        ("spark.executor.memoryOverhead", "4096", 1.9, "replicated"),  # MiB, as Spark reads it
        ("spark.executor.memoryOverhead", "4g", 2.1, "sharded"),
        ("spark.executor.pyspark.memory", "4g", 0.9, "replicated"),  # each of two workers has half of it
        ("spark.executor.pyspark.memory", "4g", 1.1, "sharded"),
    ],
)
def test_plan_follows_the_memory_of_python_workers(setting: str, value: str, gib: float, name: str) -> None:
    plan = choose(configured(**CLUSTER, **{setting: value, "spark.executor.cores": "2"}), sized(gib))
    assert plan.name == name
    assert setting in plan.why


def test_unreadable_size_is_refused() -> None:
    with pytest.raises(InputError, match="'lots'"):
        choose(configured(**CLUSTER, **{"spark.executor.memoryOverhead": "lots"}), sized(1))
