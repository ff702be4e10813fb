"""Time matching: in batches, one event at a time, and its parts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bench import parts
from bench.workloads.truth import rows_of

STEADY_S = 2.0
"""A quick action is repeated for this time, at most ``MOST_REPEATS`` times."""

MOST_REPEATS = 200

PROBE = 16
"""Even the slowest engine is timed on this many events."""

COUNTS = ("visited", "candidates", "verified", "revised")


@dataclass(frozen=True)
class Watch:
    """The number of timed repeats, and the time for one pass over the events."""

    repeats: int = 3
    budget_s: float = 3.0


@dataclass(frozen=True)
class Timing:
    """The cost of matching in microseconds per event, its work, and the pairs found."""

    events: int
    match_us: list[float]
    locate_us: float
    total_us: list[float]
    bare_us: float | None
    work: dict[str, int]
    pairs: pa.Table


def time_engine(index: Any, events: pa.Table, watch: Watch, *, bare: bool = False) -> Timing:
    """Match ``events`` in batches on one core; the parts of the work are timed separately.

    ``match_us`` is the engine at work on located events, revision included. ``total_us`` is everything from
    the Arrow table of events to the Arrow table of pairs. ``bare_us`` is a bare loop over the same clauses
    (for ``scan`` only, if all are plain ranges): a baseline that a slow ``scan`` cannot flatter.
    """
    count = affordable(lambda part: index.match_many(part, threads=1), events, watch.budget_s)
    events, repeats = events.slice(0, count), watch.repeats
    locate_s = timed(lambda: parts.locate_events(index, events), repeats)
    located = parts.locate_events(index, events)
    match_s = timed(lambda: parts.match_located(index, located), repeats)
    total_s = timed(lambda: index.match_many(events, threads=1), repeats)
    pairs, work = pairs_of(index, events)
    return Timing(
        count,
        [per_event(s, count) for s in match_s],
        per_event(min(locate_s), count),
        [per_event(s, count) for s in total_s],
        _bare_us(located, count, repeats) if bare else None,
        work,
        pairs,
    )


def all_cores_us(index: Any, events: pa.Table, threads: int, watch: Watch) -> float:
    """Return microseconds per event from table to table on ``threads``."""
    spent = timed(lambda: index.match_many(events, threads=threads), watch.repeats)
    return per_event(min(spent), events.num_rows)


def timed(action: Callable[[], Any], repeats: int) -> list[float]:
    """Return the seconds of at least ``repeats`` calls; a quick action is repeated for ``STEADY_S``.

    Best-of-three of an action that takes milliseconds measures the neighbours more than the action, and next
    to one that takes seconds it would be at a disadvantage.
    """
    spent = [seconds(action)[0] for _ in range(repeats)]
    more = min(MOST_REPEATS, int(STEADY_S / max(min(spent), 1e-6))) - repeats
    return spent + [seconds(action)[0] for _ in range(more)]


def _bare_us(located: list[parts.LocatedBatch], events: int, repeats: int) -> float | None:
    if parts.scan_barely(located) is None:
        return None
    return per_event(min(timed(lambda: parts.scan_barely(located), repeats)), events)


def pairs_of(index: Any, events: pa.Table) -> tuple[pa.Table, dict[str, int]]:
    """Return every (event, subscription), and the work it took."""
    tables, work = [], dict.fromkeys(COUNTS, 0)
    for batch in index.match_batches(events, threads=1):
        tables.append(batch.table)
        for name in work:
            work[name] += getattr(batch.work, name)
    return pa.concat_tables(tables), work


def affordable(match: Callable[[pa.Table], Any], events: pa.Table, budget_s: float) -> int:
    """Return the number of ``events`` that can be matched in ``budget_s``."""
    probe = events.slice(0, PROBE)
    match(probe)  # the preparation at the first call is not the engine's pace
    spent, _ = seconds(lambda: match(probe))
    each = spent / max(1, probe.num_rows)
    return int(min(events.num_rows, max(PROBE, budget_s / max(each, 1e-9))))


def one_at_a_time(
    index: Any, events: pa.Table, budget_s: float = 2.0, progress: Callable[[int], Any] | None = None
) -> list[float]:
    """Return microseconds of ``index.match`` for each event as a dictionary, until the budget is spent.

    The events are matched once before, for half of the budget, so that the preparation at the first sight of
    an attribute does not count.
    """
    singles: list[float] = []
    dictionaries = list(rows_of(events))
    end = time.perf_counter() + budget_s / 2
    for event in dictionaries:
        index.match(event)
        if time.perf_counter() > end:
            break
    end = time.perf_counter() + budget_s
    for event in dictionaries:
        start = time.perf_counter_ns()
        index.match(event)
        singles.append((time.perf_counter_ns() - start) / 1000)
        if progress:
            progress(1)
        if time.perf_counter() > end:
            break
    return singles


def percentiles(singles: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and mean."""
    p50, p99 = np.percentile(singles, [50, 99])
    return {
        "events": len(singles),
        "p50_us": float(p50),
        "p99_us": float(p99),
        "mean_us": float(np.mean(singles)),
    }


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the duration of ``work``, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def per_event(spent_s: float, events: int) -> float:
    """Return microseconds per event."""
    return spent_s * 1e6 / max(1, events)
