"""One workload, several engines: build, match, measure, and insist that they agree."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench import report
from bench.timing import Timing, one_at_a_time, percentiles, seconds, time_engine
from bench.workloads import Workload

Build = Callable[..., Any]

_SAMPLE_SEED = 104_729  # events for statistics are other ones than those that are matched


class Disagreement(Exception):
    """Two engines gave different pairs."""


@dataclass(frozen=True)
class Plan:
    """What to run."""

    workload: Workload
    subscriptions: int = 1_000_000
    events: int = 10_000
    engines: tuple[str, ...] = ("scan", "hybrid")
    seed: int = 1
    repeats: int = 3
    threads: int = 1
    sample: int = 0


@dataclass(frozen=True)
class Material:
    """The data of a run."""

    columns: pa.Table
    texts: pa.Table
    events: pa.Table
    sample: pa.Table | None


def run(plan: Plan, build: Build | None = None) -> dict[str, Any]:
    """Measure every engine of ``plan``; :class:`Disagreement` if they do not give the same pairs."""
    data_s, material = seconds(lambda: generate(plan))
    size = f"{plan.subscriptions:,} subscriptions and {plan.events:,} events"
    say(f"{plan.workload.name}: {size} generated in {data_s:.1f} s")
    results: list[dict[str, Any]] = []
    timings: dict[str, Timing] = {}
    for engine in plan.engines:
        result, timing = _measure(plan, material, engine, build or library_build())
        for other, known in timings.items():
            agree(other, known, engine, timing)
        results.append(result)
        timings[engine] = timing
    return _report(plan, results)


def library_build() -> Build:
    """``tamis.Index.build``, imported when it is needed."""
    import tamis

    build: Build = tamis.Index.build
    return build


def generate(plan: Plan) -> Material:
    """Subscriptions and events of ``plan``."""
    workload, n = plan.workload, plan.subscriptions
    sample = workload.events(plan.sample, plan.seed + _SAMPLE_SEED, n) if plan.sample else None
    return Material(
        workload.subscriptions(n, plan.seed),
        workload.texts(n, plan.seed),
        workload.events(plan.events, plan.seed, n),
        sample,
    )


def make_index(material: Material, engine: str, build: Build, *, merge: bool = True) -> Any:
    """The index of all subscriptions: those in columns, then those written as text, merged if asked."""
    index = build(material.columns, engine=engine, sample=material.sample)
    if material.texts.num_rows:
        ids, texts = (material.texts.column(name).to_pylist() for name in ("id", "expression"))
        index.add(dict(zip(ids, texts, strict=True)))
        if merge:
            index.merge()
    return index


def _measure(plan: Plan, material: Material, engine: str, build: Build) -> tuple[dict[str, Any], Timing]:
    say(f"{engine}: building")
    build_s, index = seconds(lambda: make_index(material, engine, build))
    say(f"{engine}: matching")
    timing = time_engine(
        index, material.events, repeats=plan.repeats, threads=plan.threads, bare=engine == "scan"
    )
    singles = percentiles(one_at_a_time(index, material.events.slice(0, 2_000)))
    size = disk_bytes(index)
    found = timing.pairs.num_rows
    result = {
        "engine": engine,
        "us_per_event": min(timing.match_us),
        "us_per_event_worst": max(timing.match_us),
        "locate_us": timing.locate_us,
        "end_to_end_us": min(timing.total_us),
        "end_to_end_us_worst": max(timing.total_us),
        "bare_loop_us": timing.bare_us,
        "one_event": singles,
        "warm_up_s": timing.warm_up_s,
        "build_s": build_s,
        "bytes": size,
        "bytes_per_subscription": size / plan.subscriptions,
        "events": timing.events,
        "candidates_per_event": timing.candidates,
        "revised_per_event": timing.revised,
        "matches_per_event": found / timing.events,
        "match_probability": found / timing.events / plan.subscriptions,
    }
    return result, timing


def disk_bytes(index: Any) -> int:
    """What the saved index takes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in files)


def agree(one: str, first: Timing, other: str, second: Timing) -> None:
    """Raise :class:`Disagreement` unless both found the same pairs among the events that both matched."""
    common = min(first.events, second.events)
    left, right = _sorted_pairs(first.pairs, common), _sorted_pairs(second.pairs, common)
    if left == right:
        return
    difference = min(set(left).symmetric_difference(right), default=None)
    if difference is None:
        raise Disagreement(f"{one} and {other} differ in how often they report a pair")
    event, subscription = difference
    finder, loser = (one, other) if difference in set(left) else (other, one)
    raise Disagreement(f"event {event}, subscription {subscription!r}: {finder} finds it, {loser} does not")


def _sorted_pairs(pairs: pa.Table, events: int) -> list[tuple[int, str]]:
    event, subscription = pairs.column("event").to_pylist(), pairs.column("subscription").to_pylist()
    return sorted(pair for pair in zip(event, subscription, strict=True) if pair[0] < events)


def _report(plan: Plan, results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "workload": plan.workload.name,
        "parameters": plan.workload.parameters()
        | {
            "subscriptions": plan.subscriptions,
            "events": plan.events,
            "repeats": plan.repeats,
            "threads": plan.threads,
            "sample": plan.sample,
        },
        "seed": plan.seed,
        "results": results,
        "ratios_to_scan": ratios(results, "us_per_event"),
        "ratios_to_bare_loop": bare_ratios(results),
        "end_to_end_ratios_to_scan": ratios(results, "end_to_end_us"),
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }


def ratios(results: list[dict[str, Any]], name: str) -> dict[str, float]:
    """How many times faster than ``scan`` each engine is."""
    by_engine = {result["engine"]: result[name] for result in results}
    scan = by_engine.get("scan")
    return {engine: scan / us for engine, us in by_engine.items()} if scan else {}


def bare_ratios(results: list[dict[str, Any]]) -> dict[str, float]:
    """How many times faster than a bare loop over the clauses each engine is, if that was timed."""
    bare = next((result["bare_loop_us"] for result in results if result["bare_loop_us"]), None)
    return {result["engine"]: bare / result["us_per_event"] for result in results} if bare else {}


HEADINGS = (
    "engine", "match µs", "± %", "locate µs", "all µs", "× scan", "× bare", "all × scan", "p50 µs", "p99 µs",
    "warm-up s", "build s", "B/sub", "candidates", "matches", "events",
)  # fmt: skip


def summary(outcome: dict[str, Any]) -> str:
    """The report as a table."""
    names = ("ratios_to_scan", "ratios_to_bare_loop", "end_to_end_ratios_to_scan")
    rows = [
        _row(result, [outcome[name].get(result["engine"]) for name in names]) for result in outcome["results"]
    ]
    parameters = outcome["parameters"]
    size = f"{parameters['subscriptions']:,} subscriptions, {parameters['threads']} thread(s)"
    notes = [
        f"{result['engine']} is slow and was timed on {result['events']:,} of {parameters['events']:,} events"
        for result in outcome["results"]
        if result["events"] < parameters["events"]
    ]
    probability = outcome["results"][0]["match_probability"] if outcome["results"] else 0.0
    notes.append(
        f"match probability {probability:.2g}; µs are per event; match = from located events to matches, "
        "all = from table to table,\n"
        "bare = a bare loop over the same clauses; p50 and p99 = one dictionary at a time"
    )
    return "\n".join([f"{outcome['workload']}: {size}", report.table(HEADINGS, rows), *notes])


def _row(result: dict[str, Any], ratios: list[float | None]) -> list[str]:
    figure, best = report.figure, result["us_per_event"]
    return [
        result["engine"],
        figure(best),
        figure(100 * (result["us_per_event_worst"] / best - 1), 2),
        figure(result["locate_us"]),
        figure(result["end_to_end_us"]),
        *map(figure, ratios),
        figure(result["one_event"]["p50_us"]),
        figure(result["one_event"]["p99_us"]),
        figure(result["warm_up_s"], 2),
        figure(result["build_s"], 2),
        figure(result["bytes_per_subscription"]),
        figure(result["candidates_per_event"]),
        figure(result["matches_per_event"]),
        f"{result['events']:,}",
    ]


def say(text: str) -> None:
    """Tell the person who waits; results go to stdout, this does not."""
    print(text, file=sys.stderr, flush=True)
