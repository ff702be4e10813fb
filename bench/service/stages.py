"""Hold rising rates of events against one service, and measure throughput, latency and the work of matching.

``load`` holds one load for minutes. Here a service takes several short loads one after another, and each
starts after the service has matched everything of the one before.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

from bench.report import say
from bench.service.load import UNBOUNDED, Pace, register, steadily
from bench.service.market import listings
from bench.service.probe import Probe, milliseconds
from bench.service.process import served
from tamis import Client, Index

EVERY = 2.0  # seconds of a sample
REQUESTS = 40  # per second and load, so that the load is even
LISTINGS = 10_000
PATIENCE = 120.0  # seconds for a service to warm up, or to match what waits
COUNTS = ("candidates", "verified", "revised", "matches")

Sample = dict[str, float]


class Stage(NamedTuple):
    """A load: events per second, and its duration."""

    rate: int
    seconds: float


class Measured(NamedTuple):
    """The samples of every stage, and the work of an event in the service's index."""

    stages: list[list[Sample]]
    work: Sample


def hold_stages(folder: Path, subscriptions: int, stages: Sequence[Stage]) -> Measured:
    """Run a service with so many searches in ``folder`` under the loads, one after another."""
    key = register(folder, subscriptions, 1)
    free = [word for name in UNBOUNDED for word in ("--limit", f"{name}=100000000")]
    with served(folder, free) as service, Client(service.address, key) as admin:
        created = admin.create_key("probe", ["publish", "subscribe"])
        with (
            Client(service.address, created.key) as caller,
            Probe(caller).running() as probe,
            _publisher(service.address, key, subscriptions) as publisher,
        ):
            probe.wait_for_first(PATIENCE)
            found = [_held(stage, admin, probe, *publisher) for stage in stages]
    return Measured(found, _work(folder, subscriptions))


def _held(stage: Stage, admin: Client, probe: Probe, orders: Any, reports: Any) -> list[Sample]:
    """Start a load on an idle service; return a sample of every ``EVERY`` seconds."""
    _wait_until_idle(admin)
    orders.put(stage)
    assert reports.get(timeout=PATIENCE)[0] == "begin"
    began, samples = time.monotonic(), []
    for number in range(1, round(stage.seconds / EVERY) + 1):
        start, end = began + (number - 1) * EVERY, began + number * EVERY
        accepted = _accepted(reports, end)
        status = admin.status()
        seconds = status.rates[-int(EVERY) :]
        sample = {"at": number * EVERY, "accepted": accepted / EVERY, "lag": float(status.lag)}
        sample["matched"] = sum(second["events"] for second in seconds) / EVERY
        sample["notified"] = sum(second["matches"] for second in seconds) / EVERY
        samples.append(sample | milliseconds(probe.between(start, end)))
        say("  ".join(f"{name} {value:,.1f}" for name, value in samples[-1].items()))
    while reports.get(timeout=PATIENCE)[0] != "done":
        pass
    return samples


def _accepted(reports: Any, end: float) -> int:
    """Return the number of events that the service accepts until ``end``."""
    number = 0
    while (left := end - time.monotonic()) > 0:
        try:
            kind, count, *_ = reports.get(timeout=left)
        except Empty:
            break
        if kind == "done":  # the load ends with its last sample
            reports.put((kind, count))
            time.sleep(max(0.0, end - time.monotonic()))
        else:
            number += count
    return number


def _wait_until_idle(admin: Client) -> None:
    deadline = time.monotonic() + PATIENCE
    while admin.status().lag and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(EVERY)  # so that no sample counts matches of the load before


# ---------------------------------------------------------------------------------------- the publisher
@contextmanager
def _publisher(address: str, key: str, book: int) -> Iterator[tuple[Any, Any]]:
    """Run the publisher in a process of its own; yield the queue of its orders and that of its reports."""
    context = multiprocessing.get_context("spawn")
    orders, reports = context.Queue(), context.Queue()
    process = context.Process(target=_publish, args=(address, key, book, orders, reports), daemon=True)
    process.start()
    try:
        yield orders, reports
    finally:
        orders.put(None)
        process.join(PATIENCE)


def _publish(address: str, key: str, book: int, orders: Any, reports: Any) -> None:
    """Publish listings at the rate of every stage that is ordered."""
    bodies = [json.dumps({"attributes": listing}) for listing in listings(LISTINGS, 3, book)]
    while (stage := orders.get()) is not None:
        each = max(1, stage.rate // REQUESTS)
        pieces = ["\n".join(bodies[at : at + each]).encode() for at in range(0, len(bodies), each)]
        reports.put(("begin", 0))
        steadily(address, key, Pace("events", "/v1/events", stage.rate, each, stage.seconds), pieces, reports)


# ------------------------------------------------------------------------------------------- the index
def _work(folder: Path, book: int) -> Sample:
    """Return the work of an average event in the index that the service has left behind."""
    index = Index.open(folder / "index")
    events = listings(LISTINGS // 5, 3, book)
    done = [batch.work for batch in index.match_batches(events)]
    work = {name: sum(getattr(one, name) for one in done) / len(events) for name in COUNTS}
    return work
