"""Measure a job: every engine on the same data, all of which must find the same.

This works like ``bench.run``, but with a shorter clock: a report has many hundreds of points, and they show
factors. Nothing is timed before it has run once, and of several times the best counts.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench import parts, report
from bench.figures.inside import part_bytes, presearch_layers
from bench.figures.spec import Job
from bench.run import Case, Disagreement, EngineSpec, Plan
from bench.run.agree import agree, described
from bench.run.material import Material, generate, library_build, make_index
from bench.run.measure import warm_up
from bench.timing import COUNTS, PROBE, Timing, affordable, pairs_of, per_event, seconds
from bench.top import searched
from bench.workloads import WORKLOADS
from bench.workloads.base import changed
from bench.workloads.truth import rows_of

CLOCK_S = 0.4
"""The approximate time for which one thing is measured."""

TOPS = (1, 5)
Measured = dict[str, float]


def measure(job: Job) -> dict[str, Any]:
    """Return everything that can be drawn of ``job``; raise :class:`Disagreement` if engines differ."""
    spent, results = seconds(partial(KINDS[job.kind], job))
    return {
        "results": results,
        "seconds": spent,
        "date": time.strftime("%Y-%m-%d"),
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }


def plan_of(job: Job) -> Plan:
    """Return the plan whose data the job needs; raise ``ValueError`` for unknown parameters."""
    workload = changed(WORKLOADS[job.workload], dict(job.parameters))
    return Plan(workload, job.subscriptions, job.events, job.engines, job.seed, sample=job.sample)


def _built(material: Material, code: str) -> tuple[float, Any]:
    """Return seconds and the index; build and match a little first, to compile before the clock starts."""
    spec, build = EngineSpec.read(code), library_build()
    warm_up(material, spec, build)
    return seconds(lambda: make_index(material, spec, build))


# ------------------------------------------------------------------------------------------- matching
def _matching(job: Job) -> dict[str, Measured]:
    plan = plan_of(job)
    material = generate(plan)
    results: dict[str, Measured] = {}
    known: tuple[str, Timing] | None = None
    for code in job.engines:
        build_s, index = _built(material, code)
        found = _found(index, material.events.slice(0, PROBE))
        known = known or (code, found)
        _insist(plan, material, known, code, found)
        held: Measured = {"build_s": build_s, "bytes": index.info()["bytes"], **part_bytes(index)}
        results[code] = held | presearch_layers(index) | _matched(index, material.events, job.batch)
        del index
        gc.collect()
    return results


def _found(index: Any, events: pa.Table) -> Timing:
    pairs, work = pairs_of(index, events)
    return Timing(events.num_rows, [], 0.0, [], None, work, pairs)


def _insist(plan: Plan, material: Material, known: tuple[str, Timing], code: str, found: Timing) -> None:
    try:
        agree(*known, code, found)
    except Disagreement as different:
        raise Disagreement(described(different.case, plan, material)) from None


def _matched(index: Any, events: pa.Table, batch: int) -> Measured:
    """Return time and work per event; match at least a full batch, if there are enough events."""
    count = affordable(lambda some: index.match_many(some, threads=1), events, CLOCK_S)
    if batch <= events.num_rows:
        count = max(count, batch)
    events = events.slice(0, count)
    located = parts.locate_events(index, events)
    match_s = best(lambda: parts.match_located(index, located))
    total_s = best(lambda: index.match_many(events, threads=1, batch_size=batch))
    done = [part.work for part in index.match_batches(events, threads=1, batch_size=batch)]
    work = {name: sum(getattr(one, name) for one in done) / count for name in (*COUNTS, "matches")}
    return {
        "us": per_event(match_s, count),
        "total_us": per_event(total_s, count),
        "per_second": count / total_s,
        "events": count,
        **work,
    }


def best(action: Callable[[], Any]) -> float:
    """Return the least seconds of a few calls, at least two, for about ``CLOCK_S``."""
    spent = [seconds(action)[0] for _ in range(2)]
    more = min(20, int(CLOCK_S / max(min(spent), 1e-6)) - 2)
    return min(spent + [seconds(action)[0] for _ in range(more)])


# ---------------------------------------------------------------------------------------------- top-k
def _ranking(job: Job) -> dict[str, Measured]:
    """Measure the k best, one event at a time, against finding all."""
    material = generate(plan_of(job))
    events = list(rows_of(material.events))
    results: dict[str, Measured] = {}
    expected: tuple[str, list[Any]] | None = None
    for code in job.engines:
        build_s, index = _built(material, code)
        tops = [list(index.top_k(event, k)) for k in TOPS for event in events[:PROBE]]
        expected = expected or (code, tops)
        for at, (mine, other) in enumerate(zip(tops, expected[1], strict=True)):
            if mine != other:
                raise Disagreement(Case(expected[0], code, at % PROBE, str(other)))
        results[code] = {"build_s": build_s, **searched(index, events, TOPS)}
        del index
        gc.collect()
    return results


# ------------------------------------------------------------------------------------------ intervals
def _intervals(job: Job) -> dict[str, Measured]:
    """Measure one dimension, with as many points as intervals."""
    from bench.pstree.__main__ import structures

    rows = structures(job.subscriptions, job.subscriptions, 10.0, job.seed, 3)
    built = {row.name: {"build_ms": 1e3 * row.build_s, "bytes": row.nbytes} for row in rows if row.nbytes}
    return {row.name: {"query_ms": 1e3 * row.query_s, **built.get(row.name, {})} for row in rows}


# -------------------------------------------------------------------------------------------- service
def _service(job: Job) -> dict[str, Measured]:
    """Measure a running service: a steady load over time, rising loads by rate, and the work of its index."""
    from bench.service.stages import Sample, Stage, hold_stages

    plan = dict(job.parameters)
    stages = [Stage(plan["steady"], plan["seconds"]), *(Stage(rate, plan["each"]) for rate in plan["rates"])]
    with tempfile.TemporaryDirectory() as folder:
        found = hold_stages(Path(folder) / "service", job.subscriptions, stages)
    results: dict[str, Sample] = {f"at {sample['at']:g}": sample for sample in found.stages[0]}
    for rate, samples in zip(plan["rates"], found.stages[1:], strict=True):
        results[f"rate {rate}"] = _summed_up(samples[1:])  # the first one holds the start of the load
    results["index"] = found.work
    return results


def _summed_up(samples: list[Measured]) -> Measured:
    """Return the mean of every measure, and the greatest of the slowest matches."""
    names = {name for sample in samples for name in sample}
    means = {}
    for name in names:
        values = [sample[name] for sample in samples if name in sample]
        means[name] = max(values) if name == "slowest_ms" else sum(values) / len(values)
    return means


KINDS: dict[str, Callable[[Job], dict[str, Measured]]] = {
    "match": _matching,
    "top": _ranking,
    "intervals": _intervals,
    "service": _service,
}
