"""Measure a job: every engine on the same data, all of which must find the same.

Like ``bench.run``, but with a shorter clock: a report has many hundreds of points, and what they show are
factors. Nothing is timed before it has run once, and of several times the best counts.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from bench import parts, report
from bench.figures.inside import part_bytes, presearch_layers
from bench.figures.spec import Job
from bench.run import Disagreement, Material, Plan, generate, library_build, make_index
from bench.timing import affordable, per_event, seconds
from bench.workloads import WORKLOADS
from bench.workloads.base import changed
from bench.workloads.truth import rows_of

CLOCK_S = 0.4
"""About how long one thing is timed."""

COMPARED = 16
"""Events whose matches are compared between engines; every engine is timed on at least these."""

TOPS = (1, 5)
Measured = dict[str, float]


def measure(job: Job) -> dict[str, Any]:
    """All that can be drawn of ``job``; :class:`Disagreement` if engines find different things."""
    spent, results = seconds(partial(KINDS[job.kind], job))
    return {
        "results": results,
        "seconds": spent,
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }


def engine_of(code: str) -> tuple[str, dict[str, float]]:
    """The name and the parameters in ``bestar:split=0``."""
    name, *settings = code.split(":")
    pairs = (setting.split("=", 1) for setting in settings)
    return name, {key: float(value) if "." in value else int(value) for key, value in pairs}


def _material(job: Job) -> Material:
    workload = changed(WORKLOADS[job.workload], dict(job.parameters))
    return generate(Plan(workload, job.subscriptions, job.events, seed=job.seed, sample=job.sample))


def _build(material: Material, code: str) -> tuple[float, Any]:
    name, parameters = engine_of(code)
    build = partial(library_build(), parameters=parameters)
    return seconds(lambda: make_index(material, name, build))


# ------------------------------------------------------------------------------------------- matching
def _matching(job: Job) -> dict[str, Measured]:
    material = _material(job)
    results: dict[str, Measured] = {}
    expected: tuple[str, pa.Table] | None = None
    for code in job.engines:
        build_s, index = _build(material, code)
        pairs = index.match_many(material.events.slice(0, COMPARED), threads=1)
        expected = expected or (code, pairs)
        must_agree(*expected, code, pairs)
        held: Measured = {"build_s": build_s, "bytes": index.info()["bytes"], **part_bytes(index)}
        results[code] = held | presearch_layers(index) | _matched(index, material.events, job.batch)
        del index
        gc.collect()
    return results


def _matched(index: Any, events: pa.Table, batch: int) -> Measured:
    """Time and work per event."""
    count = affordable(lambda some: index.match_many(some, threads=1), events, CLOCK_S)
    events = events.slice(0, max(count, min(batch, events.num_rows)) if batch < events.num_rows else count)
    count = events.num_rows
    located = parts.locate_events(index, events)
    match_s = best(lambda: parts.match_located(index, located))
    total_s = best(lambda: index.match_many(events, threads=1, batch_size=batch))
    work = [done.work for done in index.match_batches(events, threads=1, batch_size=batch)]
    names = ("visited", "candidates", "verified", "matches")
    return {
        "us": per_event(match_s, count),
        "total_us": per_event(total_s, count),
        "per_second": count / total_s,
        "events": count,
        **{name: sum(getattr(one, name) for one in work) / count for name in names},
    }


def best(action: Callable[[], Any], clock_s: float = CLOCK_S) -> float:
    """The least seconds of a few calls, at least two, for about ``clock_s``."""
    spent = [seconds(action)[0] for _ in range(2)]
    more = min(20, int(clock_s / max(min(spent), 1e-6)) - 2)
    return min(spent + [seconds(action)[0] for _ in range(more)])


def must_agree(one: str, first: pa.Table, other: str, second: pa.Table) -> None:
    """Raise :class:`Disagreement`, with a case, unless both tables hold the same pairs."""
    columns = [("event", "ascending"), ("subscription", "ascending")]
    left, right = first.sort_by(columns), second.sort_by(columns)
    if left.equals(right):
        return
    sides = [list(zip(*table.to_pydict().values(), strict=True)) for table in (left, right)]
    case = min(set(sides[0]).symmetric_difference(sides[1]), default="a pair given more than once")
    finder = one if case in sides[0] else other
    raise Disagreement(f"{one} and {other} differ: only {finder} finds {case}")


# ---------------------------------------------------------------------------------------------- top-k
def _ranking(job: Job) -> dict[str, Measured]:
    """The k best, one event at a time, against finding all."""
    material = _material(job)
    events = list(rows_of(material.events))
    results: dict[str, Measured] = {}
    expected: tuple[str, list[Any]] | None = None
    for code in job.engines:
        build_s, index = _build(material, code)
        tops = [list(index.top_k(event, k)) for k in TOPS for event in events[:COMPARED]]
        expected = expected or (code, tops)
        if tops != expected[1]:
            raise Disagreement(f"{expected[0]} and {code} differ in the best matches")
        results[code] = {"build_s": build_s, **_searched(index.match, events, "all")}
        for k in TOPS:
            results[code] |= _searched(partial(index.top_k, k=k), events, f"top{k}")
        del index
        gc.collect()
    return results


def _searched(search: Callable[[Any], Any], events: list[Any], name: str) -> Measured:
    """Time of one search, and the clauses (or postings) that it looked at."""
    spent = seconds(lambda: [search(event) for event in events[:COMPARED]])[0] / COMPARED
    some = events[: max(COMPARED, min(len(events), int(CLOCK_S / max(spent, 1e-6))))]
    took = best(lambda: [search(event) for event in some])
    looked = [search(event).work.candidates for event in some]
    return {f"{name}_us": per_event(took, len(some)), f"{name}_candidates": sum(looked) / len(some)}


# ------------------------------------------------------------------------------------------ intervals
def _intervals(job: Job) -> dict[str, Measured]:
    """One dimension: as many points as intervals."""
    from bench.pstree.__main__ import structures

    rows = structures(job.subscriptions, job.subscriptions, 10.0, job.seed, 3)
    return {
        row.name: {"query_ms": 1e3 * row.query_s, "build_ms": 1e3 * row.build_s, "bytes": row.nbytes}
        for row in rows
    }


KINDS: dict[str, Callable[[Job], dict[str, Measured]]] = {
    "match": _matching,
    "top": _ranking,
    "intervals": _intervals,
}
