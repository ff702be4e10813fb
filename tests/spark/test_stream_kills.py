"""A stream loses and repeats nothing when its driver, its executor or its Python workers are killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark.world import World
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_killing_driver_worker_and_executor_loses_nothing(tmp_path: Path, repo_root: Path) -> None:
    """Send ``SIGKILL`` to the whole job in mid-batch, then to a Python worker, repeatedly."""
    world = World(tmp_path)
    events = {f"e{n}": {"a": n % 4, "b": n % 6} for n in range(60)}
    for low in range(0, 60, 5):
        world.send({name: json.dumps(events[name]) for name in list(events)[low : low + 5]})
    want = {(name, s) for name, event in events.items() for s in world.expected(event)}
    for attempt, victim in enumerate(("driver", "worker", "nobody")):
        job = _job(world, repo_root)
        if victim != "nobody":
            before = len(world.outbox())
            _wait(lambda before=before: len(world.outbox()) > before, job)
            _kill(job, victim)
        job.wait(timeout=5 * PATIENCE)
        _end(job)
        assert attempt < 2 or job.returncode == 0
    assert {(e, s) for e, s, _ in world.outbox()} == want


def _job(world: World, root: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    script = root / "tests" / "spark" / "stream_job.py"
    return subprocess.Popen(
        [sys.executable, str(script), str(world.folder)],
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait(done: Callable[[], bool], job: subprocess.Popen[bytes]) -> None:
    eventually(lambda: done() or job.poll() is not None)


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


def _end(job: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGKILL)
