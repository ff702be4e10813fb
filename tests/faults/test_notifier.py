"""The notifier, a process of its own, is killed again and again: everybody is told, under the same ids."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tamis.failpoint import VARIABLE
from tests.faults.history import History
from tests.faults.process import RUN, SOURCE, service
from tests.faults.test_service import LOCAL, TIMES, prove
from tests.notify.receiver import receiving

FAILPOINTS = ["notify.before_move", "notify.after_dispatch", "notify.after_claim", "notify.after_send"]


def notifier(data: Path, failpoint: str = "") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RUN, "notify", "--data", str(data), *LOCAL]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), VARIABLE: failpoint}
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(30)


def test_killed_at_random_and_at_each_failpoint(tmp_path: Path) -> None:
    rng = random.Random(11)
    with receiving() as receiver, service(tmp_path, "--no-notify", *LOCAL) as process:
        process.start()
        with History(process, receiver.url) as history:
            for turn in range(TIMES):
                if turn % 2:
                    started = notifier(tmp_path / "data")
                    time.sleep(rng.uniform(1.0, 2.0))
                    kill(started)
                else:
                    name = FAILPOINTS[turn // 2 % len(FAILPOINTS)]
                    dying = notifier(tmp_path / "data", f"{name}:{rng.randrange(1, 5)}")
                    assert dying.wait(60) == -signal.SIGKILL, name
        last = notifier(tmp_path / "data")
        try:
            prove(process, history, receiver, f"sqlite:///{tmp_path / 'data/tamis.db'}")
        finally:
            kill(last)
