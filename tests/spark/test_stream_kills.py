"""A stream loses and repeats nothing when its driver, its executor or its Python workers are killed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.spark.world import World
from tests.waiting import eventually

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_killing_driver_worker_and_executor_loses_nothing(tmp_path: Path, repo_root: Path) -> None:
    """Send ``SIGKILL`` to the whole job in mid-batch, then to its Python workers; the third job ends."""
    world = World(tmp_path)
    events = {f"e{n}": {"a": n % 4, "b": n % 6} for n in range(40)}
    for low in range(0, 40, 5):
        world.send({name: json.dumps(events[name]) for name in list(events)[low : low + 5]})
    want = {(name, s) for name, event in events.items() for s in world.expected(event)}
    for victims in (_processes, _workers, None):
        with _job(world, repo_root) as job:
            if victims:
                before = len(world.outbox())
                _wait(job, lambda before=before: len(world.outbox()) > before)
                _kill(victims(job))
            _wait(job, lambda: False)
    assert job.returncode == 0, (world.folder / "log").read_text()[-4000:]
    assert {(e, s) for e, s, _ in world.outbox()} == want


@contextlib.contextmanager
def _job(world: World, root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the stream in a session of processes, which ends with the block."""
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
            _kill(_processes(job))
            job.wait()


def _wait(job: subprocess.Popen[bytes], done: Callable[[], bool]) -> None:
    """Wait until ``done``, or for the end of the job: as long as it uses the processor, it works."""

    def five_seconds() -> int:
        return int(sum(map(_processor_time, _processes(job))) / 5)  # a job that hangs uses less than a second

    eventually(lambda: done() or job.poll() is not None, every=0.2, progress=five_seconds)


def _processor_time(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.NoSuchProcess):
        return float(sum(process.cpu_times()[:4]))  # of the process and of its children that have ended
    return 0.0


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _workers(job: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the Python workers of a job and the daemon that forks them: they have a group of their own."""
    found = []
    for process in _processes(job):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "tamis.spark.daemon" in process.cmdline():
                found.append(process)
    assert found or job.poll() is not None, "the job has no Python workers"
    return found


def _processes(job: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return all processes of the job's session: Java, which is driver and executor, and all of Python."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(process.pid) == job.pid:
                found.append(process)
    return found
