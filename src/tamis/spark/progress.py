"""Combines Spark's progress of a micro-batch with the counts of the stage itself.

Counts arrive in two ways. A stage that can, observes them (``frame.observe(name, …)``), and they arrive
inside the progress. Spark cannot observe work in ``foreachBatch``: there the stage calls :func:`report`, and
the numbers are joined to the progress of the same query and batch.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from tamis.index.work import COUNTERS

COUNTS = ("matches", "rows", "refused")  # rows: new rows in the outbox
WORK = tuple(name for name in COUNTERS if name not in ("events", "matches"))
_KEPT = 64  # batches whose progress has not arrived; a query reports one at a time
_PHASES = ("addBatch", "walCommit", "commitOffsets")  # the phases of a batch
_WORDS = {
    "matches": "{:,.0f} matches",
    "rows": "{:,.0f} new rows",
    "refused": "{:,.0f} refused",
    "index_version": "index {:.0f}",
}

_lock = threading.Lock()
_reports: OrderedDict[tuple[str, int], dict[str, float]] = OrderedDict()


def report(query: str, batch_id: int, **numbers: float) -> None:
    """Report counts of a batch: ``matches``, ``rows``, ``refused``, ``index_version`` and ``WORK``."""
    with _lock:
        _reports.setdefault((query, batch_id), {}).update(numbers)
        while len(_reports) > _KEPT:
            _reports.popitem(last=False)


def _reported(query: str, batch_id: int) -> dict[str, float]:
    with _lock:
        return dict(_reports.get((query, batch_id), {}))


class Batch(NamedTuple):
    """One micro-batch as numbers; ``numbers`` lacks those that were not counted."""

    query: str
    run: str
    number: int
    events: int
    arriving: float  # events per second that arrived
    matched: float  # events per second that were matched
    seconds: float
    phases: dict[str, float]  # Spark's durationMs, in seconds
    numbers: dict[str, float]
    behind: float | None  # rows waiting in the source, if it reports them
    late: float | None  # seconds between the newest event and now


def batch_of(progress: Any) -> Batch:
    """Return the numbers of a ``StreamingQueryProgress``."""
    name = progress.name or str(progress.id)
    phases = {phase: spent / 1000 for phase, spent in progress.durationMs.items()}
    return Batch(
        query=name,
        run=str(progress.runId),
        number=progress.batchId,
        events=max(0, progress.numInputRows),
        arriving=_number(progress.inputRowsPerSecond),
        matched=_number(progress.processedRowsPerSecond),
        seconds=phases.pop("triggerExecution", progress.batchDuration / 1000),
        phases=phases,
        numbers=_observed(progress.observedMetrics) | _reported(name, progress.batchId),
        behind=_behind(progress.sources),
        late=_late(progress),
    )


def _number(value: float | None) -> float:
    """Return a number, or 0 for NaN, which Spark reports for a rate over no time."""
    return value if value is not None and value == value else 0.0


def _observed(metrics: Mapping[str, Any]) -> dict[str, float]:
    known = {*COUNTS, *WORK, "index_version"}
    rows = [row.asDict() if hasattr(row, "asDict") else row for row in metrics.values()]
    return {
        name: float(value)
        for row in rows
        for name, value in row.items()
        if name in known and value is not None
    }


def _behind(sources: Any) -> float | None:
    """Return the number of unread offsets, which Kafka's source reports."""
    waiting = [source.metrics.get("maxOffsetsBehindLatest") for source in sources if source.metrics]
    known = [float(count) for count in waiting if count is not None]
    return max(known) if known else None


def _late(progress: Any) -> float | None:
    newest = progress.eventTime.get("max")
    if newest is None:
        return None
    return max(0.0, (_moment(progress.timestamp) - _moment(newest)).total_seconds())


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def live_line(progress: Any) -> str:
    """Return a micro-batch in one line: ``batch 7 · 2,000 events (9,500/s) · 310 matches · 0.21 s``."""
    return line_of(batch_of(progress))


def line_of(batch: Batch) -> str:
    """Return the same line for a batch that is already read."""
    parts = [
        f"batch {batch.number}",
        f"{batch.events:,} event{'s' * (batch.events != 1)} ({batch.matched:,.0f}/s)",
    ]
    parts += [text.format(batch.numbers[name]) for name, text in _WORDS.items() if name in batch.numbers]
    parts += [f"{batch.behind:,.0f} waiting"] if batch.behind else []
    parts += [f"{batch.late:,.1f} s late"] if batch.late is not None else []
    shares = [f"{phase} {batch.phases[phase]:.2f}" for phase in _PHASES if phase in batch.phases]
    return " · ".join([*parts, f"{batch.seconds:.2f} s" + (f" ({', '.join(shares)})" if shares else "")])
