"""Feed events at a steady rate: files of JSON lines, one every tenth of a second, with a time stamp.

The source is a separate process, so that the pipeline it feeds does not slow it down.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from bench.report import ROOT
from bench.workloads.market import plain_listing

EVERY = 0.1


def start(parquet: str, folder: Path, rate: float, seconds: float) -> subprocess.Popen[bytes]:
    """Start the source as a separate process; it ends when all events are written."""
    command = [sys.executable, "-m", "bench.spark.source", parquet, str(folder), str(rate), str(seconds)]
    return subprocess.Popen(command, cwd=ROOT)


def feed(parquet: str, folder: Path, rate: float, seconds: float) -> int:
    """Write ``rate`` events a second into ``folder`` for this time; return their number."""
    lines = [json.dumps(plain_listing(row)) for row in _rows(parquet)]
    folder.mkdir(parents=True, exist_ok=True)
    each, sent, began = max(1, round(rate * EVERY)), 0, time.time()
    for number in range(round(seconds / EVERY)):
        _wait(began + number * EVERY)
        texts = [lines[(sent + at) % len(lines)] for at in range(each)]
        _put(folder, number, sent, texts)
        sent += each
    return sent


def _rows(parquet: str) -> list[dict[str, object]]:
    table = pq.read_table(parquet)
    return list(table.drop_columns(["event_id"]).to_pylist())


def _put(folder: Path, number: int, first: int, texts: list[str]) -> None:
    part = folder.parent / f"part-{number}"
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    with part.open("w") as file:
        for at, text in enumerate(texts, first):
            file.write(json.dumps({"event_id": f"e{at:09d}", "event_time": now, "attributes": text}) + "\n")
    os.rename(part, folder / f"{number:07d}.json")


def _wait(moment: float) -> None:
    if (left := moment - time.time()) > 0:
        time.sleep(left)


if __name__ == "__main__":
    feed(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
