"""Run notifiers against real receivers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.contract.addresses import read_networks
from tamis.failpoint import disarm
from tamis.notify import Notifier, Settings
from tamis.notify.backoff import Backoff
from tamis.notify.http import HttpRules
from tamis.store import Store
from tests.notify.book import MINUTE
from tests.notify.receiver import Receiver
from tests.waiting import PATIENCE

HERE = HttpRules(allowed=read_networks(["127.0.0.0/8"]), connect_seconds=PATIENCE, total_seconds=PATIENCE)
LEASE = 3 * PATIENCE  # seconds
QUICK = Backoff(first=0.02, factor=1, longest=0.02, attempts=4)
Make = Callable[..., Notifier]


class Clock:
    """The real clock plus the time that a test adds."""

    ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000 + self.ahead


class StillClock(Clock):
    """A clock that stands at half past a minute until a test advances it: no schedule is due by itself."""

    def __init__(self) -> None:
        self._stands = super().__call__() // MINUTE * MINUTE + MINUTE // 2

    def __call__(self) -> int:
        return self._stands + self.ahead


@pytest.fixture
def notifying(store: Store, tmp_path: Path) -> Iterator[Make]:
    started: list[Notifier] = []

    def start(clock: Any = None, other: Store | None = None, **settings: Any) -> Notifier:
        plain = {
            "workers": 4,
            "poll_seconds": 0.05,
            "http": HERE,
            "backoff": QUICK,
            "folder": tmp_path / "files",
            "lease_seconds": LEASE,
            "grace_seconds": PATIENCE,
        }
        chosen = Settings(**(plain | settings))
        notifier = Notifier(other or store, chosen, clock=clock or Clock(), rng=random.Random(1))
        notifier.start()
        started.append(notifier)
        return notifier

    yield start
    disarm()
    for notifier in started:
        notifier.stop()
        assert not any(thread.is_alive() for thread in notifier._threads)


def hook(receiver: Receiver, **more: Any) -> dict[str, Any]:
    return {"transport": "webhook", "url": receiver.url, **more}


def told_to(receiver: Receiver) -> list[str]:
    return [call.headers["webhook-id"] for call in receiver.calls]
