"""Measure one engine on the data of a run: build, match, count."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.run.material import Build, Material, make_index
from bench.run.plan import EngineSpec, Plan
from bench.timing import (
    PROBE,
    Timing,
    Watch,
    all_cores_us,
    one_at_a_time,
    percentiles,
    seconds,
    time_engine,
)

SINGLES = 2_000
"""The number of events that are matched one at a time."""

_FEW = 5_000  # predicates of the warm-up

Say = Callable[[str], Any]


def measure(
    plan: Plan, material: Material, spec: EngineSpec, build: Build, say: Say
) -> tuple[dict[str, Any], Timing]:
    """Return the figures of one engine, and the pairs it found."""
    say("warming up")
    warm_up_s, _ = seconds(lambda: warm_up(material, spec, build))
    say("building")
    build_s, index = seconds(lambda: make_index(material, spec, build))
    say("matching")
    watch = Watch(plan.repeats, plan.budget_s)
    timing = time_engine(index, material.events, watch, bare=spec.engine == "scan")
    result = _batch(plan, spec, timing) | _size(plan, index)
    result |= {"build_s": build_s, "warm_up_s": warm_up_s}
    if plan.detail:
        say("one at a time")
        result["one_event"] = percentiles(one_at_a_time(index, material.events.slice(0, SINGLES)))
        say("on all cores")
        events = material.events.slice(0, timing.events)
        result["all_cores_us"] = all_cores_us(index, events, plan.threads, watch)
        result["disk_bytes"] = disk_bytes(index)
    return result, timing


def warm_up(material: Material, spec: EngineSpec, build: Build) -> None:
    """Build and match a little, so that compilation counts as neither."""
    few = replace(material, columns=material.columns.slice(0, _FEW), texts=material.texts.slice(0, 1))
    make_index(few, spec, build).match_many(material.events.slice(0, PROBE), threads=1)


def _batch(plan: Plan, spec: EngineSpec, timing: Timing) -> dict[str, Any]:
    found = timing.pairs.num_rows / timing.events
    return {
        "engine": spec.text,
        "us_per_event": min(timing.match_us),
        "spread": spread(timing.match_us),
        "locate_us": timing.locate_us,
        "end_to_end_us": min(timing.total_us),
        "end_to_end_spread": spread(timing.total_us),
        "bare_loop_us": timing.bare_us,
        "events": timing.events,
        **{f"{name}_per_event": count / timing.events for name, count in timing.work.items()},
        "matches_per_event": found,
        "match_probability": found / plan.subscriptions,
    }


def spread(rounds: list[float]) -> float:
    """Return the spread of the rounds: the median over the best, less one."""
    ordered = sorted(rounds)
    return ordered[len(ordered) // 2] / ordered[0] - 1


def _size(plan: Plan, index: Any) -> dict[str, Any]:
    info = index.info()
    return {
        "bytes": info["bytes"],
        "bytes_per_subscription": info["bytes"] / plan.subscriptions,
        "choice": _choice(info),
    }


def _choice(info: dict[str, Any]) -> str:
    """Return the choice of ``auto``, segment by segment; nothing for the others."""
    taken = [part for segment in info["segments"] for part in segment.get("choice", {}).get("parts", [])]
    return " + ".join(f"{part['engine']} ({part['name']})" for part in taken)


def disk_bytes(index: Any) -> int:
    """Return the bytes of the saved index on disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in files)
