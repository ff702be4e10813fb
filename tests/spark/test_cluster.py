"""A cluster of two workers finds the same pairs as one process, also when a worker is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tamis
from tests.spark.cluster import SPARK_HOME, standalone
from tests.spark.java import JAVA_OPTIONS
from tests.waiting import PATIENCE

pytestmark = pytest.mark.spark
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

BOOK = {f"s{number}": f"city = 'c{number % 7}' AND price <= {number}" for number in range(60)} | {
    "bad": "price <="
}


def write_inputs(folder: Path) -> tuple[Path, Path, list[list[str]]]:
    """Write the book and the events to files; return the pairs that the library finds."""
    events = [{"city": f"c{number % 9}", "price": number % 50} for number in range(200)]
    names = [f"e{number}" for number in range(len(events))]
    index = tamis.Index.build(BOOK, on_error="skip")
    pairs = sorted([names[row], found] for row, event in enumerate(events) for found in index.match(event))
    book, rows = folder / "book.parquet", folder / "events.parquet"
    pq.write_table(pa.table({"id": list(BOOK), "expression": list(BOOK.values())}), book)
    pq.write_table(pa.Table.from_pylist(events).add_column(0, "event_id", [names]), rows)
    return book, rows, pairs


def archive(folder: Path) -> Path:
    """Build an environment as ``pack.sh`` does, except that it borrows the packages of this one."""
    environment = folder / "packed"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    borrowed = [str(ROOT / "src"), sysconfig.get_path("purelib")]
    (packages / "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    packed = folder / "environment.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        file.add(environment, ".")
    return packed


def submit(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        *(SPARK_HOME / "bin" / "spark-submit", "--master", url),
        *("--archives", f"{archive(folder)}#environment"),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"),
        *("--conf", "spark.executor.memory=512m", "--conf", "spark.sql.shuffle.partitions=2"),
        *("--conf", f"spark.executor.extraJavaOptions={JAVA_OPTIONS}"),
        *("--driver-java-options", JAVA_OPTIONS),
        *("--conf", "spark.ui.enabled=false", "--conf", "spark.log.level=WARN", "--driver-memory", "1g"),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": "./environment/bin/python",
        "PYSPARK_DRIVER_PYTHON": str(folder / "packed" / "bin" / "python"),
    }
    return subprocess.run(
        [*command, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
    )


def test_cluster_agrees_with_one_process_when_a_worker_dies(tmp_path: Path) -> None:
    book, events, pairs = write_inputs(tmp_path)
    with standalone(tmp_path, 2) as cluster:
        dies = cluster.workers[1]
        done = submit(
            cluster.url,
            tmp_path,
            str(HERE / "cluster_job.py"),
            str(book),
            str(events),
            str(tmp_path),
            str(dies.pid),
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        assert dies.wait(timeout=PATIENCE) != 0, "the worker is still there"
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["refused"] == 1
    assert pairs
    assert result["pairs"] == {"replicated": pairs, "sharded": pairs, "killed": pairs}
    assert all(prefix.endswith("/environment") for prefix in result["python"]), result["python"]
