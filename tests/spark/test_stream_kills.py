"""A stream loses and repeats nothing when its driver, its executor or its Python workers are killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.spark.world import World
from tests.waiting import eventually

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_killing_driver_worker_and_executor_loses_nothing(tmp_path: Path, repo_root: Path) -> None:
    """Send ``SIGKILL`` to the whole job in mid-batch, then to a Python worker, repeatedly."""
    world = World(tmp_path)
    events = {f"e{n}": {"a": n % 4, "b": n % 6} for n in range(60)}
    for low in range(0, 60, 5):
        world.send({name: json.dumps(events[name]) for name in list(events)[low : low + 5]})
    want = {(name, s) for name, event in events.items() for s in world.expected(event)}
    for victim in ("driver", "worker", "nobody"):
        with _job(world, repo_root) as job:
            if victim != "nobody":
                before = len(world.outbox())
                _wait(world, job, lambda before=before: len(world.outbox()) > before)
                _kill(job, victim)
            _wait(world, job, lambda: False)
    assert job.returncode == 0, (world.folder / "log").read_text()[-4000:]
    assert {(e, s) for e, s, _ in world.outbox()} == want


@contextlib.contextmanager
def _job(world: World, root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the stream in a group of processes, which ends with the block."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    script = root / "tests" / "spark" / "stream_job.py"
    with (world.folder / "log").open("ab") as log:
        job = subprocess.Popen(
            [sys.executable, str(script), str(world.folder)],
            env=environment,
            start_new_session=True,
            stdout=log,
            stderr=log,
        )
        try:
            yield job
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def _wait(world: World, job: subprocess.Popen[bytes], done: Callable[[], bool]) -> None:
    """Wait until ``done``, or for the end of the job. It works as long as it writes files or logs."""

    def written() -> tuple[int, int]:
        files = sum(len(names) for _, _, names in os.walk(world.folder))
        return files, (world.folder / "log").stat().st_size

    eventually(lambda: done() or job.poll() is not None, progress=written)


def _kill(job: subprocess.Popen[bytes], victim: str) -> None:
    if victim == "driver":
        os.killpg(job.pid, signal.SIGKILL)  # Java, which is driver and executor, and all Python processes
        return
    for process in _workers(job.pid):
        os.kill(process, signal.SIGKILL)


def _workers(group: int) -> list[int]:
    """Return the Python workers of a job, which are children of Spark's daemon."""
    found = subprocess.run(
        ["pgrep", "-g", str(group), "-f", "tamis.spark.daemon"], capture_output=True, text=True
    )
    return [int(line) for line in found.stdout.split()]
