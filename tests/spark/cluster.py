"""Run Spark's standalone master and workers as processes on loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pyspark

from tests.spark.java import JAVA_OPTIONS
from tests.waiting import eventually

SPARK_HOME = Path(pyspark.__file__).parent


class Cluster(NamedTuple):
    """The master's address and its workers."""

    url: str
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[Cluster]:
    """Run a master and ``workers`` workers of one core each; all end with the block."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        master = _start(folder / "master.log", "master.Master", "--port", "0")
        started.append(master)
        url = _wait_for(folder / "master.log", r"Starting Spark master at (\S+)", master)
        for number in range(workers):
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker-{number}"))
            started.append(_start(folder / f"worker-{number}.log", "worker.Worker", *size, url))
        for number in range(workers):
            _wait_for(
                folder / f"worker-{number}.log", r"Successfully registered with (master)", started[1 + number]
            )
        yield Cluster(url, started[1:])
    finally:
        for process in reversed(started):
            _end(process)


def _start(log: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [SPARK_HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{name}"]
    command += ["--host", "127.0.0.1", "--webui-port", "0", *arguments]
    environment = os.environ | {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS,
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with log.open("wb") as file:  # its own group: executors are its children and end with it
        return subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)


def _wait_for(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    def text() -> str:
        return log.read_text(encoding="utf-8", errors="replace")

    def is_alive() -> None:
        assert process.poll() is None, f"{log.name} never said {pattern!r}:\n{text()[-4000:]}"

    return str(eventually(lambda: re.search(pattern, text()), is_alive, every=0.1)[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
