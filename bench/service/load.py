"""Hold events and changes at fixed rates against one service, and measure the service.

The service and the callers are separate processes: the callers' cost does not count as the service's, though
they share the machine.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import click
import httpx
import psutil

from bench.service.market import listings, searches
from bench.service.process import served
from tamis import Client

LINES = "application/x-ndjson"
EVENTS_AT_ONCE, CHANGES_AT_ONCE = 200, 100
CONNECTIONS = 8  # of each caller
OWNER = "market"
UNBOUNDED = ("owner_requests", "owner_events", "owner_subscriptions", "owner_predicates", "lag_events")


class Watched:
    """A process, measured from outside."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)

    def resident(self) -> float:
        """Return the resident memory in megabytes."""
        return float(self._process.memory_info().rss / 1e6)

    def processor(self) -> float:
        """Return the seconds of processor time so far."""
        times = self._process.cpu_times()
        return float(times.user + times.system)


def register(folder: Path, count: int, seed: int) -> str:
    """Write searches straight into the store before the service starts; return a key for the service."""
    from tqdm import tqdm

    from tamis.store import Store, keys

    folder.mkdir(parents=True, exist_ok=True)
    with Store.open(f"sqlite:///{folder / 'tamis.db'}") as store:
        if store.count() < count:
            texts = enumerate(searches(count, seed))
            rows = ({"id": f"{OWNER}/{at}", "expression": text, "owner": OWNER} for at, text in texts)
            with tqdm(total=count, desc="registering", unit=" searches") as bar:
                store.put_many(rows, lambda done, _: bar.update(done - bar.n) and None)
        with store.database.writing() as connection:
            return keys.create(connection, OWNER, keys.SCOPES, "load")[1]


def publish(address: str, key: str, rate: int, seconds: float, book: int, reports: Any, gate: Any) -> None:
    """Publish listings at a steady rate, many to a request."""
    bodies = [json.dumps({"attributes": listing}) for listing in listings(20_000, 3, book)]
    each = EVENTS_AT_ONCE
    pieces = ["\n".join(bodies[at : at + each]).encode() for at in range(0, len(bodies), each)]
    gate.wait()
    pace = Pace("events", "/v1/events", rate, each, seconds)
    steadily(address, key, pace, pieces, reports)


def change(address: str, key: str, rate: int, seconds: float, _: int, reports: Any, gate: Any) -> None:
    """Save or change searches at a steady rate."""
    texts = list(searches(20_000, 5))
    rows = [json.dumps({"id": f"new-{at % 15_000}", "expression": text}) for at, text in enumerate(texts)]
    each = CHANGES_AT_ONCE
    pieces = ["\n".join(rows[at : at + each]).encode() for at in range(0, len(rows) - each, each)]
    gate.wait()
    pace = Pace("changes", "/v1/subscriptions/import?report=refused", rate, each, seconds)
    steadily(address, key, pace, pieces, reports)


class Pace(NamedTuple):
    """The route, the requests per second, the connections, and the duration of a load."""

    what: str
    path: str
    rate: float
    each: int
    seconds: float


def steadily(address: str, key: str, pace: Pace, pieces: list[bytes], reports: Any) -> None:
    """Send over several connections, each with its share: one alone would wait for every answer."""
    share = pace._replace(rate=pace.rate / CONNECTIONS)
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for at in range(CONNECTIONS):
            pool.submit(_one_connection, address, key, share, pieces[at::CONNECTIONS], reports)
    reports.put(("done", 0))


def _one_connection(address: str, key: str, pace: Pace, pieces: list[bytes], reports: Any) -> None:
    headers = {"authorization": f"Bearer {key}", "content-type": LINES}
    with httpx.Client(base_url=address, headers=headers, timeout=120) as client:
        began = time.monotonic()
        number = 0
        while (now := time.monotonic()) < began + pace.seconds:
            if (wait := began + number * pace.each / pace.rate - now) > 0:
                time.sleep(wait)
            asked = time.monotonic()
            client.post(pace.path, content=pieces[number % len(pieces)]).raise_for_status()
            reports.put((pace.what, pace.each, time.monotonic() - asked))
            number += 1


def hold(folder: Path, subscriptions: int, events: int, changes: int, seconds: float) -> dict[str, Any]:
    """Hold both loads for this time; return figures of every five seconds, and of the whole."""
    key = register(folder, subscriptions, 1)
    free = [word for name in UNBOUNDED for word in ("--limit", f"{name}=100000000")]
    began = time.monotonic()
    with served(folder, free) as service, Client(service.address, key) as client:
        opened = time.monotonic() - began
        callers = _callers(service.address, key, (events, changes), seconds, subscriptions)
        samples = _watch(Watched(service.pid), client, callers)
    halves = samples[len(samples) // 4 : len(samples) // 2], samples[len(samples) // 2 :]
    return {
        "subscriptions": subscriptions,
        "opened_s": opened,
        "events_per_s": _mean(samples, "events"),
        "changes_per_s": _mean(samples, "changes"),
        "matches_per_s": _mean(samples, "matches"),
        "most_lag": max(sample["lag"] for sample in samples),
        "last_lag": samples[-1]["lag"],
        "cores": _mean(samples, "cores"),
        "resident_mb": [_mean(half, "resident_mb") for half in halves],
        "samples": samples,
    }


def _callers(address: str, key: str, rates: tuple[int, int], seconds: float, book: int) -> Any:
    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    work = [(caller, rate) for caller, rate in zip((publish, change), rates, strict=True) if rate]
    gate = context.Barrier(len(work))
    for caller, rate in work:
        given = (address, key, rate, seconds, book, reports, gate)
        context.Process(target=caller, args=given, daemon=True).start()
    return reports, len(work), gate  # the gate must live until all callers have met at it


def _watch(service: Watched, client: Client, callers: Any) -> list[dict[str, Any]]:
    reports, left, _ = callers
    samples: list[dict[str, Any]] = []
    counts, slowest = {"events": 0, "changes": 0}, 0.0
    tick, spent = time.monotonic(), service.processor()
    while left:
        kind, number, *waited = reports.get(timeout=300)
        if kind == "done":
            left -= 1
        else:
            counts[kind] += number
            slowest = max(slowest, *waited)
        if (passed := time.monotonic() - tick) >= 5 and left:
            status = client.status()
            matches = sum(second["matches"] for second in status.rates[-5:])
            sample = {name: count / passed for name, count in counts.items()}
            sample |= {"matches": matches / 5, "lag": status.lag, "slowest_s": slowest}
            sample |= {"cores": (service.processor() - spent) / passed, "resident_mb": service.resident()}
            sample["segments"] = len((status.index or {}).get("segments", ()))
            samples.append(sample)
            click.echo("  ".join(f"{name} {value:,.1f}" for name, value in sample.items()))
            counts, slowest = dict.fromkeys(counts, 0), 0.0
            tick, spent = time.monotonic(), service.processor()
    return samples


def _mean(samples: list[dict[str, Any]], name: str) -> float:
    return float(sum(sample[name] for sample in samples) / max(1, len(samples)))
