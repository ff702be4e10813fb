"""The stages over Spark Connect, whose client has no Spark context."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.java import JAVA_OPTIONS
from tests.waiting import PATIENCE

pytestmark = pytest.mark.spark
HERE = Path(__file__).resolve().parent
ARGUMENTS = f"--driver-java-options '{JAVA_OPTIONS}' --conf spark.sql.shuffle.partitions=2"
PAIRS = [["a", "phone"], ["b", "cheap"]]


def test_every_stage_runs_over_connect(tmp_path: Path) -> None:
    root = HERE.parents[1]
    source = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {
        "SPARK_REMOTE": "local[2]",
        "SPARK_TESTING": "1",  # Spark's own setting for a free port: several of these may run at a time
        "PYTHONPATH": source,
        "PYSPARK_SUBMIT_ARGS": f"{ARGUMENTS} pyspark-shell",
    }
    done = _run(tmp_path, environment)
    assert done.returncode == 0, done.stderr[-6000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result == {
        "kind": "pyspark.sql.connect.session",
        "found": {"replicated": PAIRS, "sharded": PAIRS},
        "refused": ["c"],
        "profiled": 3,
        "streamed": PAIRS,
        "counted": 3.0,
    }


def _run(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the job with files for its output: a pipe would stay open as long as the server left behind."""
    command = [sys.executable, HERE / "connect_job.py", folder]
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        code = subprocess.run(
            command, env=environment, stdout=out, stderr=err, timeout=10 * PATIENCE
        ).returncode
    texts = ((folder / name).read_text() for name in ("out", "err"))
    return subprocess.CompletedProcess(command, code, *texts)
