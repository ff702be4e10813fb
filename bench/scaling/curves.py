"""Define the curves, one for each quantity that cost may grow with, and measure them."""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench import parts, report
from bench.run import EngineSpec, Plan
from bench.run.material import generate, library_build, make_index
from bench.run.memory import TooLarge, allowance, estimate, insist
from bench.run.outcome import varied
from bench.scaling.shelf import Shelf
from bench.scaling.touched import bytes_touched
from bench.timing import Watch, seconds, time_engine
from bench.workloads import WORKLOADS
from bench.workloads.base import changed
from bench.workloads.synthetic import Synthetic

EVENTS = 4_096
TRACED = 512
CHECKED = 8
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000)

Say = Callable[[str], Any]


@dataclass(frozen=True)
class Curve:
    """One parameter of one workload."""

    name: str
    title: str
    workload: str
    parameter: str
    values: tuple[float, ...]
    matches: float | None = None  # per event, whatever the size of the book
    constant: bool = False  # the matches of an event do not grow with the book
    subscriptions: int = 1_000_000

    def plan(self, value: float, scale: int = 1) -> Plan:
        """Return the run for one value, with ``scale`` times fewer subscriptions."""
        count = int(value if self.parameter == "subscriptions" else self.subscriptions) // scale
        workload = WORKLOADS[self.workload]
        if self.matches is not None:
            workload = changed(workload, {"match_probability": min(0.5, self.matches / count)})
        plan = Plan(workload, count, EVENTS, ("hybrid",), detail=False, checked=0)
        return plan if self.parameter == "subscriptions" else varied(plan, self.parameter, value)


CURVES = (
    Curve(
        "sparse",
        "30,000 attributes, one event in ten matches",
        "w4-sparse",
        "subscriptions",
        SIZES,
        constant=True,
    ),
    Curve("clustered", "400 clustered attributes, 100 matches", "w2", "subscriptions", SIZES[:7], 100, True),
    Curve("dense", "100 attributes, 40 matches per million", "w4-dense", "subscriptions", SIZES[:7]),
    Curve("event", "pairs in an event", "w4-dense", "event_size", (10, 20, 30, 50, 70, 90)),
    Curve("dimensions", "attributes", "w4-dense", "dimensions", (100, 300, 1_000, 3_000, 10_000, 30_000)),
    Curve(
        "selectivity",
        "match probability",
        "w4-dense",
        "match_probability",
        (0.0001, 0.001, 0.01, 0.1, 0.5),
        subscriptions=300_000,
    ),
)


def measure(curve: Curve, say: Say, scale: int = 1, most: int | None = None) -> list[dict[str, Any]]:
    """Return a point for each value of ``curve``; books beyond ``most`` are left out."""
    points = []
    for value in curve.values:
        plan = curve.plan(value, scale)
        if most is not None and plan.subscriptions > most:
            continue
        points.append({"value": value} | _point(plan, report.under(f"{curve.name} {value:,g}", say)))
        gc.collect()
    return points


def _point(plan: Plan, say: Say) -> dict[str, Any]:
    try:
        insist(plan)
    except TooLarge:
        return _in_pieces(plan, say)
    say("generating")
    material = generate(plan)
    say("building")
    build_s, index = seconds(lambda: make_index(material, EngineSpec.read("hybrid"), library_build()))
    say("matching")
    timing = time_engine(index, material.events, Watch())
    check(index, material.events.slice(0, CHECKED))
    say("counting cache lines")
    matches = timing.pairs.num_rows / timing.events
    return _figures(plan, min(timing.match_us), matches, index.info()["bytes"]) | {
        "build_s": build_s,
        "visited": timing.work["visited"] / timing.events,
        "candidates": timing.work["candidates"] / timing.events,
        "touched": bytes_touched(index, material.events.slice(0, TRACED)),
    }


class Miscount(Exception):
    """An error: the engine finds more or fewer clauses than a bare loop over all of them."""


def check(index: Any, events: pa.Table) -> None:
    """Raise :class:`Miscount` unless a bare loop finds as many clauses that hold for ``events``."""
    located = parts.locate_events(index, events)
    found, expected = parts.search_located(located), parts.scan_barely(located)
    if expected is not None and found != expected:
        raise Miscount(f"{found} clauses found for {events.num_rows} events, {expected} hold")


def _in_pieces(plan: Plan, say: Say) -> dict[str, Any]:
    """Measure a book that does not fit into memory: an event goes through all pieces."""
    if not isinstance(plan.workload, Synthetic):
        raise TooLarge(f"{plan.workload.name} cannot be built in pieces")
    events = plan.workload.events(plan.events, plan.seed, plan.subscriptions)
    with tempfile.TemporaryDirectory(dir=_on_disk()) as folder:
        pieces = math.ceil(estimate(plan) / allowance())
        piece = math.ceil(plan.subscriptions / pieces)
        shelf = Shelf.build(plan.workload, plan.subscriptions, piece, Path(folder), say)
        for index in shelf.indexes:
            check(index, events.slice(0, CHECKED))
        say("matching")
        us, matches = shelf.match_us(events)
        return _figures(plan, us, matches, shelf.bytes()) | {
            "build_s": shelf.build_s,
            "pieces": len(shelf.indexes),
        }


def _on_disk() -> Path:
    """Return a folder on disk; the one for temporary files may be in memory."""
    report.RESULTS.mkdir(parents=True, exist_ok=True)
    return report.RESULTS


def _figures(plan: Plan, us: float, matches: float, size: int) -> dict[str, Any]:
    return {
        "subscriptions": plan.subscriptions,
        "us_per_event": us,
        "matches_per_event": matches,
        "bytes": size,
    }
