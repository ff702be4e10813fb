"""Kill the notifier process repeatedly: every notification arrives, under the same id."""

from __future__ import annotations

import random
import signal
from pathlib import Path

from tamis.failpoint import VARIABLE
from tests.faults.history import History
from tests.faults.nursery import Child, Nursery
from tests.faults.process import service
from tests.faults.test_service import EVENTS, LOCAL, TIMES, prove
from tests.notify.receiver import receiving

FAILPOINTS = ["notify.before_move", "notify.after_dispatch", "notify.after_claim", "notify.after_send"]


def notifier(nursery: Nursery, folder: Path, failpoint: str = "") -> Child:
    words = ["notify", "--data", str(folder / "data"), *LOCAL]
    return nursery.start(words, folder / "notify.out", folder / "notify.log", **{VARIABLE: failpoint})


def kill(process: Child) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_notifier_delivers_everything_when_killed_repeatedly(tmp_path: Path, nursery: Nursery) -> None:
    rng = random.Random(11)
    with receiving() as receiver, service(nursery, tmp_path, "--no-notify", *LOCAL) as process:
        process.start()
        with History(process, receiver.url) as history:
            for turn in range(TIMES):
                if turn % 2:
                    started = notifier(nursery, tmp_path)
                    receiver.wait_for(len(receiver.calls) + rng.randrange(1, 40))
                    kill(started)
                else:
                    name = FAILPOINTS[turn // 2 % len(FAILPOINTS)]
                    dying = notifier(nursery, tmp_path, f"{name}:{rng.randrange(1, 5)}")
                    assert dying.wait() == -signal.SIGKILL, name
            history.reach(EVENTS)
        last = notifier(nursery, tmp_path)
        try:
            prove(process, history, receiver, f"sqlite:///{tmp_path / 'data/tamis.db'}")
        finally:
            kill(last)
